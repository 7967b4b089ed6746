"""One conversation, ears to mouth. Read this first.

    microphone ─▶ echo ─▶ vad ─▶ turns ─▶ stt ─▶ llm ─▶ speech text ─▶ tts ─▶ loudspeaker ─▶ what was heard ─▶ history

Each word is a file: `audio/` has microphone, echo and loudspeaker; `speech/` has vad, turns, stt, text, tts; `llm/` and
`history.py` are what they say. `Conversation` is the only writer of its state, on one asyncio loop. `_live` is the line
above, block by block; `mirza.listening` is the half that listens, `mirza.answers` the half that speaks. With no
`sound`, the same conversation runs on a keyboard.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from dataclasses import replace
from itertools import count
from typing import Any, Self

from loguru import logger

from mirza.answer import Answer
from mirza.answers import Answers
from mirza.audio.base import Sound
from mirza.errors import MirzaError
from mirza.events import (
    Event,
    Failed,
    Heard,
    Notice,
    SpeechDelta,
    State,
    StateChanged,
    ThinkingBudgetChanged,
)
from mirza.history import History
from mirza.listening import Listening
from mirza.llm.base import OnProgress, ThinkingBudget
from mirza.metrics import Metrics
from mirza.parts import Parts
from mirza.settings import SettingsTree
from mirza.speech.ear import Ear
from mirza.speech.mouth import Mouth, Output, Page, Ticks
from mirza.speech.phrases import thinking_request
from mirza.speech.text import SpeechText
from mirza.watchers import Watcher, Watchers


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
        self.voice = self.settings.tts.voice
        self._on_progress = on_progress
        self._watchers, self._metrics = Watchers(), Metrics()
        self._ticks, self._turns = Ticks(), count(1)
        self._tasks: set[asyncio.Task[Any]] = set()
        self._listening: Listening | None = None
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

    async def _live(self, sound: Sound, listening: Listening) -> None:
        async for block in sound.blocks():  # microphone
            self._ticks.tick()  # the loudspeaker played a block: a mouth that waited for it goes on
            listening.hear(block)  # echo, vad, turns, stt
            self._announce(listening)

    def _announce(self, listening: Listening) -> None:
        """Says which piece of the answer has become audible."""
        answer = self._answers.current
        if answer is None or not isinstance(answer.output, Mouth):
            return
        was = answer.audible
        answer.output.announce()
        if answer.audible and not was:
            listening.audible()
            self._enter(State.SPEAKING)
        if answer.audible:
            listening.says(answer.output.spoken_lately())

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
        if self._listening is not None:
            self._listening.answered(answer.turn)
        self._rest()

    # --- for whoever holds the conversation --------------------------------------------------------------------------

    @property
    def ear(self) -> Ear | None:
        """What listens to the microphone, while there is one."""
        return self._listening.ear if self._listening is not None else None

    def watch(self) -> Watcher:
        """Every event from now on; ends when the conversation closes."""
        return self._watchers.add()

    async def say(self, text: str) -> None:
        """A typed turn; it interrupts a running answer. Returns when the answer has ended."""
        if self._listening is not None:
            await self._listening.typed()
        await self.interrupt()
        turn, language = next(self._turns), self.settings.stt.spoken or "en"
        if wish := thinking_request(text, language, self.parts.llm.budget):
            self.set_thinking(wish.budget)
        self._emit(Heard(turn, text, language, self.now_s(), typed=True))
        self._enter(State.THINKING)
        answer = self._answers.release(turn, text, language)
        assert answer.task is not None
        await asyncio.wait([answer.task])

    async def interrupt(self) -> None:
        """Stops the answer: silence within one block, then what was heard of it is remembered."""
        while self._answers.busy:  # somebody else may ask while this waits
            self._answers.interrupt()
            await self._answers.remembered()

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
        return not self._user_talks() and self._answers.current is None and not self._tasks

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
                SpeechText(self.settings.stt.spoken or "en")  # its tables are made once: not in the first answer
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
        self._listening = Listening(
            self.parts,
            self.settings,
            self._answers,
            sound.player,
            number=lambda: next(self._turns),
            interrupt=self.interrupt,
            set_thinking=self.set_thinking,
            enter=self._enter,
            rest=self._rest,
            start=self._start,
            emit=self._emit,
            now_s=self.now_s,
        )
        self.set_volume(self.settings.audio.volume)
        self._living = asyncio.create_task(self._live(sound, self._listening))
        self._living.add_done_callback(self._sound_ended)

    def _sound_ended(self, living: asyncio.Task[None]) -> None:
        """The microphone ended: nothing waits for sound any more."""
        if self._listening is not None:
            self._listening.stop()
        self._answers.interrupt()
        self._finish(living)

    async def __aexit__(self, *_: object) -> None:
        answer = self._answers.interrupt()
        if self.parts.sound is not None:
            await self.parts.sound.close()
        if self._living is not None:
            self._living.cancel()
        if self._listening is not None:
            self._listening.stop()
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
        """Back to listening, unless the user is talking, or an answer to something else is."""
        answer = self._answers.current
        speaking = answer is not None and answer.audible
        self._enter(State.HEARING if self._user_talks() else State.SPEAKING if speaking else State.LISTENING)

    def _user_talks(self) -> bool:
        return self.ear is not None and self.ear.turns.talking

    def _emit(self, event: Event) -> None:
        self._watchers.tell(event)
        if isinstance(event, SpeechDelta) and self.parts.sound is None:
            self._enter(State.SPEAKING)  # on a page, words are heard when they are written
        measured = self._metrics.watch(event, self.now_s())
        if measured is not None:
            self._watchers.tell(replace(measured, model=self.parts.llm.name))
