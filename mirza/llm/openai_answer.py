"""One answer of a server, put together from its chunks: events, counts and times. No network in here."""

# pyright: reportUnknownMemberType=false
from __future__ import annotations

from collections.abc import Callable, Sequence

from openai.types import CompletionUsage
from openai.types.chat import ChatCompletionChunk

from mirza.events import DoneReason, LlmStats, SpeechDelta, ThinkingDelta, ToolCall
from mirza.llm.call_text import parse_call
from mirza.llm.openai_wire import CallParts, choice_of, reasoning
from mirza.llm.tags import CallText, Piece, TagSplitter

Part = ThinkingDelta | SpeechDelta | ToolCall

REASONS = {"length": DoneReason.LENGTH, "tool_calls": DoneReason.TOOL, "function_call": DoneReason.TOOL}


class ThoughtTooLong(Exception):
    """The server went on thinking beyond the budget."""


class Answer:
    """What has come of an answer so far.

    A token is counted as one chunk of the stream, which is what servers send; where the server reports its own counts
    at the end, these are taken. `limit` is the budget in tokens, asked for at every chunk, since it may be lowered.
    """

    def __init__(self, clock: Callable[[], float], max_tokens: int, limit: Callable[[], int]) -> None:
        self.has_field = False
        """Whether thoughts came in a field of their own."""
        self._clock, self._max_tokens, self._limit = clock, max_tokens, limit
        self._asked_s = clock()
        self._first_s = self._speech_s = self._last_s = None
        self._thought = self._speech = self._held = self._cut_thought = 0
        self._notes: list[str] = []
        self.begin(TagSplitter(), thinking=False)

    def begin(self, splitter: TagSplitter, *, thinking: bool) -> None:
        """A request is about to be sent: the first, or the one after a cut thought."""
        self.splitter, self._thinking = splitter, thinking
        self._cut_thought, self._held = self._thought, 0
        self._calls, self._written = CallParts(), list[ToolCall]()
        self._finish: str | None = None
        self._usage: CompletionUsage | None = None

    def note(self, text: str) -> None:
        """For `LlmStats.notes`."""
        self._notes.append(text)

    # while it streams

    def take(self, chunk: ChatCompletionChunk) -> list[Part]:
        """The events in `chunk`.

        Raises:
            ThoughtTooLong: it holds a thought beyond the budget.
            ServerError: it is no chunk of a chat.
        """
        choice = choice_of(chunk)
        self._usage = chunk.usage or self._usage
        if choice is None:
            return []
        self._finish = choice.finish_reason or self._finish
        self._calls.push(choice.delta.tool_calls or ())
        parts: list[Part] = []
        if thought := reasoning(choice.delta):
            if not self.has_field:
                self.has_field = True
                parts += self._sort(self.splitter.literal())
            self._count_thought()
            parts += self._sort([ThinkingDelta(thought)])
        if choice.delta.content:
            parts += self._read(choice.delta.content)
        return parts

    def end(self) -> list[Part]:
        """The stream is over: what was held back, and the tool calls, if they are whole."""
        parts = self._sort(self.splitter.flush(cut=self.cut))
        if not self.cut:
            parts += self._calls.finished() + self._written
        return parts

    @property
    def full(self) -> bool:
        """Whether the answer is as long as it may be."""
        return self._speech >= self._max_tokens

    @property
    def finished(self) -> bool:
        """Whether the server said that it was done."""
        return self._finish is not None or self.full

    @property
    def cut(self) -> bool:
        """Whether it ended because it was too long."""
        return self.reason is DoneReason.LENGTH

    @property
    def reason(self) -> DoneReason:
        """Why it ended."""
        if self._written or (self._calls.finished() and self._finish != "length"):
            return DoneReason.TOOL
        return (
            DoneReason.LENGTH
            if self.full and self._finish is None
            else REASONS.get(self._finish or "", DoneReason.STOP)
        )

    def stats(self) -> LlmStats:
        """Counts and times, as far as it came."""
        first = self._first_s if self._first_s is not None else self._clock()
        prompt = cached = 0
        thought, speech = self._thought, self._speech
        if usage := self._usage:
            prompt = usage.prompt_tokens
            cached = (usage.prompt_tokens_details and usage.prompt_tokens_details.cached_tokens) or 0
            details = usage.completion_tokens_details
            here = (details and details.reasoning_tokens) or min(thought - self._cut_thought, usage.completion_tokens)
            thought, speech = self._cut_thought + here, usage.completion_tokens - here
        return LlmStats(
            prompt_tokens=prompt,
            prefilled_tokens=prompt - cached,
            reused_tokens=cached,
            thinking_tokens=thought,
            speech_tokens=speech,
            first_token_s=first - self._asked_s,
            first_speech_s=(self._speech_s - self._asked_s) if self._speech_s is not None else 0.0,
            decode_s=(self._last_s - first) if self._last_s is not None else 0.0,
            notes=tuple(self._notes),
        )

    def _read(self, content: str) -> list[Part]:
        undecided = self.splitter.undecided
        pieces = self.splitter.push(content)
        if self.splitter.thinking or any(isinstance(piece, ThinkingDelta) for piece in pieces):
            self._held += undecided
            self._count_thought()
        return self._sort(pieces)

    def _sort(self, pieces: Sequence[Piece]) -> list[Part]:
        """Pieces as events; a thought that nobody asked for is dropped."""
        parts: list[Part] = []
        for piece in pieces:
            match piece:
                case ThinkingDelta():
                    if self._thinking:
                        parts.append(piece)
                case SpeechDelta():
                    self._count_speech()
                    parts.append(piece)
                case CallText(text):
                    self._take_call(text)
        return parts

    def _take_call(self, text: str) -> None:
        call = parse_call(text)
        if call is None:
            self.note("a tool call could not be read")
        else:
            self._written.append(ToolCall(f"call_{len(self._written)}", *call))

    def _count_thought(self) -> None:
        self._tick()
        self._thought += 1
        if self._thinking and self._thought > self._limit():
            self._thought -= 1
            raise ThoughtTooLong

    def _count_speech(self) -> None:
        if self._held and not self.splitter.was_opened:  # what was held back as a possible thought was none
            self._thought -= self._held
            self._speech += self._held
            self._held = 0
        else:
            self._tick()
            self._speech += 1
        self._speech_s = self._speech_s if self._speech_s is not None else self._clock()

    def _tick(self) -> None:
        self._last_s = self._clock()
        self._first_s = self._first_s if self._first_s is not None else self._last_s
