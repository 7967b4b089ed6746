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


def cold_run(model: Any, prompt: Sequence[int], rule: BudgetRule, tokens: int) -> list[int]:
    """The first `tokens` tokens of the answer to `prompt`."""
    ids: list[int] = []
    while len(ids) < tokens:
        with closing(_greedy(model, [*prompt, *ids], tokens - len(ids))) as own_tokens:
            for own in own_tokens:
                ids.append(rule.decide(own))
                if ids[-1] != own:
                    break
    return ids


def agrees(model: Any, prompt: Sequence[int], rule: BudgetRule, said: Sequence[int]) -> bool:
    """Whether a single pass over prompt and answer, without any cache, picks each token of the answer.

    Ten times quicker than to say it token by token; where it does not agree, `cold_run` has the last word.
    """
    ids = mx.array([[*prompt, *said[:-1]]])
    language_model = getattr(model, "language_model", model)
    positions = mx.arange(ids.size)[None]
    out = language_model(ids, cache=None, position_ids=positions, rope_deltas=mx.zeros((1, 1), mx.int32))
    picked = cast("list[int]", mx.argmax(out.logits[0, len(prompt) - 1 :], axis=-1).tolist())
    return all(rule.decide(own) == token for own, token in zip(picked, said, strict=True))


def certainty(model: Any, prompt: Sequence[int]) -> float:
    """How sure the model is of the token after `prompt`: its best logit less the second."""
    with closing(_steps(model, prompt, 1)) as steps:
        _, logprobs = next(steps)
        best = cast("list[float]", mx.topk(logprobs.reshape(-1), 2).tolist())
    return abs(best[1] - best[0])


def _greedy(model: Any, prompt: Sequence[int], tokens: int) -> Generator[int]:
    with closing(_steps(model, prompt, tokens)) as steps:
        for token, _ in steps:
            yield int(token)


def _steps(model: Any, prompt: Sequence[int], tokens: int) -> Generator[tuple[Any, mx.array]]:
    cache = make_prompt_cache(getattr(model, "language_model", model))
    ids = mx.array([list(prompt)])
    return generate_step(ids, model, None, None, prompt_cache=cache, max_tokens=tokens, temperature=0.0)
