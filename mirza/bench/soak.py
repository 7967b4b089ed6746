"""`mirza bench soak`: a thousand turns in one go. Do memory, open files, threads or the wait for an answer creep up?

The engine is real, on the tiny checkpoint of the tests unless a model is named, and time is virtual, so that an hour of
talk takes minutes. Sound and speech models are doubles; with `--real` they are what people use, with open loudspeakers,
and time passes while one of them works. Some turns are interrupted, some are reopened.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import random
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from mirza.audio.base import MIC_RATE
from mirza.bench.cast import Cast, doubles, people
from mirza.bench.patient import Busy, PatientLlm, run_patiently
from mirza.bench.runfile import Better, Metric
from mirza.bench.take import load_average, resident_mb
from mirza.errors import MirzaError
from mirza.events import AnswerStarted, Event, Failed, Interrupted, Speaking, SpeechDelta, TurnMeasured, TurnReopened
from mirza.folders import PROJECT
from mirza.history import History
from mirza.mlx_thread import MlxThread
from mirza.pipeline import Conversation
from mirza.settings import LlmSettings, SettingsTree

TINY = PROJECT / "tests" / "fixtures" / "tiny-qwen35"
SAMPLES = 50
"""The talk is looked at this often."""
WARM = 0.2
"""The first part of it fills caches: what grows there may."""
MAX_TOKENS = 16
CONTEXT_TOKENS = 2048
"""Small enough that old turns have to leave, as they would in an hour."""


class Sample(BaseModel):
    """What the process held after some turns, and what its turns took lately."""

    model_config = ConfigDict(extra="forbid")

    turns: int
    talked_s: float
    """Of virtual time: what a clock in the room would say."""
    resident_mb: float
    mlx_active_mb: float
    mlx_cached_mb: float = 0.0
    """Freed, and kept for reuse, up to `llm.cache_limit_gb`: it grows to that whatever the talk is."""
    open_files: int
    threads: int
    tasks: int
    first_token_ms: float
    """Of real time: from asking the model to its first token; the median since the sample before."""
    voice_to_voice_s: float = 0.0
    """By the talk's clock: from the user's last sound to the first of the answer; also a median."""
    prefilled_tokens: float

    @property
    def held_mb(self) -> float:
        """What the process needs: without what MLX keeps for reuse."""
        return self.resident_mb - self.mlx_cached_mb


class SoakReport(BaseModel):
    """The whole talk."""

    model_config = ConfigDict(extra="forbid")

    model: str
    real: bool = False
    """With real ears and a real voice."""
    turns: int
    talked_s: float
    took_s: float
    interrupted: int
    reopened: int
    failures: list[str]
    samples: list[Sample]
    resident_growth_mb: float
    """From a fifth of the talk to its end, as all growth here."""
    held_growth_mb: float = 0.0
    """The same without what MLX keeps for reuse: this is what a leak shows in."""
    open_files_growth: int
    threads_growth: int
    first_token_drift: float
    """The last fifth's first token over that of the second fifth; 1 is no drift."""
    voice_to_voice_drift: float = 1.0
    load: float
    metrics: list[Metric]


class _Watch:
    """Counts what happens, and looks at the process now and then."""

    def __init__(self, every: int) -> None:
        self.turns = self.interrupted = self.reopened = 0
        self.failures: list[str] = []
        self.samples: list[Sample] = []
        self._every = every
        self._asked = 0.0
        self._waits: list[float] = []
        self._fed: list[float] = []
        self._voice_to_voice: list[float] = []

    def note(self, event: Event, talked_s: float) -> None:
        """Takes the next event."""
        match event:
            case AnswerStarted():
                self._asked = time.perf_counter()
            case SpeechDelta() if self._asked:
                self._waits.append(1000 * (time.perf_counter() - self._asked))
                self._asked = 0.0
            case Interrupted():
                self.interrupted += 1
            case TurnReopened():
                self.reopened += 1
            case Failed(error):
                self.failures.append(str(error))
            case TurnMeasured(llm=llm, voice_to_voice_s=voice_to_voice_s):
                self.turns += 1
                if voice_to_voice_s is not None:
                    self._voice_to_voice.append(voice_to_voice_s)
                self._fed.append(float(llm.prefilled_tokens))
                if self.turns % self._every == 0:
                    self._look(talked_s)
            case _:
                pass

    def _look(self, talked_s: float) -> None:
        import mlx.core as mx

        gc.collect()
        self.samples.append(
            Sample(
                turns=self.turns,
                talked_s=talked_s,
                resident_mb=resident_mb(),
                mlx_active_mb=mx.get_active_memory() / 1e6,
                mlx_cached_mb=mx.get_cache_memory() / 1e6,
                open_files=open_files(),
                threads=threading.active_count(),
                tasks=len(asyncio.all_tasks()),
                first_token_ms=_middle(self._waits),
                voice_to_voice_s=_middle(self._voice_to_voice),
                prefilled_tokens=_middle(self._fed),
            )
        )
        self._waits, self._fed, self._voice_to_voice = [], [], []


def _middle(values: Sequence[float]) -> float:
    return statistics.median(values) if values else 0.0


def soak(turns: int, model: str, seed: int = 0, minutes: float = 0.0, real: SettingsTree | None = None) -> SoakReport:
    """Holds `turns` turns, and at least `minutes` of talk, with the language model of a folder.

    Ears and voice are doubles, or those of the settings `real`.

    Raises:
        MirzaError: a model is not there.
    """
    if not Path(model).is_dir():
        raise MirzaError(f"There is no model folder {model}.", "Name one with --model.")
    watch = _Watch(max(turns // SAMPLES, 1))
    began = time.perf_counter()
    thread = MlxThread()
    with tempfile.TemporaryDirectory(prefix="mirza-soak-") as folder:

        async def hold(busy: Busy) -> float:
            llm = _engine(model, Path(folder), busy, thread)
            cast = doubles(llm) if real is None else people(llm, real)
            return await _hold(turns, minutes, cast, watch, random.Random(seed))

        talked_s = run_patiently(hold, work_takes_time=real is not None)
    thread.close()
    return _report(model, watch, talked_s, time.perf_counter() - began, real=real is not None)


def _engine(model: str, folder: Path, busy: Busy, thread: MlxThread) -> PatientLlm:
    settings = LlmSettings(temperature=0.0, max_tokens=MAX_TOKENS, context_tokens=CONTEXT_TOKENS)
    return PatientLlm(busy, model, settings, snapshot_dir=folder, thread=thread)


async def _hold(turns: int, minutes: float, cast: Cast, watch: _Watch, rng: random.Random) -> float:
    sound = cast.sound
    conversation = Conversation(cast.parts, SettingsTree(), History())
    events = conversation.watch()

    async def listen() -> None:
        async for event in events:
            watch.note(event, conversation.now_s())
            if isinstance(event, Speaking) and rng.random() < 0.1:  # over the answer: a new question
                sound.say(rng.choice(cast.questions), sound.now_s() + 0.3)

    listening = asyncio.create_task(listen())
    async with conversation:
        while (watch.turns < turns or conversation.now_s() < 60 * minutes) and not watch.failures:
            question = rng.choice(cast.questions)
            sound.say(question, sound.now_s() + 0.2)
            if rng.random() < 0.1:  # the user goes on before the answer is heard
                sound.say(cast.more, sound.now_s() + 0.2 + len(question) / MIC_RATE + rng.uniform(0.35, 0.55))
            await conversation.pass_time(cast.pause_s)
            await conversation.settled()
        talked_s = conversation.now_s()
        await sound.close()
    await listening
    return talked_s


def _report(model: str, watch: _Watch, talked_s: float, took_s: float, *, real: bool) -> SoakReport:
    samples = watch.samples
    if len(samples) < 5:
        raise MirzaError("The talk was too short to tell anything.", "Give --turns 5 or more.")
    warm, last = samples[int(WARM * len(samples))], samples[-1]
    early = samples[int(WARM * len(samples)) : int(2 * WARM * len(samples)) + 1]
    late = samples[-max(len(samples) // 5, 1) :]
    drift = _drift([s.first_token_ms for s in early], [s.first_token_ms for s in late])
    slower = _drift([s.voice_to_voice_s for s in early], [s.voice_to_voice_s for s in late])
    return SoakReport(
        model=Path(model).name,
        real=real,
        turns=watch.turns,
        talked_s=talked_s,
        took_s=took_s,
        interrupted=watch.interrupted,
        reopened=watch.reopened,
        failures=watch.failures,
        samples=samples,
        resident_growth_mb=last.resident_mb - warm.resident_mb,
        held_growth_mb=last.held_mb - warm.held_mb,
        open_files_growth=last.open_files - warm.open_files,
        threads_growth=last.threads - warm.threads,
        first_token_drift=drift,
        voice_to_voice_drift=slower,
        load=load_average(),
        metrics=[
            Metric(name="soak.resident_growth", unit="MB", values=[last.resident_mb - warm.resident_mb]),
            Metric(name="soak.held_growth", unit="MB", values=[last.held_mb - warm.held_mb]),
            Metric(name="soak.open_files_growth", unit="", values=[float(last.open_files - warm.open_files)]),
            Metric(name="soak.threads_growth", unit="", values=[float(last.threads - warm.threads)]),
            Metric(name="soak.first_token_drift", unit="", values=[drift]),
            Metric(name="soak.voice_to_voice_drift", unit="", values=[slower]),
            Metric(name="soak.failures", unit="", values=[float(len(watch.failures))]),
            Metric(
                name="soak.prefilled_per_turn",
                unit="tokens",
                better=Better.LESS,
                values=[sample.prefilled_tokens for sample in samples],
            ),
        ],
    )


def _drift(early: Sequence[float], late: Sequence[float]) -> float:
    return statistics.median(late) / max(statistics.median(early), 1e-9)


def open_files() -> int:
    """File handles of this process; 0 where the system does not tell."""
    for folder in ("/proc/self/fd", "/dev/fd"):
        try:
            return len(os.listdir(folder))  # noqa: PTH208 - entries vanish while a Path would look at them
        except OSError:
            continue
    return 0


# --- the command -----------------------------------------------------------------------------------------------------


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `mirza bench soak` takes."""
    parser.add_argument("--turns", type=int, default=1000, metavar="N", help="turns (1000)")
    parser.add_argument("--minutes", type=float, default=0.0, metavar="M", help="go on for so long a talk at least (0)")
    parser.add_argument("--real", action="store_true", help="real ears and a real voice, with open loudspeakers")
    parser.add_argument("--model", default="", metavar="DIR", help="a folder (the tiny checkpoint of the tests)")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def run(args: argparse.Namespace) -> int:
    """Prints the report; 1 if anything failed."""
    from mirza.blas import ensure_fast_blas
    from mirza.settings_sources import settings_of

    ensure_fast_blas()
    real = settings_of(args).tree if args.real else None
    report = soak(args.turns, args.model or str(TINY), minutes=args.minutes, real=real)
    print(report.model_dump_json(indent=1) if args.json else in_words(report))
    sys.stdout.flush()
    return 1 if report.failures else 0


def in_words(report: SoakReport) -> str:
    """The report as a person reads it."""
    last = report.samples[-1]
    ears = " with real ears and a real voice" if report.real else ""
    return "\n".join(
        [
            f"{report.turns} turns of {report.model}{ears}, {report.talked_s / 60:.0f} minutes of talk in "
            f"{report.took_s / 60:.1f} minutes; {report.interrupted} interrupted, {report.reopened} reopened",
            f"memory {last.resident_mb:.0f} MB, {report.resident_growth_mb:+.1f} MB since the first fifth "
            f"({report.held_growth_mb:+.1f} without what MLX keeps for reuse); "
            f"open files {last.open_files} ({report.open_files_growth:+d}), "
            f"threads {last.threads} ({report.threads_growth:+d})",
            f"first token {last.first_token_ms:.1f} ms, x {report.first_token_drift:.2f} over the talk; "
            f"voice to voice {last.voice_to_voice_s:.2f} s, x {report.voice_to_voice_drift:.2f}; "
            f"{last.prefilled_tokens:.0f} tokens prefilled a turn",
            *report.failures,
        ]
    )
