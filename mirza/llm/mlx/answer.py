"""One answer, from token ids to events: what is thought, what is said, what is asked of a tool, and when it is over.

What is a thought is decided on ids, never on text: an answer that explains `<think>` is spoken whole. Ids come from the
vocabulary (Qwen 3.5 does not mark `</think>` as special: ohdearquant/lattice #733).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from mirza.events import DoneReason, SpeechDelta, ThinkingDelta, ToolCall
from mirza.llm.mlx.detokenizer import Detokenizer
from mirza.llm.mlx.template import ThoughtTokens

AnswerEvent = ThinkingDelta | SpeechDelta | ToolCall


@dataclass(frozen=True, slots=True)
class Markers:
    """The ids that an answer is divided by."""

    stops: Collection[int]
    thought: ThoughtTokens | None = None
    tool_start: int | None = None
    tool_end: int | None = None
    parse_calls: Callable[[str], list[ToolCall]] = lambda _: []
    """Reads what stands between the two; empty where it is no call."""


class _Where(Enum):
    THOUGHT = auto()
    GAP = auto()
    """Before the first word of the answer: blank tokens are neither thought nor spoken."""
    SPEECH = auto()
    CALL = auto()


BLANKS_AT_MOST = 64
"""Tokens of nothing but space before an answer: a model that goes on like that has nothing to say."""


class AnswerReader:
    """Push ids, get events. `done` says why the answer is over, once it is.

    `max_tokens` counts what is said and what is asked of tools, not what is thought.
    """

    def __init__(self, tokenizer: object, markers: Markers, *, max_tokens: int, thinking: bool) -> None:
        self.done: DoneReason | None = None
        self.thought_ids: list[int] = []
        """The thought, without what opens and closes it."""
        self.answer_ids: list[int] = []
        """What came after it, calls too, without the stop token."""
        self.texts: list[str] = []
        """What each of `answer_ids` added to the spoken text."""
        self.calls: list[ToolCall] = []
        self._tokenizer = tokenizer
        self._markers = markers
        self._left = max_tokens
        self._where = _Where.THOUGHT if thinking else _Where.GAP
        self._text = Detokenizer(tokenizer)
        self._call_text = ""
        self._blanks = 0

    @property
    def speaks(self) -> bool:
        """Whether the first token of the answer has come."""
        return bool(self.answer_ids)

    @property
    def thinking(self) -> bool:
        return self._where is _Where.THOUGHT

    def push(self, token: int) -> list[AnswerEvent]:
        """What this token adds; often nothing yet."""
        marker = self._marker(token)
        if marker is not None:
            return marker
        match self._where:
            case _Where.THOUGHT:
                self.thought_ids.append(token)
                text = self._text.push(token)
                return [ThinkingDelta(text)] if text else []
            case _Where.CALL:
                return self._read_call(token)
            case _Where.GAP | _Where.SPEECH:
                return self._read_speech(token)

    def finish(self) -> list[AnswerEvent]:
        """What is left when no more tokens come."""
        return self._flushed()

    def _marker(self, token: int) -> list[AnswerEvent] | None:
        """What a token that divides the answer adds; `None` for any other."""
        thought = self._markers.thought
        if token in self._markers.stops:
            self.done = DoneReason.TOOL if self.calls else DoneReason.STOP
            return self._flushed()
        if thought is not None and token == thought.start:
            events, self._where = self._flushed(), _Where.THOUGHT
            return events
        if thought is not None and token == thought.end:
            events = self._flushed()
            if self._where is _Where.THOUGHT:
                self._where = _Where.GAP
                self._strip_close()
            return events
        if token == self._markers.tool_start:
            events, self._where, self._call_text = self._flushed(), _Where.CALL, ""
            return [*events, *self._say(token, "")]
        return None

    def _read_speech(self, token: int) -> list[AnswerEvent]:
        text = self._text.push(token)
        if self._where is _Where.GAP:
            if text and not text.strip():
                self._blanks += 1
                if self._blanks >= BLANKS_AT_MOST:
                    self.done = DoneReason.LENGTH
                return []
            self._where = _Where.SPEECH
        return self._say(token, text)

    def _read_call(self, token: int) -> list[AnswerEvent]:
        if token != self._markers.tool_end:
            self._call_text += self._text.push(token)
            return self._say(token, "")
        self._where = _Where.GAP
        calls = self._markers.parse_calls(self._call_text)
        self.calls += calls
        return [*self._say(token, ""), *calls]

    def _say(self, token: int, text: str) -> list[AnswerEvent]:
        self.answer_ids.append(token)
        self.texts.append(text)
        self._left -= 1
        if self._left <= 0:
            self.done = DoneReason.LENGTH
        return [SpeechDelta(text)] if text else []

    def _flushed(self) -> list[AnswerEvent]:
        """The characters that the detokeniser held back, where they belong."""
        text = self._text.flush()
        self._text = Detokenizer(self._tokenizer)
        match self._where:
            case _Where.THOUGHT if text:
                return [ThinkingDelta(text)]
            case _Where.SPEECH if text and self.texts:
                self.texts[-1] += text
                return [SpeechDelta(text)]
            case _:
                return []

    def _strip_close(self) -> None:
        """What leads up to the closing token is part of closing, not of the thought."""
        thought = self._markers.thought
        lead: Sequence[int] = thought.close[:-1] if thought is not None else ()
        if lead and self.thought_ids[-len(lead) :] == list(lead):
            del self.thought_ids[-len(lead) :]
