"""What is in the cache, token by token: a ledger that grows at its end, and marks that lead back.

Attention keeps keys and values for each token, so going back is cutting off. A gated-delta layer keeps one state, and
each token replaces it: there is no way back, except to a state that was kept. A *mark* keeps those states by reference
(MLX arrays are values), so it costs one state of each recurrent layer (48 MiB on a 9B) and never a copy of the keys and
values. Going back to any other place means going to the last mark before it, and feeding what lies between again.
"""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

import json
from bisect import insort
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import cast

import mlx.core as mx
from loguru import logger

from mirza.llm.mlx.encoding import common_length
from mirza.llm.mlx.snapshots import Snapshot
from mirza.llm.mlx.target import (
    Forward,
    Growing,
    Layer,
    Recurrent,
    Target,
    arrays_of,
    is_growing,
    is_recurrent,
    meta_of,
    restore,
)
from mirza.mlx_thread import STEP, Step

MARKS_AT_MOST = 8
"""The head, the last turns, and a few inside what the user is saying."""

ON_CPU_AT_MOST = 256
"""Tokens fed at once on a CPU, whatever the step: no slower there than 2,048, and a cancel is seen after seconds,
not after the whole prompt."""


class MarkKind(IntEnum):
    """Why a mark was made; the smallest leave first."""

    PASSING = 0
    """Inside the user's message, while they talk, or inside an answer."""
    TURN = 1
    """Where an answer begins, or the next question."""
    HEAD = 2
    """Behind the system prompt and the tools."""


@dataclass(order=True, frozen=True, slots=True)
class Mark:
    """The recurrent states behind the first `length` tokens."""

    length: int
    kind: MarkKind = field(compare=False)
    states: tuple[tuple[mx.array | None, ...], ...] = field(compare=False)

    @property
    def nbytes(self) -> int:
        return sum(state.nbytes for layer in self.states for state in layer if state is not None)


class Session:
    """One cache and its ledger. Every method runs on the MLX thread."""

    def __init__(self, target: Target, prefill_step: int) -> None:
        self.target = target
        self.ids: list[int] = []
        """The tokens whose state is in the cache, in order."""
        self.fed_tokens = 0
        """Tokens ever fed by `feed`; counted where they are fed."""
        self._step = min(prefill_step, ON_CPU_AT_MOST) if target.on_cpu else prefill_step
        self.reset()

    def reset(self) -> None:
        """Forgets everything."""
        self.cache: list[Layer] = self.target.new_cache()
        self.ids = []
        self.marks: list[Mark] = []
        self._recurrent = [cast(Recurrent, layer) for layer in self.cache if is_recurrent(layer)]
        self._growing = [cast(Growing, layer) for layer in self.cache if is_growing(layer)]
        self._known = len(self._recurrent) + len(self._growing) == len(self.cache)

    # --- back ---

    def reuse(self, ids: Sequence[int], at_most: int) -> int:
        """Goes back to the longest beginning of `ids` that the cache holds and can return to; says how long it is."""
        length = min(common_length(self.ids, ids), at_most)
        if length == len(self.ids):
            return length
        length = self._reachable(length)
        if length == 0:
            self.reset()
        else:
            self._return_to(length)
        return length

    def reusable(self, ids: Sequence[int]) -> int:
        """How long the beginning of `ids` is that `reuse` would find."""
        length = common_length(self.ids, ids)
        return length if length == len(self.ids) else self._reachable(length)

    def _reachable(self, length: int) -> int:
        if not self._known or not all(layer.is_trimmable() for layer in self._growing):
            return 0
        if not self._recurrent:
            return length
        return max((mark.length for mark in self.marks if mark.length <= length), default=0)

    def _return_to(self, length: int) -> None:
        for layer in self._growing:
            layer.trim(len(self.ids) - length)
        if self._recurrent:
            mark = next(mark for mark in self.marks if mark.length == length)
            for layer, states in zip(self._recurrent, mark.states, strict=True):
                layer.cache = list(states)
        del self.ids[length:]
        self.marks = [mark for mark in self.marks if mark.length <= length]

    # --- forward ---

    def feed(
        self, ids: Sequence[int], *, keep: int = 0, marks: Iterable[tuple[int, MarkKind]] = ()
    ) -> Generator[Step, None, Forward | None]:
        """Appends `ids`, chunk by chunk; logits of the last `keep` of them. Makes marks at these lengths of the ledger.

        Each chunk is one step. Closed between two, the ledger holds what was fed.
        """
        wanted = marks if self._recurrent else ()  # without a mark to make, a cut would be a pass for nothing
        cuts = {length: kind for length, kind in wanted if len(self.ids) < length <= len(self.ids) + len(ids)}
        out: Forward | None = None
        rest = list(ids)
        while rest:
            size = min(self._step, len(rest), *(length - len(self.ids) for length in cuts if length > len(self.ids)))
            chunk, rest = rest[:size], rest[size:]
            out = self.target.forward(mx.array(chunk), self.cache, len(self.ids), keep=0 if rest else keep)
            self.ids += chunk
            self.fed_tokens += len(chunk)
            if len(self.ids) in cuts:
                self.mark(cuts[len(self.ids)])
            if rest or not keep:
                # MLX is lazy: work ahead that is not evaluated here would be done when somebody waits.
                mx.eval([list(arrays_of(layer).values()) for layer in self.cache])
            if rest:
                yield STEP
        return out

    def mark(self, kind: MarkKind) -> None:
        """Keeps the way back to here. The least useful mark leaves when there are too many."""
        if not self._recurrent:
            return
        here = [mark for mark in self.marks if mark.length == len(self.ids)]
        if here:
            kind = max(kind, here[0].kind)
            self.marks.remove(here[0])
        insort(self.marks, Mark(len(self.ids), kind, tuple(tuple(layer.cache) for layer in self._recurrent)))
        if len(self.marks) > MARKS_AT_MOST:
            self.marks.remove(min(self.marks, key=lambda mark: (mark.kind, mark.length)))

    # --- out, and back in ---

    def snapshot(self) -> Snapshot:
        """All that the cache holds, to be kept. There must be something in it."""
        arrays = {
            f"{place}.{name}": array
            for place, layer in enumerate(self.cache)
            for name, array in arrays_of(layer).items()
        }
        return Snapshot(tuple(self.ids), arrays, {"meta": json.dumps([meta_of(layer) for layer in self.cache])})

    def restore(self, snapshot: Snapshot, kind: MarkKind) -> None:
        """Starts from a snapshot of the same model; its end gets a mark."""
        self.reset()
        metas = cast("list[object]", json.loads(snapshot.notes["meta"]))
        for place, (layer, meta) in enumerate(zip(self.cache, metas, strict=True)):
            start = f"{place}."
            arrays = {name[len(start) :]: array for name, array in snapshot.arrays.items() if name.startswith(start)}
            restore(layer, arrays, meta)
        self.ids = list(snapshot.ids)
        self.mark(kind)

    # --- the truth ---

    def reconcile(self) -> None:
        """Compares the ledger with the cache, and starts afresh where they differ. They never should."""
        offsets = {int(layer.offset) for layer in self._growing}
        if offsets and offsets != {len(self.ids)}:
            logger.error("The cache holds {} tokens and the ledger {}; starting afresh", offsets, len(self.ids))
            self.reset()

    @property
    def marks_bytes(self) -> int:
        """Bytes that only the marks hold."""
        return sum(mark.nbytes for mark in self.marks)
