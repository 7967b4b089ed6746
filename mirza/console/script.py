"""Events in, what is to be shown out: the part of a console that needs neither a screen nor a loop.

An answer may be prepared before the user has finished, and thrown away if they go on. Its words come out of `push` only
once the question was heard; thoughts and words never share a line.
"""

from __future__ import annotations

from dataclasses import dataclass

from mirza.events import (
    AnswerEnded,
    AnswerStarted,
    Event,
    Failed,
    Heard,
    Notice,
    PartialHeard,
    SpeechDelta,
    ThinkingDelta,
    ToolCall,
    ToolResult,
    TurnDropped,
    TurnReopened,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """The user's turn. A new answer begins after it."""

    text: str
    typed: bool


@dataclass(frozen=True, slots=True)
class Thought:
    """More of the thought."""

    text: str


@dataclass(frozen=True, slots=True)
class Said:
    """More of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Used:
    """A tool was called, or has answered (`result`)."""

    name: str
    text: str
    result: bool


@dataclass(frozen=True, slots=True)
class Ended:
    """The answer is over. `said` is what was heard of it: less than was shown, if the user interrupted it."""

    said: str
    interrupted: bool


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something failed: what happened, then what to do."""

    what: str
    do: str


@dataclass(frozen=True, slots=True)
class Note:
    """Something to know."""

    text: str


@dataclass(frozen=True, slots=True)
class Listening:
    """What the live line shows of a user who is talking; empty when they no longer are."""

    text: str


Shown = Asked | Thought | Said | Used | Ended | Trouble | Note | Listening


class Script:
    """Turns a conversation's events into what a console shows."""

    def __init__(self) -> None:
        self._turn: int | None = None
        """The turn whose question was shown and whose answer is not over."""
        self._failed = False
        """Whether the present answer ended because something failed, which has been shown."""
        self._waiting: list[Thought | Said | Used] = []
        """An answer whose question is not over yet."""

    def push(self, event: Event) -> list[Shown]:
        """What this event makes a console show, in order."""
        match event:
            case Heard(turn=turn, text=text, typed=typed):
                self._turn, self._failed = turn, False
                waiting, self._waiting = self._waiting, []
                return [Listening(""), Asked(text, typed), *waiting]
            case AnswerStarted():
                # A typed question is heard first and its answer begun after it; a spoken one may go the other way.
                self._waiting = []
            case TurnReopened():
                self._waiting, self._turn = [], None
            case Failed():
                self._failed = True
            case AnswerEnded(turn=turn, said=said, interrupted=interrupted):
                if turn == self._turn:  # an interrupted answer may end after the next question was heard
                    self._turn = None
                return [Ended(said, interrupted and not self._failed)]
            case _:
                pass
        part = _part_of_an_answer(event)
        if part is not None and self._turn is None:
            self._waiting.append(part)
            return []
        shown = part or _at_once(event)
        return [shown] if shown is not None else []


def _part_of_an_answer(event: Event) -> Thought | Said | Used | None:
    match event:
        case ThinkingDelta(text):
            return Thought(text)
        case SpeechDelta(text):
            return Said(text)
        case ToolCall(name=name, arguments=arguments):
            return Used(name, arguments, result=False)
        case ToolResult(call, content):
            return Used(call.name, content, result=True)
        case _:
            return None


def _at_once(event: Event) -> Trouble | Note | Listening | None:
    match event:
        case Failed(error):
            return Trouble(error.what, error.do)
        case Notice(text):
            return Note(text)
        case PartialHeard(text):
            return Listening(text)
        case TurnDropped():
            return Listening("")
        case _:
            return None
