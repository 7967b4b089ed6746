"""Warm-up and measurement at load: kernels are compiled, weights are touched, and whether drafting pays is found out.

Peers measure between -35 % and +74 % for MTP on the same kind of model (mlx-vlm PR 1167, Rapid-MLX #3115), so it is
measured here, on this machine, and not assumed.
"""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable, Collection, Generator
from dataclasses import dataclass
from itertools import islice

import mlx.core as mx

from mirza.llm.mlx.decoding import decode_plain, decode_speculative
from mirza.llm.mlx.sampler import Sampling, TurnSampler
from mirza.llm.mlx.session import Session
from mirza.llm.mlx.speculation import Drafter, DraftPolicy
from mirza.llm.mlx.target import Forward, Target
from mirza.llm.mlx.template import ThoughtTokens
from mirza.mlx_thread import STEP, Step

SPREAD_TOKENS = 64
"""Tokens from all over the vocabulary, so that embeddings and experts are touched (as in the S system)."""
WARM_TOKENS = 4
MEASURED_TOKENS = 32
SPEED_TOKENS = 8
"""Enough to know the speed by, where there are no two ways to compare."""
WORTH = 1.03
"""How many times plain decoding a draft must be: less is noise."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was measured, in tokens a second, and what a round of drafting costs in passes of plain decoding."""

    plain: float
    drafted: float = 0.0
    round_cost: float = 0.0

    @property
    def pays(self) -> bool:
        return self.drafted > WORTH * self.plain

    def __str__(self) -> str:
        return f"mtp {'on' if self.pays else 'off'}: {self.drafted / self.plain:.2f} x plain"


def warm_up(target: Target, prompt: list[int], prefill_step: int) -> Generator[Step]:
    """Feeds tokens from all over the vocabulary, then decodes a few."""
    session = Session(target, prefill_step)
    spread = [place * target.vocabulary // SPREAD_TOKENS for place in range(SPREAD_TOKENS)]
    yield from session.feed([*spread, *prompt])
    mx.synchronize()


def calibrate(
    target: Target,
    drafter: Drafter | None,
    *,
    depth: int,
    prompt: list[int],
    stops: Collection[int],
    thought: ThoughtTokens | None,
    clock: Callable[[], float],
) -> Generator[Step, None, Calibration]:
    """Decodes the same text plainly and with drafts, without ever stopping, and compares the times.

    With the rule of `thought`, which is compiled where MLX compiles: else the first answer would wait for that.
    """
    count = SPEED_TOKENS if drafter is None else MEASURED_TOKENS
    never = Sampling(logit_bias=dict.fromkeys(stops, float("-inf")))

    def run(decode: Callable[[Session, TurnSampler, Forward], Generator[int]]) -> Generator[Step, None, float]:
        session = Session(target, len(prompt))
        forward = yield from session.feed(prompt, keep=1)
        assert forward is not None
        tokens = decode(session, TurnSampler(never, target.vocabulary, thought=thought), forward)
        for _ in islice(tokens, WARM_TOKENS):
            yield STEP
        start = clock()
        for _ in islice(tokens, count):
            yield STEP
        seconds = clock() - start
        tokens.close()
        return count / max(seconds, 1e-9)

    plain = yield from run(decode_plain)
    if drafter is None:
        return Calibration(plain)
    policy = DraftPolicy(depth)
    drafted = yield from run(
        lambda session, sampler, forward: decode_speculative(
            session, sampler, forward, drafter=drafter, policy=policy, stops=stops
        )
    )
    tokens_per_round = 1 + policy.accepted / max(1, policy.rounds)
    return Calibration(plain, drafted, tokens_per_round * plain / drafted)
