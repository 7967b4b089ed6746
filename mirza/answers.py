"""`Answers`: the speaking half of a conversation. One at a time, prepared, released, withdrawn or interrupted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from mirza.answer import Answer
from mirza.errors import MirzaError
from mirza.events import AnswerEnded, AnswerStarted, Event, Failed, Interrupted
from mirza.history import History
from mirza.llm.base import BaseLlm, Message, Tool
from mirza.speech.cues import Cues, expected_wait_s
from mirza.speech.mouth import Mouth, Output


class Answers:
    """Gives answers, and remembers of each what was heard.

    `output(turn, language)` makes the voice or the page that an answer goes to; `start` runs a task of the
    conversation's; `ended` is told when there is nothing more to be heard.
    """

    def __init__(
        self,
        llm: BaseLlm,
        history: History,
        *,
        system: str,
        tools: Sequence[Tool],
        output: Callable[[int, str], Output],
        start: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]],
        emit: Callable[[Event], None],
        now_s: Callable[[], float],
        ended: Callable[[Answer], None],
        cue_after_s: float,
    ) -> None:
        self.current: Answer | None = None
        self.next_piece = 0
        self._giving: set[Answer] = set()
        self._llm, self._history, self._system, self._tools = llm, history, system, tuple(tools)
        self._output, self._start, self._emit, self._now_s, self._ended = output, start, emit, now_s, ended
        self._cue_after_s, self._cues = cue_after_s, Cues()
        self._model = asyncio.Lock()  # the model does one thing at a time, in the order in which it was asked

    async def prefill(self, text: str) -> None:
        """Feeds the model what is sure of the user's words so far."""
        async with self._model:
            await self._llm.prefill(self._messages(text), self._tools)

    async def catch_up(self) -> None:
        """Feeds the model the history, so that the next question is all that is new to it."""
        async with self._model:
            await self._llm.prefill(self._messages(""), self._tools)

    async def keep(self, name: str) -> None:
        """Keeps the model's state of this conversation on disk."""
        async with self._model:
            await self._llm.save_conversation(name)

    def prepare(self, turn: int, question: str, language: str) -> Answer:
        """Begins an answer; nothing of it is heard, run or remembered before it is released."""
        output = self._output(turn, language)
        answer = Answer(turn, question, output, llm=self._llm, tools=self._tools, emit=self._emit)
        self.current = answer
        self._emit(AnswerStarted(turn, self._now_s()))
        self._giving.add(answer)
        answer.task = self._start(self._give(answer))
        answer.task.add_done_callback(lambda _: self._conclude(answer, interrupted=True))  # if it never got that far
        return answer

    def release(self, turn: int, question: str, language: str) -> Answer:
        """The turn is over: the answer that was prepared for it, or a new one, may be heard."""
        answer = self.current
        if answer is None or answer.turn != turn or answer.question != question:
            if answer is not None:
                self.withdraw()
            answer = self.prepare(turn, question, language)
        self._history.add_user(question)
        answer.release(self._now_s())
        if isinstance(answer.output, Mouth) and expected_wait_s(self._llm) > self._cue_after_s > 0:
            self._start(answer.output.cue(self._cues.next(language)))
        return answer

    def withdraw(self) -> None:
        """The user goes on with the same turn: the answer never was, and the question is not over."""
        answer, self.current = self.current, None
        if answer is None:
            return
        answer.withdrawn = True
        if answer.released_s is not None:
            self._history.undo()
        answer.silence()

    def interrupt(self) -> Answer | None:
        """Silence, now. What was heard until now is kept; wait for the answer's task before the next question."""
        answer, self.current = self.current, None
        if answer is None:
            return None
        answer.silence()
        if answer.released_s is not None:
            self._emit(Interrupted(answer.turn, answer.output.heard(), self._now_s()))
        return answer

    @property
    def busy(self) -> bool:
        """Whether an answer is being given, or is still to be remembered."""
        return bool(self._giving)

    async def remembered(self) -> None:
        """Returns when what was heard of every answer that was begun is remembered."""
        await asyncio.gather(*(answer.remembered.wait() for answer in self._giving))

    async def _give(self, answer: Answer) -> None:
        """Gives one answer, and remembers what was heard of it, however it ended."""
        interrupted = True
        async with self._model:
            messages = self._messages(None if answer.released_s is not None else answer.question)
            try:
                await answer.run(messages)
                interrupted = False
            except* MirzaError as errors:
                if answer.released_s is not None:  # else it is tried once more, when the turn is over
                    self._emit(Failed(_first(errors), self._now_s()))
            finally:
                heard = self._conclude(answer, interrupted=interrupted)
                if interrupted:
                    await self._llm.rewind(heard)

    def _conclude(self, answer: Answer, *, interrupted: bool) -> str:
        """The answer is over; returns what was heard of it."""
        if answer.remembered.is_set():
            return ""
        answer.remembered.set()
        self._giving.discard(answer)
        if isinstance(answer.output, Mouth):
            answer.output.announce()
            self.next_piece = max(self.next_piece, answer.output.next_id)
        if self.current is answer:
            self.current = None
        if answer.released_s is None or answer.withdrawn:
            return ""
        heard = answer.remember(self._history)
        self._emit(AnswerEnded(answer.turn, heard, self._now_s(), interrupted, tuple(answer.runs)))
        self._ended(answer)
        return heard

    def _messages(self, question: str | None) -> list[Message]:
        """The conversation as the model sees it; `question` is not in the history yet."""
        messages = self._history.with_system(self._system)
        return messages if question is None else [*messages, Message("user", question)]


def _first(errors: BaseExceptionGroup[MirzaError]) -> MirzaError:
    """The first error of a group, however deep it lies."""
    for error in errors.exceptions:
        if isinstance(error, BaseExceptionGroup):
            return _first(error)
        return error
    raise AssertionError("an exception group is never empty")
