"""`Session`: a conversation and its place on the disk, as both consoles drive them."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from mirza.console.keeping import Keeping
from mirza.console.relay import Relay
from mirza.errors import MirzaError, SettingsError, StorageError
from mirza.events import (
    AnswerEnded,
    Event,
    Heard,
    Speaking,
    SpeechDelta,
    State,
    ThinkingBudgetChanged,
    TurnMeasured,
)
from mirza.folders import forget_snapshots
from mirza.history import LOST_ANSWER, History
from mirza.llm.base import Message, OnProgress, ThinkingBudget
from mirza.pipeline import Conversation
from mirza.settings import SettingsTree
from mirza.storage import SessionSettings, well_formed

Build = Callable[[SettingsTree, History, OnProgress], Conversation]
"""Makes a conversation that goes on from a history; it is not loaded yet."""

Listener = Callable[[Event], None]

TURNS_REMEMBERED = 1000


class Session:
    """One conversation at a time: shown to listeners, kept on disk, changed by commands. `async with` loads it."""

    def __init__(self, settings: SettingsTree, build: Build, file: Path) -> None:
        self.settings = settings
        self.turns: deque[TurnMeasured] = deque(maxlen=TURNS_REMEMBERED)
        self.muted = False
        self.talking = False
        """The push-to-talk key was pressed, and not yet again."""
        self.on_progress: OnProgress | None = None
        """Called with what is loading and how far it is, 0 .. 1, perhaps from another thread."""
        self.kept = Keeping(file, self._tell)
        self._build, self._file = build, file
        self._listeners: list[Listener] = []
        self._history = History()
        self._conversation: Conversation | None = None
        self._relay: Relay | None = None
        self._opened = AsyncExitStack()
        self._there = asyncio.Event()
        """Cleared while one model is given up for another."""
        self._there.set()

    def listen(self, listener: Listener) -> None:
        """Calls `listener` with every event, in order, on the event loop."""
        self._listeners.append(listener)

    async def resume(self, number: int | None = None) -> None:
        """Before it is loaded: goes on with a kept conversation, the last one if no number is given.

        Raises:
            StorageError: there is none.
        """
        recorder = self.kept.recorder()
        number = number if number is not None else await recorder.on_thread(recorder.store.last)
        if number is None:
            raise StorageError("No conversation is kept yet.", "Start one with `mirza chat`.")
        loaded = await recorder.resume(number)
        self._history = History(loaded.messages)
        self.settings = _with(self.settings, loaded.settings)

    async def __aenter__(self) -> Self:
        try:
            if self.settings.conversation.save:
                self.kept.recorder()
            await self._start(self.settings, self._make(self.settings))
        except BaseException:
            self.kept.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        try:
            await self._stop()
        finally:
            self.kept.close()

    # --- what is so

    @property
    def conversation(self) -> Conversation:
        assert self._conversation is not None, "the session is not loaded"
        return self._conversation

    @property
    def messages(self) -> tuple[Message, ...]:
        return self._history.messages

    @property
    def state(self) -> State:
        return self._conversation.state if self._conversation is not None else State.LOADING

    @property
    def answering(self) -> bool:
        """Whether an answer is being made, so that there is something to interrupt."""
        return self.state in {State.THINKING, State.SPEAKING}

    @property
    def thinking(self) -> ThinkingBudget:
        """How much may be thought."""
        return ThinkingBudget.parse(self.settings.llm.thinking_budget)

    @property
    def number(self) -> int | None:
        """The number under which this conversation is kept, if it is."""
        return self.kept.number

    @property
    def has_sound(self) -> bool:
        return self._conversation is not None and self._conversation.parts.sound is not None

    @property
    def level(self) -> float:
        """Loudness at the microphone, RMS, 0 .. 1."""
        ear = self._conversation.ear if self._conversation is not None else None
        return ear.level if ear is not None else 0.0

    @property
    def model(self) -> str:
        """What answers, by its own name; before there is a conversation, as the settings name it."""
        if self._conversation is not None:
            return self._conversation.parts.llm.name
        llm = self.settings.llm
        if llm.engine == "mlx":
            return llm.model
        name = self.settings.openai.model if llm.engine == "openai" else ""
        return name or llm.engine

    @property
    def voices(self) -> list[str]:
        """Names of the voices that can speak here; none in a conversation without sound."""
        tts = self._conversation.parts.tts if self._conversation is not None else None
        return [voice.name for voice in tts.voices] if tts is not None else []

    # --- what a user does

    async def say(self, text: str) -> None:
        """A typed turn; a running answer is interrupted. Returns when the answer has ended, was shown, and is kept."""
        await self._there.wait()
        await self.conversation.say(well_formed(text))
        await self._caught_up()

    async def interrupt(self) -> None:
        """Stops the answer."""
        await self._there.wait()
        await self.conversation.interrupt()
        await self._caught_up()

    async def undo(self) -> str:
        """Takes the last exchange back; returns the question, or nothing where there was none."""
        await self._there.wait()
        taken = await self.conversation.undo()
        await self._caught_up()
        await self.kept.keep(self.messages)
        return taken or ""

    async def reset(self) -> None:
        """Begins a new conversation; the old one stays on disk."""
        await self._there.wait()
        await self.conversation.interrupt()
        await self._caught_up()
        await self.kept.begin()
        await self.conversation.reset()
        self.turns.clear()

    async def set_thinking(self, budget: ThinkingBudget) -> None:
        """Changes how much may be thought, also of a thought that is going on."""
        await self._there.wait()
        self.conversation.set_thinking(budget)
        await self._caught_up()

    def set_muted(self, muted: bool) -> None:
        """The microphone off, or on again."""
        self.muted = muted
        self.conversation.set_muted(muted)

    async def press_to_talk(self) -> None:
        """Begins to listen, or ends it and sends what was said: a terminal does not tell when a key is let go.

        Raises:
            SettingsError: there is no microphone here, or it is open all the time.
        """
        if not self.has_sound:
            raise SettingsError("There is no microphone in this conversation.", "Start with `mirza chat --sound`.")
        if not self.settings.turns.push_to_talk:
            raise SettingsError(
                "Mirza listens all the time.", "For push-to-talk: `mirza settings set turns.push_to_talk true`."
            )
        if not self.talking and self.answering:
            await self.interrupt()
        self.talking = not self.talking
        self.conversation.set_talking(self.talking)

    async def set_model(self, name: str) -> None:
        """Goes on with another model. If it cannot be loaded, the one before comes back; what is said meanwhile waits.

        Raises:
            ModelError: it cannot be loaded.
        """
        before = self.settings
        settings = _with(before, SessionSettings(model=name, engine=before.llm.engine))
        conversation = self._make(settings)  # a name that means nothing is refused before anything is given up
        self._there.clear()
        try:
            await self._stop()
            try:
                await self._start(settings, conversation)
            except MirzaError:
                await self._start(before, self._make(before))
                raise
        finally:
            self._there.set()
        await self.kept.remember(model=name, engine=before.llm.engine)

    async def set_voice(self, name: str) -> None:
        """Speaks with another voice from the next answer on.

        Raises:
            SettingsError: there is no such voice.
        """
        if self.voices and name not in self.voices:
            raise SettingsError(f"There is no voice {name!r}.", f"There are: {', '.join(self.voices)}.")
        self.conversation.voice = name
        self.settings = _with(self.settings, SessionSettings(voice=name))
        await self.kept.remember(voice=name)

    # --- kept conversations

    async def save(self, title: str = "") -> int:
        """Keeps this conversation from now on, if it was not kept, under a title if one is given; its number.

        Raises:
            StorageError: there is nothing in it yet, or it cannot be written.
        """
        if not self.messages:
            raise StorageError("There is nothing to keep yet.", "Say something first.")
        recorder = self.kept.recorder()
        await recorder.keep(self.messages)
        number = recorder.conversation
        assert number is not None
        if title:
            await recorder.on_thread(lambda: recorder.store.rename(number, title))
        return number

    async def load(self, number: int) -> None:
        """Goes on with a kept conversation; the present one stays on disk.

        Raises:
            StorageError: there is none of that number.
        """
        recorder = self.kept.recorder()
        await recorder.on_thread(lambda: recorder.store.summary(number))  # before anything is forgotten here
        await self.reset()
        loaded = await recorder.resume(number)
        _restore(self._history, loaded.messages)
        if (name := self._name()) is not None:
            await self.conversation.recall(name)
        if loaded.settings.thinking_budget:
            await self.set_thinking(ThinkingBudget.parse(loaded.settings.thinking_budget))

    async def delete(self, number: int) -> None:
        """Deletes a kept conversation for good; the present one is forgotten here, too.

        Raises:
            StorageError: there is none of that number.
        """
        recorder = self.kept.recorder()
        if number == self.number:
            await self.reset()
        await recorder.on_thread(lambda: recorder.store.delete(number))
        await recorder.on_thread(lambda: forget_snapshots(self.settings.paths))

    # --- the conversation comes and goes

    def _make(self, settings: SettingsTree) -> Conversation:
        return self._build(settings, self._history, self._progressed)

    async def _start(self, settings: SettingsTree, conversation: Conversation) -> None:
        self.talking = False
        self._conversation, self._history, self.settings = conversation, conversation.history, settings
        self._relay = Relay(conversation.watch, self._handle)
        try:
            await self._opened.enter_async_context(conversation)
        except BaseException:
            await self._end_relay()
            raise
        if (name := self._name()) is not None:
            await conversation.recall(name)

    def _name(self) -> str | None:
        """Under which the model keeps its state of this conversation; `None` where nothing is to be kept."""
        keeps = self.settings.conversation.save and self.settings.llm.snapshots
        return f"{self._file.absolute()}#{self.number}" if keeps and self.number is not None else None

    def _progressed(self, what: str, share: float) -> None:
        if self.on_progress is not None:
            self.on_progress(what, share)

    async def _stop(self) -> None:
        opened, self._opened = self._opened, AsyncExitStack()
        try:
            if (name := self._name()) is not None and self._relay is not None:
                await self.conversation.interrupt()
                await self.conversation.keep(name)
            await opened.aclose()
        finally:
            await self._end_relay()

    async def _end_relay(self) -> None:
        relay, self._relay = self._relay, None
        if relay is not None:
            await relay.close()

    async def _caught_up(self) -> None:
        if self._relay is not None:
            await self._relay.caught_up()

    # --- its events

    async def _handle(self, event: Event) -> None:
        self._tell(event)
        match event:
            case Heard() | AnswerEnded():
                await self.kept.keep(self.messages)
            case SpeechDelta(text) if not self.has_sound:  # what is shown is heard
                await self.kept.keep_draft(self.messages, text)
            case Speaking(text=text):
                await self.kept.keep_draft(self.messages, text)
            case ThinkingBudgetChanged(budget):
                self.settings = _with(self.settings, SessionSettings(thinking_budget=budget))
                await self.kept.remember(thinking_budget=budget)
            case TurnMeasured():
                self.turns.append(event)
            case _:
                pass

    def _tell(self, event: Event) -> None:
        for listener in self._listeners:
            listener(event)


def _with(settings: SettingsTree, session: SessionSettings) -> SettingsTree:
    """The settings with those that belong to a conversation put over them."""
    engine = settings.llm.engine
    model = session.model if engine == (session.engine or "mlx") else ""  # a server's model is none of this machine's
    server = {"model": model if engine == "openai" else ""}
    llm = {
        "thinking_budget": session.thinking_budget,
        "model": "" if engine == "openai" else model,
        "system": session.system,
    }
    tts = {"voice": session.voice}
    return settings.model_copy(
        update={
            "llm": settings.llm.model_copy(update={name: value for name, value in llm.items() if value}),
            "openai": settings.openai.model_copy(update={name: value for name, value in server.items() if value}),
            "tts": settings.tts.model_copy(update={name: value for name, value in tts.items() if value}),
        }
    )


def _restore(history: History, messages: Sequence[Message]) -> None:
    """Fills an empty history with kept messages."""
    history.clear()
    answers = {message.tool_call_id: message.content for message in messages if message.role == "tool"}
    for message in messages:
        match message.role:
            case "user":
                history.add_user(message.content)
            case "assistant" if message.tool_calls:
                pairs = [(call, answers.get(call.id, LOST_ANSWER)) for call in message.tool_calls]
                history.add_tool_exchange(message.content, pairs)
            case "assistant":
                history.add_answer(message.content)
            case _:
                pass
