"""Judges a take: did every turn get its answer, was nothing cut off, is what was remembered what was heard?

The ears of the judge are a recogniser that Mirza does not use: Whisper listens to the loudspeaker's channel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mirza import models
from mirza.audio.base import MIC_RATE, Samples
from mirza.audio.resample import resample
from mirza.bench.measure import Outcome, Span, false_signs, outcomes, self_heard, spans
from mirza.bench.script import Means, Script
from mirza.bench.take import Take
from mirza.bench.words import plain_words, word_error_rate
from mirza.errors import MirzaError
from mirza.speech.stt.whisper import WhisperStt

MODEL = "whisper-tiny-en"
LONG_ENOUGH = 8
"""Words of an answer: of shorter ones a single word misheard would be a large part."""


class Judge:
    """Listens to answers."""

    def __init__(self, cache: Path) -> None:
        if not models.is_pulled(models.find(MODEL), cache):
            raise MirzaError("The judge's ears are not here.", f"Fetch them: mirza models pull {MODEL}")
        self._stt = WhisperStt(MODEL, cache)

    async def open(self) -> None:
        """Loads its ears."""
        await self._stt.load()

    async def close(self) -> None:
        """Gives their memory back."""
        await self._stt.unload()

    async def hears(self, loudspeaker: Samples, rate: int, span: Span) -> str:
        """The words in a stretch of a recording."""
        margin = 0.2
        part = loudspeaker[max(round((span.start_s - margin) * rate), 0) : round((span.end_s + margin) * rate)]
        return (await self._stt.transcribe(resample(part, rate, MIC_RATE), language="en")).text


@dataclass(slots=True)
class Verdict:
    """One take, judged."""

    script: str
    group: str
    system: str
    recording: str
    outcomes: list[Outcome] = field(default_factory=list[Outcome])
    turns_expected: int = 0
    turns_heard: int = 0
    heard: list[str] = field(default_factory=list[str])
    said: list[str] = field(default_factory=list[str])
    audible: list[str] = field(default_factory=list[str])
    """Each answer, as the judge heard it."""
    end_of_turn_s: list[float] = field(default_factory=list[float])
    first_token_s: list[float] = field(default_factory=list[float])
    """From the last sample of the user's line to the first token of the answer to it."""
    prefilled_tokens: list[int] = field(default_factory=list[int])
    heard_wer: float | None = None
    answer_wer: list[float] = field(default_factory=list[float])
    """Of whole answers: what was audible against what was said."""
    history_wer: list[float] = field(default_factory=list[float])
    """Of interrupted answers: what was audible against what is remembered."""
    history_words: list[int] = field(default_factory=list[int])
    """Of interrupted answers: words remembered less words audible."""
    underruns: int | None = None
    reopened: int = 0
    self_heard: int = 0
    false_signs: int = 0
    """How often the voice was lowered although nobody spoke."""
    talked_s: float = 0.0
    spoken_s: float = 0.0
    """How long the loudspeaker was audible in it."""
    faults: list[str] = field(default_factory=list[str])
    load: float = 0.0
    resident_mb: float = 0.0

    def count(self, what: str) -> int:
        """How many lines came to this: `cut_off`, `missed` or `false_stop`."""
        flags = {
            "cut_off": [outcome.cut_off for outcome in self.outcomes],
            "missed": [outcome.missed for outcome in self.outcomes],
            "false_stop": [outcome.false_stop for outcome in self.outcomes],
        }
        return sum(flags[what])


async def judge(script: Script, take: Take, loudspeaker: Samples, rate: int, ears: Judge | None) -> Verdict:
    """What is right and what is wrong with a take. `loudspeaker` is the right channel of its recording."""
    verdict = Verdict(script.name, script.group, take.system, take.recording)
    verdict.outcomes = outcomes(script, take, loudspeaker, rate)
    verdict.turns_expected, verdict.turns_heard = len(script.questions), len(take.turns)
    verdict.heard, verdict.said = [turn.heard for turn in take.turns], [turn.said for turn in take.turns]
    verdict.underruns, verdict.reopened = take.underruns, take.reopened
    verdict.load, verdict.resident_mb = take.load, take.resident_mb
    verdict.heard_wer = word_error_rate(" ".join(script.questions), " ".join(verdict.heard))
    verdict.talked_s = len(loudspeaker) / rate
    verdict.spoken_s = sum(span.end_s - span.start_s for span in spans(loudspeaker, rate))
    if script.room is not None:
        verdict.self_heard, verdict.false_signs = self_heard(take), false_signs(take)
    _stages(verdict, take)
    if ears is not None:
        await _listen(verdict, take, loudspeaker, rate, ears)
    verdict.faults = [*take.failures, *_faults(script, take, verdict)]
    return verdict


def _questions(verdict: Verdict) -> list[Outcome]:
    return [outcome for outcome in verdict.outcomes if outcome.means in (Means.TURN, Means.INTERRUPTION)]


def _stages(verdict: Verdict, take: Take) -> None:
    """End of turn and first token are not audible: they are the system's own times, on the recording's clock."""
    asked = _questions(verdict)
    if len(asked) != len(take.turns):
        return  # which turn is the answer to which line?
    ends = {placed.line: placed.voice_end_s for placed in take.placed}
    for outcome, turn in zip(asked, take.turns, strict=True):
        if turn.ended_s is not None:
            verdict.end_of_turn_s.append(turn.ended_s - ends[outcome.line])
        if turn.first_token_s is not None:
            verdict.first_token_s.append(turn.first_token_s - ends[outcome.line])
        if turn.prefilled_tokens is not None:
            verdict.prefilled_tokens.append(turn.prefilled_tokens)


async def _listen(verdict: Verdict, take: Take, loudspeaker: Samples, rate: int, ears: Judge) -> None:
    asked = _questions(verdict)
    if len(asked) != len(take.turns):
        return
    for outcome, turn in zip(asked, take.turns, strict=True):
        audible = await ears.hears(loudspeaker, rate, outcome.answer) if outcome.answer else ""
        verdict.audible.append(audible)
        if turn.interrupted:
            verdict.history_wer.append(word_error_rate(turn.said, audible))
            verdict.history_words.append(len(plain_words(turn.said)) - len(plain_words(audible)))
        elif len(plain_words(turn.said)) >= LONG_ENOUGH:
            verdict.answer_wer.append(word_error_rate(turn.said, audible))


def _faults(script: Script, take: Take, verdict: Verdict) -> Sequence[str]:
    """What the script wanted and did not get, one sentence each."""
    faults: list[str] = []
    if verdict.turns_heard != verdict.turns_expected:
        faults.append(f"{verdict.turns_heard} turns instead of {verdict.turns_expected}: {verdict.heard}")
    unsaid = len(script.lines) - len(take.placed)
    if unsaid:
        faults.append(f"{unsaid} of the lines were never said")
    for outcome in verdict.outcomes:
        words = script.lines[outcome.line].text or script.lines[outcome.line].sound
        if outcome.line in take.missed:
            faults.append(f"there was no answer any more to say {words!r} over")
        if outcome.cut_off:
            faults.append(f"{words!r} was cut off")
        if outcome.missed:
            faults.append(f"{words!r} did not interrupt")
        if outcome.false_stop:
            nobody = outcome.means in (Means.TURN, Means.INTERRUPTION)
            faults.append(f"nobody stopped the answer to {words!r}" if nobody else f"{words!r} stopped the answer")
        late = outcome.silence_s is not None and not outcome.missed and outcome.silence_s > script.silent_within_s
        if late:
            faults.append(f"silent {outcome.silence_s:.2f} s after {words!r}, not {script.silent_within_s:.2f} s")
        if outcome.means in (Means.TURN, Means.INTERRUPTION):
            if outcome.voice_to_voice_s is None:
                faults.append(f"{words!r} was never answered")
            elif script.within_s is not None and outcome.voice_to_voice_s > script.within_s:
                faults.append(f"answered after {outcome.voice_to_voice_s:.2f} s, not {script.within_s:.2f} s")
    return faults
