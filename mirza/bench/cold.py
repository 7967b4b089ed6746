"""What a model says without any of Mirza's engine: mlx-vlm's own loop over a new cache, greedy, token after token.

The thinking budget is kept here once more, in plain Python: when a token has to be another than the model's own, a new
cold run begins behind it.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportMissingTypeStubs=false
# pyright: reportUnknownArgumentType=false
from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, cast

import mlx.core as mx
from mlx_vlm.generate.ar import generate_step
from mlx_vlm.models.cache import make_prompt_cache

from mirza.llm.mlx.template import ThoughtTokens


@dataclass(slots=True)
class BudgetRule:
    """The budget as it is meant: at most `budget` tokens of thought in an answer, then the closing sequence."""

    thought: ThoughtTokens | None
    tool_call: int | None
    budget: int
    thinking: bool
    spent: int = 0
    _due: list[int] = field(default_factory=list[int])

    def decide(self, own: int) -> int:
        """The token that is said where the model would say `own`."""
        if self.thought is None:
            return own
        if not self._due and self.thinking and self.spent >= self.budget and own != self.thought.end:
            self._due = [*self.thought.close, *self.thought.gap]
        forced = bool(self._due)
        token = self._due.pop(0) if forced else own
        if token in (self.thought.end, self.tool_call):
            self.thinking = False
        elif token == self.thought.start:
            self.spent += self.thinking and not forced
            self.thinking = True
        elif self.thinking and not forced:
            self.spent += 1
        return token


@dataclass(frozen=True, slots=True)
class ColdRun:
    """What was said, and how sure the model was of each token: the best logit less the second."""

    ids: list[int]
    gaps: list[float]


def cold_run(model: Any, prompt: Sequence[int], rule: BudgetRule, tokens: int) -> ColdRun:
    """The first `tokens` tokens of the answer to `prompt`."""
    ids: list[int] = []
    gaps: list[float] = []
    while len(ids) < tokens:
        with closing(_greedy(model, [*prompt, *ids], tokens - len(ids))) as own_tokens:
            for own, gap in own_tokens:
                token = rule.decide(own)
                ids.append(token)
                gaps.append(gap)
                if token != own:
                    break
    return ColdRun(ids, gaps)


def _greedy(model: Any, prompt: Sequence[int], tokens: int) -> Generator[tuple[int, float]]:
    cache = make_prompt_cache(getattr(model, "language_model", model))
    with closing(
        generate_step(
            mx.array([list(prompt)]), model, None, None, prompt_cache=cache, max_tokens=tokens, temperature=0.0
        )
    ) as steps:
        for token, logprobs in steps:
            best = cast("list[float]", mx.topk(logprobs.reshape(-1), 2).tolist())
            yield int(token), abs(best[1] - best[0])
