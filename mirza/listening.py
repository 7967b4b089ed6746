"""`Listening`: the half of a conversation that listens. What the user's voice means, from the first sound to an answer.

The ear tells what it hears: a turn that begins, pauses, goes on and ends is understood, judged, answered or dropped.
`mirza.answers` is the half that speaks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from mirza.answers import Answers
from mirza.audio.base import Block, Samples
from mirza.audio.player import Player
from mirza.errors import MirzaError
from mirza.events import (
    Event,
    Heard,
    PartialHeard,
    SpeechEnded,
    SpeechStarted,
    State,
    TurnDropped,
    TurnEnded,
    TurnReopened,
)
from mirza.llm.base import ThinkingBudget
from mirza.parts import Parts
from mirza.settings import SettingsTree
from mirza.speech.base import Transcript
from mirza.speech.ear import AWAKE_S, Ear, Utterance
from mirza.speech.hearing import Hearing
from mirza.speech.interruption import Interruption
from mirza.speech.own_voice import OwnVoice
from mirza.speech.patience import patience
from mirza.speech.phrases import Meaning, meaning, plain, thinking_request, unfinished
from mirza.speech.turns import Began, Ended, Faded, Overlap, OverlapEnded, Paused, Signal, WentOn

PARTIAL_EVERY_S = 0.5

HEAD_START_S = 0.3
"""So long the model may read a question before the turn's end is judged, at most."""

REOPEN_S = 2.0
"""A user who speaks again this soon after a turn, before its answer is audible, goes on with that turn."""


@dataclass(slots=True, eq=False)
class _Turn:
    """A turn of the user, from its first sound to its transcript."""

    number: int
    hearing: Hearing
    began_s: float = 0.0
    interrupting: bool = False
    understanding: asyncio.Task[Transcript] | None = None
    """What may be the whole of it is being recognised."""
    judging: asyncio.Task[None] | None = None
    """An answer is prepared in case it is, and whether it is, decided."""
    replying: asyncio.Task[None] | None = None
    utterance: Utterance | None = None
    looked_s: float = 0.0
    """When what was said so far was last recognised."""
    closed: bool = False
    """It was no turn, or its answer has been heard: a voice now is a new turn."""


class Listening:
    """Listens to one microphone, for one conversation.

    `number` gives the next turn its number; `interrupt` stops an answer and returns when what was heard of it is
    remembered; `enter` and `rest` change the conversation's state; `start` runs a task of the conversation's.

    Raises:
        MirzaError: there is nothing to detect a voice, or to recognise it.
    """

    def __init__(
        self,
        parts: Parts,
        settings: SettingsTree,
        answers: Answers,
        player: Player,
        *,
        number: Callable[[], int],
        interrupt: Callable[[], Awaitable[None]],
        set_thinking: Callable[[ThinkingBudget], None],
        enter: Callable[[State], None],
        rest: Callable[[], None],
        start: Callable[[Coroutine[Any, Any, Any]], asyncio.Task[Any]],
        emit: Callable[[Event], None],
        now_s: Callable[[], float],
    ) -> None:
        if parts.vad is None or parts.stt is None:
            raise MirzaError(
                "A spoken conversation needs voice detection and recognition.", "Give it both, or no sound."
            )
        self.ear = Ear(parts.vad, settings.turns, echo=parts.echo, wake_word=parts.wake_word)
        self._llm, self._stt, self._judge = parts.llm, parts.stt, parts.end_of_turn
        self._settings, self._answers = settings, answers
        self._number, self._interrupt, self._set_thinking = number, interrupt, set_thinking
        self._enter, self._rest, self._start, self._emit, self._now_s = enter, rest, start, emit, now_s
        self._own_voice = OwnVoice()
        self._turn: _Turn | None = None
        self._following: asyncio.Task[None] | None = None
        self._interrupted = False
        self._interruption = Interruption(
            settings.turns,
            player,
            recognise=self._over_the_voice,
            take_floor=self._take_floor,
            resumed=self.ear.drop,
            start=start,
            emit=emit,
        )

    # --- what the other half, and the keyboard, tell ------------------------------------------------------------------

    def hear(self, block: Block) -> None:
        """Takes the next block of the microphone."""
        self.ear.turns.audible = self._assistant_has_the_floor()
        for signal in self.ear.hear(block):  # echo, vad, turns
            self._follow(signal)

    def audible(self) -> None:
        """The answer can be heard: the turn is not taken up again."""
        self._close()

    def says(self, words: str) -> None:
        """The assistant says `words`, which may come back to the microphone."""
        self._own_voice.says(words, self._now_s())

    def answered(self, turn: int) -> None:
        """The answer to `turn` has ended."""
        if self._turn is not None and self._turn.number == turn:
            self._close()
        self.ear.stay_awake(self._now_s() + AWAKE_S)
        self._interruption.reset()

    async def typed(self) -> None:
        """The user types. A turn that was spoken before is understood first, one that is being spoken comes after."""
        turn = self._turn
        if turn is not None and turn.replying is not None:
            await asyncio.wait([turn.replying])
        if not self.ear.turns.talking:
            self._close()

    def stop(self) -> None:
        """There is no sound any more."""
        self._stop_following()

    # --- a turn -------------------------------------------------------------------------------------------------------

    def _follow(self, signal: Signal) -> None:
        """What the user's voice means."""
        match signal:
            case Began(voice_start_s):
                self._began(voice_start_s)
            case Faded() if self._turn:
                self._faded(self._turn)
            case Paused(voice_end_s) if self._turn:
                self._paused(self._turn, voice_end_s)
            case WentOn() if self._turn:
                self._went_on(self._turn)
            case Ended() if self._turn:
                self._ended(self._turn)
            case Overlap(voiced_s, at_s):
                self._interruption.grew(voiced_s, at_s, self.ear.samples)
            case OverlapEnded(voiced_s, at_s):
                self._interruption.ended(voiced_s, at_s, self.ear.samples())
            case _:
                pass

    def _began(self, voice_start_s: float) -> None:
        """Someone speaks: a new turn begins, or the last one goes on."""
        self._emit(SpeechStarted(voice_start_s))
        last = self._turn
        if last is not None and last.utterance is not None and not last.closed:
            self.ear.put_back(last.utterance)
            self._turn = _Turn(last.number, last.hearing, last.began_s, last.interrupting)
            self._withdraw(last)
            self._emit(TurnReopened(voice_start_s))
        else:
            hearing = Hearing(self._stt, self._settings.stt.spoken)
            self._turn = _Turn(self._number(), hearing, voice_start_s, self._interrupted)
        self._interrupted, self._turn.looked_s = False, self._now_s()
        self._enter(State.HEARING)
        self._following = self._start(self._follow_along(self._turn))

    def _faded(self, turn: _Turn) -> None:
        """It may be the end: understand what was said."""
        self._stop_following()
        turn.understanding = self._start(turn.hearing.whole(self.ear.utterance()))  # stt

    def _paused(self, turn: _Turn, voice_end_s: float) -> None:
        """Silence: judge whether it was all."""
        self._emit(SpeechEnded(voice_end_s))
        if turn.understanding is None:
            self._faded(turn)
        assert turn.understanding is not None
        turn.judging = self._start(self._weigh(turn, turn.understanding, self.ear.samples()))

    def _went_on(self, turn: _Turn) -> None:
        """It was not all."""
        for task in (turn.understanding, turn.judging):
            if task is not None:
                task.cancel()
        turn.understanding = turn.judging = None
        self._withdraw(turn)
        self._following = self._start(self._follow_along(turn))

    def _ended(self, turn: _Turn) -> None:
        """It was: answer."""
        assert turn.understanding is not None
        turn.utterance = self.ear.take()
        self._emit(TurnEnded(self._now_s()))
        self._enter(State.THINKING)
        turn.replying = self._start(self._reply(turn, turn.understanding))

    async def _weigh(self, turn: _Turn, understanding: asyncio.Task[Transcript], samples: Samples) -> None:
        """Prepares the answer to what may be a whole turn, in case it is, and judges whether it is.

        One after the other: words, the question read by the model, the verdict. The first sound waits for the former
        two, and on few cores the judge would only slow them down.
        """
        await asyncio.wait([understanding])
        if understanding.cancelled() or understanding.exception() is not None:
            return  # that was told; the turn ends when its time is up
        transcript = understanding.result()
        if self._may_prepare(turn, transcript):
            answer = self._answers.prepare(turn.number, transcript.text, transcript.language)
            with suppress(TimeoutError):
                await asyncio.wait_for(answer.begun.wait(), HEAD_START_S)
        complete = await self._judge.probability(samples) if self._judge is not None else None
        self.ear.turns.judged(patience(complete, transcript, self._settings.turns))

    async def _reply(self, turn: _Turn, understanding: asyncio.Task[Transcript]) -> None:
        """Answers a turn that is over, if it was one."""
        await asyncio.wait([understanding])
        if self._turn is not turn:
            return  # it was reopened meanwhile
        if understanding.exception() is not None:
            self._leave_unanswered(turn)
            return
        transcript = understanding.result()
        if reason := self._no_turn(turn, transcript):
            self._emit(TurnDropped(reason, transcript.text, self._now_s()))
            self._leave_unanswered(turn)
            return
        current = self._answers.current
        if current is not None and current.turn != turn.number:
            await self._interrupt()  # something was typed while this was being said
            self._enter(State.THINKING)
        text, language = transcript.text, transcript.language
        if wish := thinking_request(text, language, self._llm.budget):
            self._set_thinking(wish.budget)
        self._emit(Heard(turn.number, text, language, self._now_s()))
        self._answers.release(turn.number, text, language)  # llm, speech text, tts, loudspeaker, history

    def _leave_unanswered(self, turn: _Turn) -> None:
        """The turn is over, and an answer that was prepared for it never was."""
        turn.closed = True
        self._withdraw(turn)
        self._rest()

    def _withdraw(self, turn: _Turn) -> None:
        """An answer to `turn`, if there is one, never was."""
        answer = self._answers.current
        if answer is not None and answer.turn == turn.number:
            self._answers.withdraw()

    async def _follow_along(self, turn: _Turn) -> None:
        """Understands the user while they talk, and feeds the model what is sure of it."""
        known = ""
        while True:
            # Not from now on: a gap between two words, and there may be many, puts off no look.
            await asyncio.sleep(max(0.0, turn.looked_s + PARTIAL_EVERY_S - self._now_s()))
            turn.looked_s = self._now_s()
            heard = await turn.hearing.so_far(self.ear.utterance())
            if not heard.text or heard.text == known:
                continue
            known = heard.text
            self._emit(PartialHeard(known, self._now_s()))
            words = known.split()
            if len(words) > 1 and self._settings.conversation.prefill and self._answers.current is None:
                await self._answers.prefill(" ".join(words[:-1]))  # the last word may still change

    def _may_prepare(self, turn: _Turn, heard: Transcript) -> bool:
        """Whether an answer may be prepared already: plain speech, that changes nothing and stops nothing."""
        if not self._settings.conversation.speculate or self._answers.current is not None:
            return False
        if self._no_turn(turn, heard) or unfinished(heard.text, heard.language):
            return False
        return not thinking_request(heard.text, heard.language, self._llm.budget)

    def _no_turn(self, turn: _Turn, heard: Transcript) -> str:
        """Why what was heard is no turn, or nothing."""
        if not plain(heard.text):
            return "no words"
        if self._own_voice.said(heard.text, turn.began_s):
            return "the assistant's own voice"
        if turn.interrupting:
            return {Meaning.STOP: "stop", Meaning.ASSENT: "assent"}.get(meaning(heard.text, heard.language), "")
        return ""

    def _close(self) -> None:
        if self._turn is not None:
            self._turn.closed = True

    def _stop_following(self) -> None:
        if self._following is not None:
            self._following.cancel()
            self._following = None

    # --- interruptions ------------------------------------------------------------------------------------------------

    def _assistant_has_the_floor(self) -> bool:
        """Whether a voice now is over the assistant's: from its first sound, or when it has been thinking for long."""
        answer = self._answers.current
        if answer is None or answer.released_s is None:
            return False
        return answer.audible or self._now_s() - answer.released_s > REOPEN_S

    async def _over_the_voice(self, samples: Samples, final: bool) -> tuple[str, str]:
        """What was said over the assistant's voice, and its language; nothing where it is the assistant's own."""
        heard = await self._stt.transcribe(samples, language=self._settings.stt.spoken, partial=not final)
        if not self._settings.turns.barge_in or self._own_voice.said(heard.text, self._now_s()):
            return "", heard.language
        if not heard.sure and meaning(heard.text, heard.language) is not Meaning.STOP:
            return "", heard.language  # laughter
        wish = thinking_request(heard.text, heard.language, self._llm.budget)
        if wish is not None and not wish.rest:  # "just answer", into a thought: the thought obeys and goes on
            self._set_thinking(wish.budget)
            return "", heard.language
        return heard.text, heard.language

    def _take_floor(self, wish: Meaning) -> None:
        """The user interrupts: silence first, then a turn of theirs."""
        self._answers.interrupt()
        self._interruption.reset()
        self._close()
        self._interrupted = True
        if not self.ear.turns.talking:
            for signal in self.ear.begin(self._now_s()):
                self._follow(signal)
