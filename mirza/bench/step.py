"""Where the time of one decoded token goes, and what it costs to keep a state: of Mirza's engine, on its own thread."""

# pyright: reportUnknownMemberType=false, reportArgumentType=false
from __future__ import annotations

import io
import re
import statistics
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

import mlx.core as mx

from mirza.llm.mlx.decoding import decode_plain, decode_speculative
from mirza.llm.mlx.engine import Engine
from mirza.llm.mlx.sampler import Sampling, TurnSampler
from mirza.llm.mlx.session import MarkKind, Session
from mirza.llm.mlx.snapshots import DiskSnapshots
from mirza.llm.mlx.speculation import Drafter, DraftPolicy
from mirza.llm.mlx.target import Forward

WARM_UP = 4
PREFILL_STEP = 2048
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TokenCost:
    """One token, decoded alone, in medians; and in the loop, where the next one is under way before it is read."""

    build_s: float
    """Python writes down what is to be computed."""
    submit_s: float
    """MLX hands it to the device."""
    wait_s: float
    """From then until the token is there."""
    in_loop_s: float
    operations: int
    """Of the graph of one token, as MLX counts them; a compiled group is one."""


@dataclass(frozen=True, slots=True)
class KeepingCost:
    """What it takes to keep a state of so many tokens, and to go back to it."""

    tokens: int
    mark_s: float
    mark_bytes: int
    encode_s: float
    write_s: float
    restore_s: float
    """Found on disk, read, its checksum compared, and in the cache."""
    snapshot_bytes: int


@dataclass(frozen=True, slots=True)
class Agreement:
    """Whether drafting changed a token; positions from 0."""

    tokens: int
    depth: int
    first_difference: int | None
    drafted: int
    accepted: int
    rounds: int
    round_s: float
    """Seconds a round took, on average: draft, verification, and what was read back."""


def token_cost(engine: Engine, ids: Sequence[int], tokens: int) -> TokenCost:
    """The cost of a token behind the prompt `ids`."""
    session, forward = _fed(engine, ids)
    sampler = _greedy(engine)
    token = sampler.sample_target(_logits(forward), [0])
    mx.eval(token)
    builds: list[float] = []
    submits: list[float] = []
    waits: list[float] = []
    operations = 0
    for position in range(1, tokens + WARM_UP):
        start = time.perf_counter()
        forward = session.target.forward(token, session.cache, len(session.ids), keep=1)
        token = sampler.sample_target(_logits(forward), [position])
        built = time.perf_counter()
        if position == WARM_UP:
            operations = operations_of(token)
        unsubmitted = time.perf_counter()
        mx.async_eval(token)
        submitted = time.perf_counter()
        session.ids.append(int(token.item()))
        waits.append(time.perf_counter() - submitted)
        builds.append(built - start)
        submits.append(submitted - unsubmitted)
    in_loop = _in_loop(engine, ids, tokens)
    build, submit, wait = (statistics.median(times[WARM_UP:]) for times in (builds, submits, waits))
    return TokenCost(build, submit, wait, in_loop, operations)


def _in_loop(engine: Engine, ids: Sequence[int], tokens: int) -> float:
    session, forward = _fed(engine, ids)
    with closing(decode_plain(session, _greedy(engine), forward)) as loop:
        for _ in islice(loop, WARM_UP):
            pass
        start = time.perf_counter()
        for _ in islice(loop, tokens):
            pass
        return (time.perf_counter() - start) / tokens


def operations_of(array: mx.array) -> int:
    """How many operations stand behind an array that has not been evaluated."""
    dot = io.StringIO()
    mx.export_to_dot(dot, array)
    return len(re.findall(r"shape=rectangle", dot.getvalue()))


def keeping_cost(engine: Engine, ids: Sequence[int], runs: int) -> KeepingCost:
    """The cost of keeping a state after `ids`, which the disk must not know yet."""
    session = _fed(engine, ids)[0]
    mx.synchronize()
    mark_s = _median(runs, lambda: session.mark(MarkKind.PASSING))
    snapshot = session.snapshot()
    disk = engine.disk
    assert isinstance(disk, DiskSnapshots)
    encode_s = _median(runs, lambda: disk.encode(snapshot))
    encoded = disk.encode(snapshot)
    write_s = _median(runs, lambda: disk.write(snapshot.ids, encoded))

    def restore() -> None:
        found = disk.find(snapshot.ids)
        assert found is not None
        session.restore(found, MarkKind.HEAD)
        mx.synchronize()

    restore_s = _median(runs, restore)
    return KeepingCost(len(ids), mark_s, session.marks_bytes, encode_s, write_s, restore_s, len(encoded))


def plain_answer(engine: Engine, ids: Sequence[int], tokens: int) -> list[int]:
    """The first `tokens` tokens behind the prompt `ids`, greedy, one a pass."""
    session, forward = _fed(engine, ids)
    with closing(decode_plain(session, _greedy(engine), forward)) as loop:
        return list(islice(loop, tokens))


def agreement(engine: Engine, ids: Sequence[int], plain: Sequence[int], drafter: Drafter, depth: int) -> Agreement:
    """The plain answer to `ids` once more, with the drafts of `drafter`."""
    policy = DraftPolicy(depth)
    session, forward = _fed(engine, ids)
    loop = decode_speculative(session, _greedy(engine), forward, drafter=drafter, policy=policy, stops=())
    with closing(loop):
        drafted = [next(loop)]
        start = time.perf_counter()
        drafted += islice(loop, len(plain) - 1)
        seconds = time.perf_counter() - start
    differences = (place for place, pair in enumerate(zip(plain, drafted, strict=True)) if pair[0] != pair[1])
    rounds = policy.rounds
    return Agreement(
        len(plain), depth, next(differences, None), policy.drafted, policy.accepted, rounds, seconds / max(1, rounds)
    )


def _fed(engine: Engine, ids: Sequence[int]) -> tuple[Session, Forward]:
    session = Session(engine.target, PREFILL_STEP)
    forward = finished(session.feed(ids, keep=1))
    assert forward is not None
    return session, forward


def _greedy(engine: Engine) -> TurnSampler:
    return TurnSampler(Sampling(), engine.target.vocabulary)


def _logits(forward: Forward) -> mx.array:
    assert forward.logits is not None
    return forward.logits


def _median(runs: int, work: Callable[[], object]) -> float:
    times: list[float] = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def finished(steps: Generator[Any, None, T]) -> T:
    """Takes every step of a job, and gives what it returns."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value
