"""Everything that can happen in a conversation, as frozen values.

A conversation is a stream of these. The screen, the log, the metrics and the tests all watch the same stream and take
what they need with `match`. Times, `at_s`, are seconds on the conversation's audio clock, counted in samples.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mirza.errors import MirzaError

# --- what a language model streams -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """A piece of the thought. Never spoken, never part of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class SpeechDelta:
    """A piece of the answer, as written: it may hold half a word."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model asks for a tool. `arguments` is a JSON object, as text."""

    id: str
    name: str
    arguments: str


class DoneReason(StrEnum):
    """Why a stream of the language model ended."""

    STOP = "stop"
    LENGTH = "length"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class LlmStats:
    """What one answer of a language model cost. Tokens are counted where they are fed to, or come from, the model."""

    prompt_tokens: int = 0
    """Tokens of context at the first new token: `reused_tokens + prefilled_tokens`."""
    prefilled_tokens: int = 0
    """Tokens fed to the model between the request and the first new token."""
    reused_tokens: int = 0
    """Tokens that were in the cache already."""
    thinking_tokens: int = 0
    speech_tokens: int = 0
    drafted_tokens: int = 0
    accepted_tokens: int = 0
    dropped_messages: int = 0
    """Messages that left the context because it was full."""
    first_token_s: float = 0.0
    """Request to first token of any kind, after a device synchronise."""
    first_speech_s: float = 0.0
    """Request to first token of the answer."""
    decode_s: float = 0.0
    """First token to last token."""
    notes: tuple[str, ...] = ()
    """What the engine decided and why, e.g. `"mtp off: 0.81 x plain"`."""

    @property
    def tokens_per_s(self) -> float:
        """Decoding speed after the first token; 0 when there were fewer than two tokens."""
        tokens = self.thinking_tokens + self.speech_tokens - 1
        return tokens / self.decode_s if tokens > 0 and self.decode_s > 0 else 0.0


@dataclass(frozen=True, slots=True)
class LlmDone:
    """The last event of a stream."""

    reason: DoneReason
    stats: LlmStats = field(default_factory=LlmStats)


LlmEvent = ThinkingDelta | SpeechDelta | ToolCall | LlmDone

# --- what the ears notice --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SpeechStarted:
    """Someone began to speak."""

    at_s: float


@dataclass(frozen=True, slots=True)
class PartialHeard:
    """What was understood so far; the user is still talking."""

    text: str
    at_s: float


@dataclass(frozen=True, slots=True)
class SpeechEnded:
    """Someone fell silent: the last sample of their voice was at `at_s`. The turn need not be over."""

    at_s: float


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """It was decided that the user's turn is over; what they said may not be understood yet."""

    at_s: float


@dataclass(frozen=True, slots=True)
class TurnReopened:
    """The user went on: what was taken for a whole turn was not, and the answer begun is undone."""

    at_s: float


@dataclass(frozen=True, slots=True)
class TurnDropped:
    """What was heard is no turn: a cough, the assistant's own voice, a murmur of assent."""

    reason: str
    text: str
    at_s: float


@dataclass(frozen=True, slots=True)
class Heard:
    """The user's turn is over, and this is what they said (or typed)."""

    turn: int
    text: str
    language: str
    at_s: float
    typed: bool = False


# --- what the mouth does ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AnswerStarted:
    """The language model was asked."""

    turn: int
    at_s: float


@dataclass(frozen=True, slots=True)
class Speaking:
    """The first sample of a piece of the answer is audible. `text` is as written, `spoken` as said."""

    turn: int
    text: str
    spoken: str
    at_s: float


@dataclass(frozen=True, slots=True)
class CuePlayed:
    """A short cue says that an answer is being thought about."""

    text: str
    at_s: float


@dataclass(frozen=True, slots=True)
class Ducked:
    """The voice was lowered: someone may be interrupting."""

    at_s: float


@dataclass(frozen=True, slots=True)
class Resumed:
    """It was no interruption; the voice goes on."""

    at_s: float


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The user interrupted. `heard` is what they had heard of the answer, to the last word begun."""

    turn: int
    heard: str
    at_s: float


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A tool answered. Every call gets one, whatever happens to the turn."""

    call: ToolCall
    content: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class AnswerEnded:
    """The answer is over and in the history: `said` is what was heard of it."""

    turn: int
    said: str
    at_s: float
    interrupted: bool = False
    runs: tuple[LlmStats, ...] = ()
    """What each call of the model cost, also one that was cut off; there are several where tools were called."""


# --- what changes, and what goes wrong -------------------------------------------------------------------------------


class State(StrEnum):
    """What the conversation is doing. There is always a way from each to `LISTENING`."""

    LOADING = "loading"
    LISTENING = "listening"
    HEARING = "hearing"
    THINKING = "thinking"
    SPEAKING = "speaking"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class StateChanged:
    state: State
    at_s: float


@dataclass(frozen=True, slots=True)
class ThinkingBudgetChanged:
    """How much may be thought: `"off"`, `"512 tokens"`, `"1.5 s"`."""

    budget: str
    at_s: float


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the user should know and need not act on: a device came back, a setting took effect."""

    text: str
    at_s: float


@dataclass(frozen=True, slots=True)
class Failed:
    """A part failed; the conversation goes on without this answer."""

    error: MirzaError
    at_s: float


@dataclass(frozen=True, slots=True)
class TurnMeasured:
    """One turn's times and counts, in seconds; the stages add up to `voice_to_voice_s`.

    Stages run from the last sample of the user's voice: end of turn decided, final transcript there, first token of the
    answer there, first sample of the answer audible. `None` where the turn had no such stage (typed, or nothing said).
    """

    turn: int
    heard: str
    said: str
    end_of_turn_s: float | None = None
    stt_s: float | None = None
    first_token_s: float | None = None
    first_audio_s: float | None = None
    voice_to_voice_s: float | None = None
    interrupted: bool = False
    llm: LlmStats = field(default_factory=LlmStats)
    model: str = ""
    """Which model answered."""


Event = (
    LlmEvent
    | SpeechStarted
    | PartialHeard
    | SpeechEnded
    | TurnEnded
    | TurnReopened
    | TurnDropped
    | Heard
    | AnswerStarted
    | Speaking
    | CuePlayed
    | Ducked
    | Resumed
    | Interrupted
    | ToolResult
    | AnswerEnded
    | StateChanged
    | ThinkingBudgetChanged
    | Notice
    | Failed
    | TurnMeasured
)
