"""Mirza's engine alone, on one thread: speed against mlx-vlm's bare loop, first tokens by context, and sizes."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportMissingTypeStubs=false
# pyright: reportUnknownArgumentType=false
from __future__ import annotations

import gc
import itertools
import shutil
import statistics
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import mlx.core as mx
from mlx.utils import tree_flatten
from mlx_vlm.generate.ar import generate_step
from mlx_vlm.models.cache import make_prompt_cache

from mirza.bench.allowance import Allowance
from mirza.bench.first_speech import FirstSpeech, first_speech
from mirza.bench.provenance import Memory, memory
from mirza.bench.rounding import KnownDraft, Rounding, rounding
from mirza.bench.step import (
    PREFILL_STEP,
    Agreement,
    KeepingCost,
    TokenCost,
    agreement,
    finished,
    keeping_cost,
    plain_answer,
    token_cost,
)
from mirza.llm.base import Message, ThinkingBudget
from mirza.llm.mlx.assembly import load_engine
from mirza.llm.mlx.decoding import decode_plain, decode_speculative
from mirza.llm.mlx.engine import Engine
from mirza.llm.mlx.gated_delta_cuda import without_kernel
from mirza.llm.mlx.loading import LoadedModel, has_own_drafter, load_model
from mirza.llm.mlx.quick_cpu import on_cpu
from mirza.llm.mlx.sampler import Sampling, TurnSampler
from mirza.llm.mlx.session import Session
from mirza.llm.mlx.snapshots import DiskSnapshots
from mirza.llm.mlx.speculation import DraftPolicy
from mirza.llm.mlx.target import Target
from mirza.settings import LlmSettings

WARM_UP_TOKENS = 8
SAID_FOR_SIZES = 16
"""Events of an answer; random weights never end one."""
Tokens = Generator[int]


@dataclass(frozen=True, slots=True)
class Rate:
    """How quickly tokens come, after the first few; medians over runs that took turns."""

    how: str
    tokens_per_s: float
    slowest: float
    quickest: float
    against_bare: float
    """Median of the ratios to the bare loop's run just before."""
    against_bare_least: float
    against_bare_most: float
    accepted_share: float = 0.0
    context_tokens: int = 0
    """Of the prompt."""
    runs: Sequence[float] = ()
    """Tokens a second of each, in order."""


@dataclass(frozen=True, slots=True)
class FirstToken:
    """From the request to the first token, with an empty cache, and with all but the last words in it; medians."""

    context_tokens: int
    cold_s: float
    warm_s: float
    cold_runs_s: Sequence[float] = ()
    """Each, in order."""
    warm_runs_s: Sequence[float] = ()


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes of what the engine keeps."""

    model: int
    drafter: int
    marks: int
    cache_of_1000_tokens: int
    snapshot_of_1000_tokens: int


class Measures:
    """One loaded engine. Everything runs on the thread that made it."""

    def __init__(self, folder: Path, snapshots: Path) -> None:
        self._folder = folder
        self._own_head = has_own_drafter(folder)
        settings = LlmSettings(mtp="on" if self._own_head else "off", temperature=0.0, prefill_step=PREFILL_STEP)
        start = time.perf_counter()
        self._engine: Engine = finished(load_engine(str(folder), settings, snapshots, time.perf_counter))
        mx.synchronize()
        self.load_s = time.perf_counter() - start
        """With warm-up: kernels that are compiled at first use are compiled in it."""
        self._depth = settings.draft_depth
        self._bare_model: LoadedModel | None = None

    @property
    def _bare(self) -> LoadedModel:
        """The bare loop runs on a model of its own, as mlx-vlm loads it. It comes when it is first wanted."""
        if self._bare_model is None:
            self._bare_model = load_model(self._folder)
        return self._bare_model

    @property
    def dtype(self) -> str:
        """The floating type that most of the model's parameters have."""
        floating = [array.dtype for array in self._parameters() if mx.issubdtype(array.dtype, mx.floating)]
        return str(max(set(floating), key=floating.count)).rpartition(".")[2]

    @property
    def has_drafter(self) -> bool:
        return self._engine.drafter is not None

    @property
    def notes(self) -> tuple[str, ...]:
        return self._engine.notes

    def memory(self, context: int, tokens: int) -> Memory:
        """Of the engine alone: active behind a prompt of `context` tokens and an answer, and at most from its start."""
        mx.synchronize()
        mx.clear_cache()
        mx.reset_peak_memory()
        session, prompt = self._fed(self._words(context))
        sampler = TurnSampler(Sampling(), self._engine.target.vocabulary)
        with closing(decode_plain(session, sampler, prompt)) as loop:
            for _ in itertools.islice(loop, tokens):
                pass
        return memory()

    def decoding(self, runs: int, tokens: int, context: int = 0) -> list[Rate]:
        """The bare loop, Mirza's plain one and the drafting one, in turns, behind a question or `context` tokens."""
        prompt = self._words(context) if context else self._question()
        policies: list[DraftPolicy] = []

        def drafting() -> Tokens:
            policies.append(DraftPolicy(self._depth))
            return self._speculative(prompt, policies[-1])

        ways: dict[str, Callable[[], Tokens]] = {
            "mlx-vlm's bare loop": partial(self._bare_loop, prompt),
            "mirza, plain": partial(self._plain, prompt),
        }
        if self.has_drafter:
            ways["mirza, MTP"] = drafting
        times: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(runs + 1):
            for name, way in ways.items():
                times[name].append(tokens / _timed(way(), tokens))
        bare = times["mlx-vlm's bare loop"][1:]
        rates: list[Rate] = []
        for name, measured in times.items():
            speeds = measured[1:]
            ratios = [own / other for own, other in zip(speeds, bare, strict=True)]
            drafted, accepted = sum(p.drafted for p in policies), sum(p.accepted for p in policies)
            share = accepted / drafted if name.endswith("MTP") and drafted else 0.0
            spread = statistics.median(ratios), min(ratios), max(ratios)
            rates.append(
                Rate(name, statistics.median(speeds), min(speeds), max(speeds), *spread, share, len(prompt), speeds)
            )
        return rates

    def first_token(self, contexts: Sequence[int], allowance: Allowance) -> Generator[FirstToken]:
        """The same prompt twice: fed whole, then but for its last eight tokens. Shorter ones come first.

        A context that the allowance has no time left for is left out, and says so there.
        """
        for context in sorted(contexts):
            prompt = self._words(context)
            cold: list[float] = []
            warm: list[float] = []
            for _ in allowance.runs_of(context):
                cold.append(_seconds(lambda prompt=prompt: self._first(prompt, 0)))
                warm.append(self._warm(prompt, context - 8))
                allowance.took(context, 2 * cold[-1])
            if cold:
                yield FirstToken(context, statistics.median(cold), statistics.median(warm), cold, warm)

    def sizes(self) -> Sizes:
        """Bytes, after a conversation of a thousand tokens."""
        session, ids = self._engine.session, self._words(1000)
        session.reset()
        finished(session.feed(ids))
        snapshot = session.snapshot()
        disk = self._engine.disk
        encoded = disk.encode(snapshot) if isinstance(disk, DiskSnapshots) else b""
        for question in ("Count to 9.", "Count to 5."):
            answer = self._engine.answer([Message("user", question)], (), ThinkingBudget(0), 0.0)
            with closing(answer):
                for _ in itertools.islice(answer, SAID_FOR_SIZES):
                    pass
        drafter = self._engine.drafter
        return Sizes(
            model=sum(array.nbytes for array in self._parameters()),
            drafter=drafter.nbytes if drafter is not None else 0,
            marks=session.marks_bytes,
            cache_of_1000_tokens=snapshot.nbytes,
            snapshot_of_1000_tokens=len(encoded),
        )

    def token(self, tokens: int) -> TokenCost:
        """Where the time of a plainly decoded token goes."""
        return token_cost(self._engine, self._question(), tokens)

    def keeping(self, contexts: Sequence[int], runs: int) -> Generator[KeepingCost]:
        """Marks and snapshots of states of so many tokens."""
        for context in contexts:
            yield keeping_cost(self._engine, self._words(context), runs)

    def drafting_agrees(self, tokens: int) -> Agreement | None:
        """Whether the tokens are the same with the model's own drafts; `None` without a drafter."""
        prompt, drafter = self._question(), self._engine.drafter
        if drafter is None:
            return None
        return agreement(self._engine, prompt, plain_answer(self._engine, prompt, tokens), drafter, self._depth)

    def forced_drafts(self, tokens: int) -> Generator[Agreement]:
        """The same with drafts that are right for none, one ... all of their tokens; at each depth up to the default.

        They cost nothing themselves, so what a round takes is verification.
        """
        if not self.has_drafter:
            return
        prompt = self._question()
        plain = plain_answer(self._engine, prompt, tokens)
        for depth in range(1, self._depth + 1):
            known = KnownDraft(plain, len(prompt), self._engine.target.vocabulary)
            yield agreement(self._engine, prompt, plain, known, depth)

    def rounding(self, tokens: int) -> Generator[Rounding]:
        """How far logits depend on the number of tokens in a pass, and half types from float32."""
        prompt = self._question()
        plain = plain_answer(self._engine, prompt, tokens)
        half = "float32" not in self.dtype
        exact = Target(load_model(self._folder, float32=True).model) if half else None
        for rows in range(2, self._depth + 2):
            yield rounding(self._engine.target, prompt, plain, rows, exact)

    def first_speech(self, budgets: Sequence[int], runs: int) -> Generator[FirstSpeech]:
        """Conversations by the engine's own path, with and without a thought."""
        return first_speech(self._engine, budgets, runs)

    def close(self) -> None:
        """Gives the memory back."""
        del self._engine, self._bare_model
        gc.collect()
        mx.clear_cache()

    def _parameters(self) -> list[mx.array]:
        parameters = self._engine.target.model.parameters()
        return [array for _, array in cast("list[tuple[str, mx.array]]", tree_flatten(parameters))]

    # --- the three loops ---------------------------------------------------------------------------------------------

    def _bare_loop(self, prompt: Sequence[int]) -> Tokens:
        cache = make_prompt_cache(self._bare.language_model)
        ids = mx.array([list(prompt)])
        steps = generate_step(
            ids, self._bare.model, None, None, prompt_cache=cache, max_tokens=100_000, temperature=0.0
        )
        with without_kernel(), closing(steps):
            for token, _ in steps:
                yield int(token)

    def _plain(self, ids: Sequence[int]) -> Tokens:
        session, prompt = self._fed(ids)
        yield from decode_plain(session, TurnSampler(Sampling(), self._engine.target.vocabulary), prompt)

    def _speculative(self, ids: Sequence[int], policy: DraftPolicy) -> Tokens:
        session, prompt = self._fed(ids)
        drafter = self._engine.drafter
        assert drafter is not None
        sampler = TurnSampler(Sampling(), self._engine.target.vocabulary)
        yield from decode_speculative(session, sampler, prompt, drafter=drafter, policy=policy, stops=())

    def _fed(self, ids: Sequence[int]) -> tuple[Session, Any]:
        session = Session(self._engine.target, PREFILL_STEP)
        return session, finished(session.feed(ids, keep=1))

    def _question(self) -> list[int]:
        return self._engine.template.prompt([Message("user", "Count to 24.")])

    def _words(self, count: int) -> list[int]:
        """A long message, cut to so many tokens."""
        text = " ".join(f"Turn on light {number}, please." for number in range(count // 4 + 8))
        return self._engine.template.prompt([Message("user", text)])[:count]

    def _first(self, prompt: list[int], known: int) -> None:
        session = self._engine.session
        if not known:
            session.reset()
        forward = finished(session.feed(prompt[known:], keep=1))
        assert forward is not None
        assert forward.logits is not None
        mx.eval(mx.argmax(forward.logits))

    def _warm(self, prompt: list[int], known: int) -> float:
        session = self._engine.session
        session.reset()
        finished(session.feed(prompt[:known]))
        mx.synchronize()
        return _seconds(lambda: self._first(prompt, known))


def as_it_runs(folder: Path, out: Path) -> Path:
    """The checkpoint, or on a CPU a float32 copy of it: all contestants run the same bytes."""
    if not on_cpu():
        return folder
    weights: dict[str, mx.array] = {}
    for file in folder.glob("*.safetensors"):
        weights |= cast("dict[str, mx.array]", mx.load(str(file)))
    halves = (mx.float16, mx.bfloat16)
    if not any(array.dtype in halves for array in weights.values()):
        return folder
    shutil.copytree(folder, out, ignore=shutil.ignore_patterns("*.safetensors", "*.safetensors.index.json"))
    full = {name: array.astype(mx.float32) if array.dtype in halves else array for name, array in weights.items()}
    mx.eval(full)
    mx.save_safetensors(str(out / "model.safetensors"), full, metadata={"format": "mlx"})
    return out


def _timed(tokens: Tokens, count: int) -> float:
    """Seconds for `count` tokens, after the first few."""
    with closing(tokens):
        for _ in itertools.islice(tokens, WARM_UP_TOKENS):
            pass
        mx.synchronize()
        start = time.perf_counter()
        for _ in itertools.islice(tokens, count):
            pass
        mx.synchronize()
        return time.perf_counter() - start


def _seconds(work: Callable[[], None]) -> float:
    mx.synchronize()
    start = time.perf_counter()
    work()
    mx.synchronize()
    return time.perf_counter() - start
