"""Whether tokens that change with drafting change by rounding or by a fault.

A pass over several tokens multiplies by other kernels than a pass over one, and adds up in another order. In float32
that is far below what tells two tokens apart; in bfloat16 it is not, where the best two logits are nearly equal. A
cache that was not taken back rightly would show in float32 as well, and as an error that grows, not as rounding.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportArgumentType=false
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import mlx.core as mx
from mlx_vlm.speculative.cache_state import start_speculative_cache

from mirza.bench.step import finished
from mirza.llm.mlx.session import Session
from mirza.llm.mlx.speculation import Drafter
from mirza.llm.mlx.target import Layer, Target, arrays_of

PREFILL_STEP = 2048


class KnownDraft(Drafter):
    """Drafts from the answer that is known: right for none, one, two ... tokens, and wrong behind them.

    So each round takes back another part of its block.
    """

    def __init__(self, answer: Sequence[int], prompt: int, vocabulary: int) -> None:  # pyright: ignore[reportMissingSuperCall]
        self._answer, self._prompt, self._vocabulary = answer, prompt, vocabulary
        self._at = 0
        self._rounds = 0

    def begin(self) -> None:
        """Nothing to forget."""

    def observe(self, tokens: Sequence[int], hidden: mx.array, position: int) -> None:
        """Where the answer is: behind the last of these."""
        self._at = position + len(tokens) + 1 - self._prompt

    def propose(self, depth: int) -> list[int]:
        """`depth` tokens; in every round one more of them is right, from none to all."""
        right = self._rounds % (depth + 1)
        self._rounds += 1
        draft = list(self._answer[self._at : self._at + depth])
        return [token if place < right else (token + 1) % self._vocabulary for place, token in enumerate(draft)]


@dataclass(frozen=True, slots=True)
class Flip:
    """A place where another token came out; logits in the model's own units."""

    position: int
    gap: float
    """The best logit less the second, one token a pass."""
    moved: float
    """How far these two logits moved against each other with several tokens a pass."""


@dataclass(frozen=True, slots=True)
class Rounding:
    """The same tokens behind the same prompt: one a pass, and several a pass of which some are taken back."""

    dtype: str
    tokens: int
    rows: int
    """Tokens in a pass."""
    spread: float
    """Standard deviation of a token's logits, to measure the differences by."""
    difference: float
    """Between the two: of the logits, as a share of their norm; the largest over all tokens."""
    difference_at_first: float
    """The same at the first token, before anything was taken back."""
    difference_at_last: float
    states_difference: float
    """Of what the caches hold at the end, the largest of all layers."""
    against_float32: tuple[float, float] | None
    """Median error of each, one and several a pass, against the same weights in float32."""
    smallest_gap: float
    flips: tuple[Flip, ...]


def rounding(target: Target, prompt: Sequence[int], answer: Sequence[int], rows: int, exact: Target | None) -> Rounding:
    """Compares passes of one token with passes of `rows` tokens; `exact` is the same model in float32."""
    alone, one = _one_by_one(target, prompt, answer)
    several, other = _in_blocks(target, prompt, answer, rows)
    differences = [_share(ours, theirs) for ours, theirs in zip(several, alone, strict=True)]
    flips: list[Flip] = []
    gaps: list[float] = []
    for position, (ours, theirs) in enumerate(zip(several, alone, strict=True)):
        best = cast("list[int]", mx.argsort(-theirs)[:2].tolist())
        picked = cast(int, mx.argmax(ours).item())
        gaps.append(_number(theirs[best[0]] - theirs[best[1]]))
        if picked != best[0]:
            moved = (ours[picked] - theirs[picked]) - (ours[best[0]] - theirs[best[0]])
            flips.append(Flip(position, _number(theirs[best[0]] - theirs[picked]), _number(moved)))
    errors: tuple[float, float] | None = None
    if exact is not None:
        truth = _at_once(exact, prompt, answer)
        errors = (_median_share(alone, truth), _median_share(several, truth))
    return Rounding(
        dtype=str(_hidden_type(target)).rpartition(".")[2],
        tokens=len(answer),
        rows=rows,
        spread=_number(mx.std(alone[0])),
        difference=max(differences),
        difference_at_first=differences[0],
        difference_at_last=differences[-1],
        states_difference=max(_share(a, b) for a, b in zip(_states(other), _states(one), strict=True)),
        against_float32=errors,
        smallest_gap=min(gaps),
        flips=tuple(flips),
    )


def _one_by_one(target: Target, prompt: Sequence[int], answer: Sequence[int]) -> tuple[list[mx.array], list[Layer]]:
    """Float32 logits behind each token of the answer, and the cache at the end."""
    session = Session(target, PREFILL_STEP)
    finished(session.feed(prompt))
    rows: list[mx.array] = []
    for place, token in enumerate(answer):
        rows += _logits(target, [token], session.cache, len(prompt) + place)
        mx.eval(rows[-1])
    return rows, session.cache


def _in_blocks(
    target: Target, prompt: Sequence[int], answer: Sequence[int], rows: int
) -> tuple[list[mx.array], list[Layer]]:
    """The same, in transactions of `rows` tokens: in turn 1, 2, ... of them belong to the answer and stay."""
    session = Session(target, PREFILL_STEP)
    finished(session.feed(prompt))
    found: list[mx.array] = []
    turn = 0
    while len(found) < len(answer):
        kept = min(1 + turn % rows, len(answer) - len(found))
        turn += 1
        block = list(answer[len(found) : len(found) + kept])
        block += [(block[-1] + 1 + extra) % target.vocabulary for extra in range(rows - kept)]
        with start_speculative_cache(session.cache, rows) as transaction:
            fresh = _logits(target, block, session.cache, len(prompt) + len(found))[:kept]
            mx.eval(fresh)
            transaction.commit(kept)
        found += fresh
    return found, session.cache


def _at_once(target: Target, prompt: Sequence[int], answer: Sequence[int]) -> list[mx.array]:
    forward = target.forward(mx.array([*prompt, *answer]), target.new_cache(), 0, keep=len(answer))
    assert forward.logits is not None
    rows = list(forward.logits.astype(mx.float32))
    mx.eval(rows)
    return rows


def _logits(target: Target, ids: list[int], cache: list[Layer], offset: int) -> list[mx.array]:
    forward = target.forward(mx.array(ids), cache, offset, keep=len(ids))
    assert forward.logits is not None
    return list(forward.logits.astype(mx.float32))


def _states(cache: list[Layer]) -> list[mx.array]:
    return [array.astype(mx.float32) for layer in cache for array in arrays_of(layer).values()]


def _share(one: mx.array, other: mx.array) -> float:
    """The norm of the difference, as a share of the norm of `other`; infinite where not even the shapes agree."""
    if one.shape != other.shape:
        return math.inf
    return _number(mx.linalg.norm((one - other).reshape(-1)) / mx.linalg.norm(other.reshape(-1)))


def _number(scalar: mx.array) -> float:
    return cast(float, scalar.item())


def _median_share(rows: list[mx.array], truth: list[mx.array]) -> float:
    shares = sorted(_share(row, true) for row, true in zip(rows, truth, strict=True))
    return shares[len(shares) // 2]


def _hidden_type(target: Target) -> mx.Dtype:
    hidden = target.forward(mx.array([0]), target.new_cache(), 0, keep=1).hidden
    assert hidden is not None
    return hidden.dtype
