"""When does a turn end? The recordings of the scripts, decided by meaning and intonation, and by silence alone.

As fast as the models allow, not in real time: what is compared is the decision, on the recording's own clock. The
models' own time (0.1 to 0.2 s, within the pause that is waited for anyway) is not in it; in `bench talk` it is.
"""

from __future__ import annotations

import statistics
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict

from mirza.audio.base import BLOCK, MIC_RATE, Block, Samples
from mirza.audio.files import HISS
from mirza.bench.conductor import audible
from mirza.bench.script import Means, Script
from mirza.settings import SettingsTree, TurnSettings
from mirza.speech.base import EndOfTurn, Stt
from mirza.speech.ear import Ear
from mirza.speech.end_of_turn import SmartTurn
from mirza.speech.patience import patience
from mirza.speech.stt.moonshine import MoonshineStt
from mirza.speech.turns import Ended, Paused
from mirza.speech.vad import SileroVad

LEAD_S, TAIL_S = 0.5, 4.0
SILENCES_S = (0.4, 0.6, 0.8, 1.2)
"""What people set a voice detector's silence to when it is all they have."""


class TurnRow(BaseModel):
    """One way to decide, over all recordings."""

    model_config = ConfigDict(extra="forbid")

    decided_by: str
    complete: int
    """Recordings without a pause."""
    with_pause: int
    cut_complete: int
    """Cut off although there was no pause of the speaker's making."""
    cut_in_pause: int
    wait_median_s: float
    """From the last audible sample to the decision, where nothing was cut off."""
    wait_p95_s: float
    wait_complete_median_s: float


@dataclass(frozen=True, slots=True)
class Spoken:
    """A turn as it is spoken, pauses and all, and where its voice ends."""

    samples: Samples
    voice_end_s: float
    paused: bool


def spoken_turns(script: Script, sounds: Sequence[Samples]) -> list[Spoken]:
    """The turns of a script that begin in silence, each with the parts that belong to it."""
    turns: list[Spoken] = []
    parts: list[Samples] = []
    for line, sound in zip(script.lines, sounds, strict=True):
        if line.means not in (Means.PART, Means.TURN):
            continue
        if parts and line.pause is not None:
            # From the last audible sample of one part to the first sample of the next, as a conductor has it.
            trailing = len(parts[-1]) - audible(parts[-1])[1]
            gap = round(line.pause * MIC_RATE) - trailing
            parts[-1] = parts[-1][: len(parts[-1]) + min(gap, 0)]
            parts.append(np.zeros(max(gap, 0), np.float32))
        parts.append(sound)
        if line.means is Means.TURN:
            whole = np.concatenate([np.zeros(round(LEAD_S * MIC_RATE), np.float32), *parts])
            end = len(whole) - len(sound) + audible(sound)[1]
            turns.append(Spoken(whole, end / MIC_RATE, paused=len(parts) > 1))
            parts = []
    return turns


async def turn_table(turns: Sequence[Spoken], settings: SettingsTree, cache: Path) -> list[TurnRow]:
    """The table: by meaning and intonation, then by silences of several lengths.

    Raises:
        ModelError: a model is not there.
    """
    turns = list({turn.samples.tobytes(): turn for turn in turns}.values())  # several scripts begin with the same
    stt, end_of_turn = MoonshineStt(cache), SmartTurn(cache)
    await stt.load()
    await end_of_turn.load()
    rows = [await _row("meaning", turns, settings.turns, _by_meaning(stt, end_of_turn, settings.turns))]
    for silence_s in SILENCES_S:
        rows.append(await _row(f"{silence_s:g} s of silence", turns, settings.turns, _by_silence(silence_s)))
    await stt.unload()
    await end_of_turn.unload()
    return rows


Decide = Callable[[Samples], Awaitable[float]]
"""The sound of a turn that has paused; how much silence ends it."""


def _by_meaning(stt: Stt, end_of_turn: EndOfTurn, settings: TurnSettings) -> Decide:
    async def decide(samples: Samples) -> float:
        return patience(await end_of_turn.probability(samples), await stt.transcribe(samples), settings)

    return decide


def _by_silence(silence_s: float) -> Decide:
    async def decide(_: Samples) -> float:
        return silence_s

    return decide


async def _row(name: str, turns: Sequence[Spoken], settings: TurnSettings, decide: Decide) -> TurnRow:
    cut = {False: 0, True: 0}
    waits: list[float] = []
    waits_complete: list[float] = []
    for turn in turns:
        ends = await _ends(turn.samples, settings, decide)
        if not ends or ends[0] < turn.voice_end_s:
            cut[turn.paused] += 1
            continue
        waits.append(ends[0] - turn.voice_end_s)
        if not turn.paused:
            waits_complete.append(waits[-1])
    paused = sum(turn.paused for turn in turns)
    return TurnRow(
        decided_by=name,
        complete=len(turns) - paused,
        with_pause=paused,
        cut_complete=cut[False],
        cut_in_pause=cut[True],
        wait_median_s=_median(waits),
        wait_p95_s=sorted(waits)[int(0.95 * len(waits))] if waits else 0.0,
        wait_complete_median_s=_median(waits_complete),
    )


async def _ends(samples: Samples, settings: TurnSettings, decide: Decide) -> list[float]:
    """When turns end in a recording, in seconds."""
    count = -(-(len(samples) + round(TAIL_S * MIC_RATE)) // BLOCK) * BLOCK
    room = HISS * np.random.default_rng(0).standard_normal(count, np.float32)
    room[: len(samples)] += samples
    ear = Ear(SileroVad(), settings)
    ends: list[float] = []
    for first in range(0, count, BLOCK):
        end_s = (first + BLOCK) / MIC_RATE
        for signal in ear.hear(Block(room[first : first + BLOCK], np.zeros(BLOCK, np.float32), end_s)):
            match signal:
                case Paused():
                    ear.turns.judged(await decide(ear.samples()))
                case Ended(at_s=at_s):
                    ear.take()
                    ends.append(at_s)
                case _:
                    pass
    return ends


def _median(values: Sequence[float]) -> float:
    return statistics.median(values) if values else 0.0
