"""Which token comes next, at every position: budget of the thought, penalties, temperature and seed in one place.

Plain decoding asks for one position at a time, verification of a draft for several. Either way each position is decided
once, from the state that the tokens before it left, so what is drafted never changes what is said. Everything stays on
the device: plain decoding asks for position n + 1 before it knows the token at n.

An emitted token always equals the one that was picked at its position. So a state is kept a position, and a rejected
draft needs no rollback: the states behind it are overwritten when their positions come again.
"""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import mlx.core as mx

from mirza.llm.mlx.template import ThoughtTokens


@dataclass(frozen=True, slots=True)
class Sampling:
    """How tokens are drawn. `temperature` 0 is greedy; `top_k` 0, `top_p` 1 and `min_p` 0 keep every token."""

    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    repetition_penalty: float = 1.0
    """Divides positive logits, and multiplies negative ones, of tokens in this answer (arXiv 1909.05858)."""
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    """Both as OpenAI defines them: taken off the logit once, and for each time."""
    logit_bias: dict[int, float] = field(default_factory=dict[int, float])
    seed: int | None = None

    @property
    def counts(self) -> bool:
        return self.repetition_penalty != 1.0 or bool(self.presence_penalty or self.frequency_penalty)


@dataclass(frozen=True, slots=True)
class _State:
    """What the tokens before a position left; `(1,)`, on the device."""

    thinking: mx.array
    thought: mx.array
    """Tokens thought so far, in all."""
    forced: mx.array
    """Tokens of the closing sequence that have been forced; 0 when none is due."""
    counts: mx.array | None
    """`(vocabulary,)`: how often each token is in this answer."""


class TurnSampler:
    """Picks the tokens of one answer.

    A thought of `budget` tokens is closed with the template's own sequence. It may be opened by the prompt
    (`thinking`), or by the model. A tool call ends it too.
    """

    def __init__(
        self,
        sampling: Sampling,
        vocabulary: int,
        *,
        thought: ThoughtTokens | None = None,
        tool_call: int | None = None,
        thinking: bool = False,
        budget: int = 0,
    ) -> None:
        self.budget = budget
        """May change while the answer runs; it holds from the next position that is asked for."""
        self._sampling = sampling
        self._seed = int.from_bytes(os.urandom(4)) if sampling.seed is None else sampling.seed
        self._bias = _bias(sampling.logit_bias, vocabulary)
        self._follow = None if thought is None else _follower(thought, tool_call)
        counts = mx.zeros((vocabulary,), mx.int32) if sampling.counts else None
        self._states = {0: _State(mx.array([thinking]), mx.array([0]), mx.array([0]), counts)}

    def sample_target(self, logits: mx.array, positions: Sequence[int]) -> mx.array:
        """Token ids `(n,)` for `logits`, `(n, vocabulary)`, at `n` positions in a row, counted from the answer's start.

        Each must have been asked for before, or follow one that was.
        """
        rows = logits.astype(mx.float32)
        if self._bias is not None:
            rows = rows + self._bias
        picked = None if self._sampling.counts else self._pick(rows, positions)
        tokens: list[mx.array] = []
        for row, position in enumerate(positions):
            state = self._states[position]
            if picked is None:  # a token that is said here is penalised from the next position on
                own = self._pick(self._penalised(rows[row], state)[None], [position])
            else:
                own = picked if len(positions) == 1 else picked[row : row + 1]
            token, self._states[position + 1] = self._decide(own, state)
            tokens.append(token)
        for old in [position for position in self._states if position < positions[0]]:
            del self._states[old]
        return tokens[0] if len(tokens) == 1 else mx.concatenate(tokens)

    def _decide(self, own: mx.array, state: _State) -> tuple[mx.array, _State]:
        """The token that is said where `own` was picked, and the state behind it."""
        if self._follow is None:
            return own, replace(state, counts=_counted(state.counts, own))
        token, thinking, thought, forced = self._follow(
            own, state.thinking, state.thought, state.forced, mx.array(self.budget)
        )
        return token, _State(thinking, thought, forced, _counted(state.counts, token))

    def _penalised(self, row: mx.array, state: _State) -> mx.array:
        counts = state.counts
        assert counts is not None
        sampling = self._sampling
        seen = counts > 0
        if sampling.repetition_penalty != 1.0:
            penalty = sampling.repetition_penalty
            row = mx.where(seen, mx.where(row > 0, row / penalty, row * penalty), row)
        return row - seen * sampling.presence_penalty - counts * sampling.frequency_penalty

    def _pick(self, rows: mx.array, positions: Sequence[int]) -> mx.array:
        if self._sampling.temperature == 0:
            return mx.argmax(rows, axis=-1)
        return mx.stack([self._draw(row, position) for row, position in zip(rows, positions, strict=True)])

    def _draw(self, row: mx.array, position: int) -> mx.array:
        """Temperature, top-k, top-p, min-p, in the order of transformers; probabilities in float32."""
        sampling = self._sampling
        row = row / sampling.temperature
        key = mx.random.key(_mixed(self._seed, position))
        size = row.size
        if 0 < sampling.top_k < size:
            kept = mx.argpartition(-row, sampling.top_k - 1)[: sampling.top_k]
        elif sampling.top_p < 1:
            kept = mx.arange(size)
        else:
            if sampling.min_p > 0:
                row = mx.where(row >= row.max() + mx.log(mx.array(sampling.min_p)), row, -mx.inf)
            return mx.random.categorical(row, key=key)
        kept = kept[mx.argsort(-row[kept])]
        row = row[kept]
        chances = mx.softmax(row, precise=True)
        # The first token stays, whatever top-p says: the sum before it is 0.
        stays = (mx.cumsum(chances) - chances < sampling.top_p) & (chances >= sampling.min_p * chances[0])
        return kept[mx.random.categorical(mx.where(stays, row, -mx.inf), key=key)]


Follow = Callable[[mx.array, mx.array, mx.array, mx.array, mx.array], tuple[mx.array, mx.array, mx.array, mx.array]]


def _follower(thought: ThoughtTokens, tool_call: int | None) -> Follow:
    """The rule of the budget as one kernel: (own token, state, budget) to (token that is said, next state)."""
    start, end = thought.start, thought.end
    tool = end if tool_call is None else tool_call
    close = mx.array([*thought.close, *thought.gap])
    length = close.size

    def follow(
        own: mx.array, thinking: mx.array, thought_tokens: mx.array, forced: mx.array, budget: mx.array
    ) -> tuple[mx.array, mx.array, mx.array, mx.array]:
        # A thought that closes by itself where the budget ends closes in time.
        spent = thinking & (thought_tokens >= budget) & (own != end)
        due = (forced > 0) | spent
        token = mx.where(due, close[forced], own)
        ended = (token == end) | (token == tool)
        said = thinking & ~ended & ~due
        return (
            token,
            (thinking | (token == start)) & ~ended,
            thought_tokens + said,
            mx.where(due, (forced + 1) % length, 0),
        )

    return mx.compile(follow)


def _bias(table: dict[int, float], vocabulary: int) -> mx.array | None:
    if not table:
        return None
    bias = mx.zeros((vocabulary,), mx.float32)
    for token, value in table.items():
        if 0 <= token < vocabulary:
            bias[token] = value
    return bias


def _counted(counts: mx.array | None, token: mx.array) -> mx.array | None:
    return None if counts is None else counts.at[token].add(1)


def _mixed(seed: int, position: int) -> int:
    """One 32-bit seed a position, so that a draw does not depend on how many were made before it.

    The mixing steps are those of splitmix32's finaliser.
    """
    x = (seed ^ 0x9E3779B9 ^ ((position + 1) * 0x85EBCA6B)) & 0xFFFFFFFF
    x = ((x ^ (x >> 16)) * 0x21F0AAAD) & 0xFFFFFFFF
    x = ((x ^ (x >> 15)) * 0x735A2D97) & 0xFFFFFFFF
    return x ^ (x >> 15)
