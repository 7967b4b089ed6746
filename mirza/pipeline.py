"""One conversation, ears to mouth. Read this first.

    microphone ─▶ echo ─▶ vad ─▶ turns ─▶ stt ─▶ llm ─▶ speech text ─▶ tts ─▶ loudspeaker ─▶ what was heard ─▶ history

Each word is a file: `audio/` has microphone, echo and loudspeaker; `speech/` has vad, turns, stt, text, tts; `llm/` and
`history.py` are what they say. `Conversation` is the only writer of its state, on one asyncio loop. `_live` is the line
above, block by block; `_follow` is what the user's voice means; `mirza.answers` is the half that speaks. With no
`sound`, the same conversation runs on a keyboard.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from typing import Any, Self

from loguru import logger

from mirza.answer import Answer
from mirza.answers import Answers
from mirza.audio.base import Samples, Sound
from mirza.errors import MirzaError
from mirza.events import (
    Event,
    Failed,
    Heard,
    Notice,
    PartialHeard,
    SpeechDelta,
    SpeechEnded,
    SpeechStarted,
    State,
    StateChanged,
    ThinkingBudgetChanged,
    TurnDropped,
    TurnEnded,
    TurnReopened,
)
from mirza.history import History
from mirza.llm.base import BaseLlm, OnProgress, ThinkingBudget, Tool
from mirza.metrics import Metrics
from mirza.settings import SettingsTree
from mirza.speech.base import EndOfTurn, Stt, Transcript, Tts, Vad
from mirza.speech.ear import AWAKE_S, Ear, Echo, Utterance, WakeWord
from mirza.speech.hearing import Hearing
from mirza.speech.interruption import Interruption
from mirza.speech.mouth import Mouth, Output, Page, Ticks
from mirza.speech.own_voice import OwnVoice
from mirza.speech.patience import patience
from mirza.speech.phrases import Meaning, meaning, plain, thinking_request, unfinished
from mirza.speech.text import SpeechText
from mirza.speech.turns import Began, Ended, Faded, Overlap, OverlapEnded, Paused, Signal, WentOn
from mirza.watchers import Watcher, Watchers

PARTIAL_EVERY_S = 0.5

HEAD_START_S = 0.3
"""So long the model may read a question before the turn's end is judged, at most."""

REOPEN_S = 2.0
"""A user who speaks again this soon after a turn, before its answer is audible, goes on with that turn."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What a conversation is made of: `mirza.build` reads it off the settings, tests take `mirza.testing`'s doubles."""

    llm: BaseLlm
    sound: Sound | None = None
    vad: Vad | None = None
    end_of_turn: EndOfTurn | None = None
    stt: Stt | None = None
    tts: Tts | None = None
    echo: Echo | None = None
    wake_word: WakeWord | None = None
    tools: Sequence[Tool] = ()


@dataclass(slots=True, eq=False)
class _Turn:
    """A turn of the user, from its first sound to its transcript."""

    number: int
    began_s: float = 0.0
    interrupting: bool = False
    hearing: Hearing | None = None
    understanding: asyncio.Task[Transcript] | None = None
    """What may be the whole of it is being recognised."""
    judging: asyncio.Task[None] | None = None
    """An answer is prepared in case it is, and whether it is, decided."""
    utterance: Utterance | None = None
    looked_s: float = 0.0
    """When what was said so far was last recognised."""
    closed: bool = False
    """It was no turn, or its answer has been heard: a voice now is a new turn."""


class Conversation:
    """A conversation. `async with` loads its models and starts it, and leaves nothing running behind."""

    def __init__(
        self,
        parts: Parts,
        settings: SettingsTree | None = None,
        history: History | None = None,
        on_progress: OnProgress | None = None,
    ) -> None:
        self.parts, self.settings = parts, settings or SettingsTree()
        self.history = history or History()
        self.state = State.LOADING
        self.ear: Ear | None = None
        self.voice = self.settings.tts.voice
        self._on_progress = on_progress
        self._watchers, self._metrics = Watchers(), Metrics()
        self._ticks, self._own_voice = Ticks(), OwnVoice()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._following: asyncio.Task[None] | None = None
        self._turn = _Turn(0)
        self._interruption: Interruption | None = None
        self._interrupted = False
        self._opened = AsyncExitStack()
        self._living: asyncio.Task[None] | None = None
        self._answers = Answers(
            parts.llm,
            self.history,
            system=self.settings.llm.system,
            tools=parts.tools,
            output=self._output,
            start=self._start,
            emit=self._emit,
            now_s=self.now_s,
            ended=self._answer_ended,
            cue_after_s=self.settings.conversation.cue_after_s,
        )

    # --- ears to mouth -----------------------------------------------------------------------------------------------

    async def _live(self, sound: Sound, ear: Ear) -> None:
        async for block in sound.blocks():  # microphone
            self._ticks.tick()  # the loudspeaker played a block: a mouth that waited for it goes on
            ear.turns.audible = self._assistant_has_the_floor()
            for signal in ear.hear(block):  # echo, vad, turns
                self._follow(signal)
            self._announce()

    def _follow(self, signal: Signal) -> None:
        """What the user's voice means."""
        match signal:
            case Began(voice_start_s):
                self._user_began(voice_start_s)
            case Faded():
                self._user_faded()
            case Paused(voice_end_s):
                self._user_paused(voice_end_s)
            case WentOn():
                self._user_went_on()
            case Ended():
                self._user_ended()
            case Overlap(voiced_s, at_s) if self._interruption and self.ear:
                self._interruption.grew(voiced_s, at_s, self.ear.samples)
            case OverlapEnded(voiced_s, at_s) if self._interruption and self.ear:
                self._interruption.ended(voiced_s, at_s, self.ear.samples())
            case _:
                pass

    def _user_began(self, voice_start_s: float) -> None:
        """Someone speaks: a new turn begins, or the last one goes on."""
        assert self.ear is not None
        assert self.parts.stt is not None
        self._emit(SpeechStarted(voice_start_s))
        last = self._turn
        if last.utterance is not None and not last.closed:
            self.ear.put_back(last.utterance)
            self._turn = _Turn(last.number, last.began_s, last.interrupting, last.hearing)
            self._answers.withdraw()
            self._emit(TurnReopened(voice_start_s))
        else:
            hearing = Hearing(self.parts.stt, self._spoken_language())
            self._turn = _Turn(last.number + 1, voice_start_s, self._interrupted, hearing)
        self._interrupted, self._turn.looked_s = False, self.now_s()
        self._enter(State.HEARING)
        self._following = self._start(self._follow_along(self._turn))

    def _user_faded(self) -> None:
        """It may be the end: understand what was said."""
        assert self.ear is not None
        self._stop_following()
        self._turn.understanding = self._start(self._understand(self._turn, self.ear.utterance()))

    def _user_paused(self, voice_end_s: float) -> None:
        """Silence: judge whether it was all."""
        assert self.ear is not None
        self._emit(SpeechEnded(voice_end_s))
        if self._turn.understanding is None:
            self._user_faded()
        self._turn.judging = self._start(self._judge(self._turn, self.ear.samples()))

    def _user_went_on(self) -> None:
        """It was not all."""
        for task in (self._turn.understanding, self._turn.judging):
            if task is not None:
                task.cancel()
        self._turn.understanding = self._turn.judging = None
        if self._answers.current is not None:
            self._answers.withdraw()
        self._following = self._start(self._follow_along(self._turn))

    def _user_ended(self) -> None:
        """It was: answer."""
        assert self.ear is not None
        self._turn.utterance = self.ear.take()
        self._emit(TurnEnded(self.now_s()))
        self._enter(State.THINKING)
        self._start(self._reply(self._turn))

    async def _understand(self, turn: _Turn, utterance: Utterance) -> Transcript:
        """Recognises what may be a whole turn."""
        assert turn.hearing is not None
        return await turn.hearing.whole(utterance)  # stt

    async def _judge(self, turn: _Turn, samples: Samples) -> None:
        """Prepares the answer to what may be a whole turn, in case it is, and judges whether it is.

        One after the other: words, the question read by the model, the verdict. The first sound waits for the former
        two, and on few cores the judge would only slow them down.
        """
        assert turn.understanding is not None
        await asyncio.wait([turn.understanding])
        if turn.understanding.cancelled() or turn.understanding.exception() is not None:
            return  # that was told; the turn ends when its time is up
        transcript, judge = turn.understanding.result(), self.parts.end_of_turn
        if self.settings.conversation.speculate and self._wants_an_answer(turn, transcript):
            answer = self._answers.prepare(turn.number, transcript.text, transcript.language)
            with suppress(TimeoutError):
                await asyncio.wait_for(answer.begun.wait(), HEAD_START_S)
        complete = await judge.probability(samples) if judge is not None else None
        if self.ear is not None:
            self.ear.turns.judged(patience(complete, transcript, self.settings.turns))

    async def _reply(self, turn: _Turn) -> None:
        """Answers a turn that is over, if it was one."""
        assert turn.understanding is not None
        await asyncio.wait([turn.understanding])
        if self._turn is not turn:
            return  # it was reopened meanwhile
        if turn.understanding.exception() is not None:
            self._leave_unanswered(turn)
            return
        transcript = turn.understanding.result()
        if reason := self._no_turn(turn, transcript):
            self._emit(TurnDropped(reason, transcript.text, self.now_s()))
            self._leave_unanswered(turn)
            return
        text, language = transcript.text, transcript.language
        if wish := thinking_request(text, language, self.parts.llm.budget):
            self.set_thinking(wish.budget)
        self._emit(Heard(turn.number, text, language, self.now_s()))
        self._answers.release(turn.number, text, language)  # llm, speech text, tts, loudspeaker, history

    def _leave_unanswered(self, turn: _Turn) -> None:
        """The turn is over, and an answer that was prepared for it never was."""
        turn.closed = True
        prepared = self._answers.current
        if prepared is not None and prepared.turn == turn.number:
            self._answers.withdraw()
        self._rest()

    async def _follow_along(self, turn: _Turn) -> None:
        """Understands the user while they talk, and feeds the model what is sure of it."""
        assert turn.hearing is not None
        assert self.ear is not None
        known = ""
        while True:
            # Not from now on: a gap between two words, and there may be many, puts off no look.
            await asyncio.sleep(max(0.0, turn.looked_s + PARTIAL_EVERY_S - self.now_s()))
            turn.looked_s = self.now_s()
            heard = await turn.hearing.so_far(self.ear.utterance())
            if not heard.text or heard.text == known:
                continue
            known = heard.text
            self._emit(PartialHeard(known, self.now_s()))
            words = known.split()
            if len(words) > 1 and self.settings.conversation.prefill and self._answers.current is None:
                await self._answers.prefill(" ".join(words[:-1]))  # the last word may still change

    # --- interruptions -----------------------------------------------------------------------------------------------

    def _assistant_has_the_floor(self) -> bool:
        """Whether a voice now is over the assistant's: from its first sound, or when it has been thinking for long."""
        answer = self._answers.current
        if answer is None or answer.released_s is None:
            return False
        return answer.audible or self.now_s() - answer.released_s > REOPEN_S

    async def _over_the_voice(self, samples: Samples, final: bool) -> tuple[str, str]:
        """What was said over the assistant's voice, and its language; nothing where it is the assistant's own."""
        assert self.parts.stt is not None
        heard = await self.parts.stt.transcribe(samples, language=self._spoken_language(), partial=not final)
        if not self.settings.turns.barge_in or self._own_voice.said(heard.text, self.now_s()):
            return "", heard.language
        if not heard.sure and meaning(heard.text, heard.language) is not Meaning.STOP:
            return "", heard.language  # laughter
        wish = thinking_request(heard.text, heard.language, self.parts.llm.budget)
        if wish is not None and not wish.rest:  # "just answer", into a thought: the thought obeys and goes on
            self.set_thinking(wish.budget)
            return "", heard.language
        return heard.text, heard.language

    def _take_floor(self, wish: Meaning) -> None:
        """The user interrupts: silence first, then a turn of theirs."""
        self._answers.interrupt()
        if self._interruption is not None:
            self._interruption.reset()
        self._turn.closed = self._interrupted = True
        if self.ear is not None and not self.ear.turns.talking:
            for signal in self.ear.begin(self.now_s()):
                self._follow(signal)

    # --- what the other half needs -----------------------------------------------------------------------------------

    def _output(self, turn: int, language: str) -> Output:
        if self.parts.sound is None or self.parts.tts is None:
            return Page()
        return Mouth(
            self.parts.tts,
            self.parts.sound.player,
            self._ticks,
            self._emit,
            self.now_s,
            turn=turn,
            language=language,
            voice=self.voice,
            first_id=self._answers.next_piece,
        )

    def _answer_ended(self, answer: Answer) -> None:
        if answer.turn == self._turn.number:
            self._turn.closed = True
        if self.ear is not None:
            self.ear.stay_awake(self.now_s() + AWAKE_S)
        if self._interruption is not None:
            self._interruption.reset()
        self._rest()

    def _announce(self) -> None:
        """Says which piece of the answer has become audible."""
        answer = self._answers.current
        if answer is not None and isinstance(answer.output, Mouth):
            was = answer.audible
            answer.output.announce()
            if answer.audible and not was:
                self._turn.closed = True
                self._enter(State.SPEAKING)
            if answer.audible:
                self._own_voice.says(answer.output.spoken_lately(), self.now_s())

    def _wants_an_answer(self, turn: _Turn, heard: Transcript) -> bool:
        """Whether an answer may be prepared already: plain speech, that changes nothing and stops nothing."""
        if self._no_turn(turn, heard) or unfinished(heard.text, heard.language):
            return False
        return not thinking_request(heard.text, heard.language, self.parts.llm.budget)

    def _no_turn(self, turn: _Turn, heard: Transcript) -> str:
        """Why what was heard is no turn, or nothing."""
        if not plain(heard.text):
            return "no words"
        if self._own_voice.said(heard.text, turn.began_s):
            return "the assistant's own voice"
        if turn.interrupting:
            return {Meaning.STOP: "stop", Meaning.ASSENT: "assent"}.get(meaning(heard.text, heard.language), "")
        return ""

    def _stop_following(self) -> None:
        if self._following is not None:
            self._following.cancel()
            self._following = None

    def _spoken_language(self) -> str | None:
        language = self.settings.stt.language
        return None if language == "auto" else language

    # --- for whoever holds the conversation --------------------------------------------------------------------------

    def watch(self) -> Watcher:
        """Every event from now on; ends when the conversation closes."""
        return self._watchers.add()

    async def say(self, text: str) -> None:
        """A typed turn; it interrupts a running answer. Returns when the answer has ended."""
        await self.interrupt()
        self._turn = _Turn(self._turn.number + 1)
        language = self._spoken_language() or "en"
        if wish := thinking_request(text, language, self.parts.llm.budget):
            self.set_thinking(wish.budget)
        self._emit(Heard(self._turn.number, text, language, self.now_s(), typed=True))
        self._enter(State.THINKING)
        answer = self._answers.release(self._turn.number, text, language)
        assert answer.task is not None
        await asyncio.wait([answer.task])

    async def interrupt(self) -> None:
        """Stops the answer: silence within one block, then what was heard of it is remembered."""
        answer = self._answers.interrupt()
        if answer is not None and answer.task is not None:
            await asyncio.wait([answer.task])

    def set_thinking(self, budget: ThinkingBudget) -> None:
        """Changes how much may be thought: lowered, at once; raised, from the next thought on."""
        self.parts.llm.set_budget(budget)
        self._emit(ThinkingBudgetChanged(str(budget), self.now_s()))

    def notify(self, text: str) -> None:
        """Tells all who watch something that the user should know."""
        self._emit(Notice(text, self.now_s()))

    def set_volume(self, volume: float) -> None:
        """Changes the loudness of the voice, 0 .. 1."""
        if self.parts.sound is not None:
            self.parts.sound.player.volume = volume

    def set_muted(self, muted: bool) -> None:
        """Stops, or starts again, listening."""
        if self.ear is not None:
            self.ear.muted = muted

    def set_talking(self, held: bool) -> None:
        """The push-to-talk key is down, or was let go."""
        if self.ear is not None:
            self.ear.hold_key(held)

    async def recall(self, name: str) -> None:
        """Goes on with the conversation kept under `name`: the model takes up its state, ahead of the next turn."""
        if await self.parts.llm.load_conversation(name) and self.history.messages:
            await self._answers.catch_up()

    async def keep(self, name: str) -> None:
        """Keeps the model's state under `name`, to be taken up after a restart."""
        if self.history.messages:
            await self._answers.keep(name)

    async def reset(self) -> None:
        """Forgets the conversation."""
        await self.interrupt()
        self.history.clear()

    async def undo(self) -> str | None:
        """Takes the last exchange back; returns what the user had said, or `None` where there was nothing."""
        await self.interrupt()
        return self.history.undo()

    async def retry(self) -> None:
        """Answers the last question again."""
        text = await self.undo()
        if text is not None:
            await self.say(text)

    def idle(self) -> bool:
        """Whether nobody speaks, and nothing is being understood or answered."""
        talking = self.ear is not None and self.ear.turns.talking
        return not talking and self._answers.current is None and not self._tasks

    async def settled(self) -> None:
        """Returns when nobody speaks any more, and the last answer has been heard."""
        await self._ticks.until(self.idle)

    async def pass_time(self, seconds: float) -> None:
        """Returns when that much sound has passed."""
        until_s = self.now_s() + seconds
        await self._ticks.until(lambda: self.now_s() >= until_s)

    def now_s(self) -> float:
        """Seconds on the conversation's clock: samples where there is sound, the event loop's clock where not."""
        if self.parts.sound is not None:
            return self.parts.sound.now_s()
        return asyncio.get_running_loop().time()

    async def finished(self) -> None:
        """Returns when the sound has ended: a recording is over.

        Raises:
            MirzaError: it ended because something failed.
        """
        if self._living is not None:
            await asyncio.shield(self._living)

    # --- life --------------------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        self._emit(StateChanged(State.LOADING, 0.0))
        parts = self.parts
        try:
            await parts.llm.load(self.settings.llm.system, parts.tools, self._on_progress)
            self._opened.push_async_callback(parts.llm.unload)
            parts.llm.set_budget(ThinkingBudget.parse(self.settings.llm.thinking_budget))
            for engine in (parts.end_of_turn, parts.stt, parts.tts):
                if engine is not None:
                    await engine.load()
                    self._opened.push_async_callback(engine.unload)
            if parts.tts is not None:
                SpeechText(self._spoken_language() or "en")  # its tables are made once: not in the first answer
            if parts.sound is not None:
                await parts.sound.open()
                self._opened.push_async_callback(parts.sound.close)
                self._listen(parts.sound)
        except BaseException:
            await self._opened.aclose()
            raise
        self._rest()
        return self

    def _listen(self, sound: Sound) -> None:
        if self.parts.vad is None or self.parts.stt is None:
            raise MirzaError(
                "A spoken conversation needs voice detection and recognition.", "Give it both, or no sound."
            )
        self.ear = Ear(self.parts.vad, self.settings.turns, echo=self.parts.echo, wake_word=self.parts.wake_word)
        self._interruption = Interruption(
            self.settings.turns,
            sound.player,
            recognise=self._over_the_voice,
            take_floor=self._take_floor,
            resumed=self.ear.drop,
            start=self._start,
            emit=self._emit,
        )
        self.set_volume(self.settings.audio.volume)
        self._living = asyncio.create_task(self._live(sound, self.ear))
        self._living.add_done_callback(self._sound_ended)

    def _sound_ended(self, living: asyncio.Task[None]) -> None:
        """The microphone ended: nothing waits for sound any more."""
        self._stop_following()
        self._answers.interrupt()
        self._finish(living)

    async def __aexit__(self, *_: object) -> None:
        answer = self._answers.interrupt()
        if self.parts.sound is not None:
            await self.parts.sound.close()
        if self._living is not None:
            self._living.cancel()
        self._stop_following()
        if answer is not None and answer.task is not None:
            await asyncio.wait([answer.task])
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, *([self._living] if self._living else []), return_exceptions=True)
        await self._opened.aclose()
        self._enter(State.CLOSED)
        self._watchers.close()

    def _start(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Runs a task of this conversation's, which ends with it."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finish)
        return task

    def _finish(self, task: asyncio.Task[Any]) -> None:
        """A task ended. A failure is told to all who watch; the conversation goes on."""
        self._tasks.discard(task)
        if task.cancelled() or task.exception() is None:
            return
        error = task.exception()
        if not isinstance(error, MirzaError):
            logger.opt(exception=error).error("a task of the conversation failed")
            error = MirzaError(f"Mirza made a mistake ({type(error).__name__}: {error}).", "The log has the details.")
        self._emit(Failed(error, self.now_s()))

    def _enter(self, state: State) -> None:
        if state is not self.state:
            self.state = state
            self._emit(StateChanged(state, self.now_s()))

    def _rest(self) -> None:
        """Back to listening, unless the user is talking."""
        talking = self.ear is not None and self.ear.turns.talking
        self._enter(State.HEARING if talking else State.LISTENING)

    def _emit(self, event: Event) -> None:
        self._watchers.tell(event)
        if isinstance(event, SpeechDelta) and self.parts.sound is None:
            self._enter(State.SPEAKING)  # on a page, words are heard when they are written
        measured = self._metrics.watch(event, self.now_s())
        if measured is not None:
            self._watchers.tell(replace(measured, model=self.parts.llm.name))
