"""`BaseLlm`: what the rest of Mirza knows of a language model. It thinks, then it speaks."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from mirza.errors import ModelBusy, SettingsError
from mirza.events import LlmDone, LlmEvent, LlmStats, SpeechDelta, ThinkingDelta, ToolCall

__all__ = [
    "BaseLlm",
    "LlmDone",
    "LlmEvent",
    "LlmStats",
    "Message",
    "SpeechDelta",
    "ThinkingBudget",
    "ThinkingDelta",
    "Tool",
    "ToolCall",
]

Role = Literal["system", "user", "assistant", "tool"]
OnProgress = Callable[[str, float], None]
"""Called while loading with what is being done and how far it is, 0 .. 1."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation. An assistant's `content` is what was heard of it, never its thought."""

    role: Role
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    """For a `tool` message: the call it answers."""


@dataclass(frozen=True, slots=True)
class Tool:
    """Something the model may call. `parameters` is a JSON schema; `run` gets the decoded arguments."""

    name: str
    description: str
    run: Callable[[dict[str, Any]], Awaitable[str]]
    parameters: dict[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})

    def schema(self) -> dict[str, Any]:
        """The tool as OpenAI's API and the chat templates describe one."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": function}


@dataclass(frozen=True, slots=True)
class ThinkingBudget:
    """How much may be thought before speaking: tokens, or seconds that the engine turns into tokens by its own speed.

    Zero tokens is no thinking at all.
    """

    tokens: int = 0
    seconds: float | None = None

    @classmethod
    def parse(cls, text: str) -> ThinkingBudget:
        """Reads `off`, `on`, `512` or `1.5s`.

        Raises:
            SettingsError: it is none of these, or negative.
        """
        word = text.strip().lower()
        if word in {"off", "no", "none"}:
            return cls(0)
        if word in {"on", "yes"}:
            return cls(DEFAULT_THINKING_TOKENS)
        if match := re.fullmatch(r"(\d+(?:\.\d+)?)\s*s(?:ec(?:onds?)?)?", word):
            return cls(seconds=float(match[1]))
        if match := re.fullmatch(r"(\d+)(?:\s*tokens?)?", word):
            return cls(int(match[1]))
        raise SettingsError(f"{text!r} is no thinking budget.", "Give a number of tokens, seconds like 1.5s, or off.")

    def __str__(self) -> str:
        if self.seconds is not None:
            return f"{self.seconds:g} s"
        return f"{self.tokens} tokens" if self.tokens else "off"


DEFAULT_THINKING_TOKENS = 512
"""What "thinking on" means without a number, as in the M system."""


class BaseLlm(ABC):
    """A language model that thinks, then speaks.

    One stream is open at a time, and whoever opens one closes it (`async with aclosing(llm.stream(...))`). Closing it
    early is how an answer is stopped: it returns within one step of the model, and leaves the model ready.
    """

    def __init__(self) -> None:
        self.budget = ThinkingBudget()
        self.stats = LlmStats()
        """The last finished or closed stream's."""
        self._open = False

    # what every engine does

    @property
    def name(self) -> str:
        """Which model answers, as a person names it; known for sure after `load`."""
        return type(self).__name__

    @abstractmethod
    async def load(self, system: str = "", tools: Sequence[Tool] = (), on_progress: OnProgress | None = None) -> None:
        """Makes the model ready, warm for this system prompt and these tools.

        Raises:
            ModelError: it is not there, damaged, or cannot run here.
        """

    @abstractmethod
    def _stream(
        self, messages: Sequence[Message], tools: Sequence[Tool], budget: ThinkingBudget
    ) -> AsyncGenerator[LlmEvent]:
        """The engine's own stream; the last event is an `LlmDone`."""

    @abstractmethod
    async def unload(self) -> None:
        """Gives the memory back. `load` makes the model ready again."""

    # what an engine does where it can

    async def prefill(self, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> None:
        """Warms what is known so far, while the user is still talking: the last message may be half a sentence.

        Cancelling it is fine at any point. The next `stream` is exact whatever was prefilled.
        """

    async def rewind(self, heard: str) -> None:
        """The last answer was cut off: `heard` is all of it that the user heard, and all that the history keeps."""

    async def settle(self) -> None:
        """Tidies up in idle time, while the voice still plays: the thought leaves the context."""

    async def save_conversation(self, name: str) -> None:
        """Keeps the state of the conversation on this disk, for `load_conversation` after a restart."""

    async def load_conversation(self, name: str) -> bool:
        """Knows a kept conversation again, so that its messages need not be fed again; whether there was one."""
        return False

    async def clear_cache(self) -> None:
        """Forgets every cached prefix and gives the memory of free buffers back."""

    # what all share

    async def stream(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Tool] = (),
        thinking: ThinkingBudget | None = None,
    ) -> AsyncGenerator[LlmEvent]:
        """Answers `messages`: thoughts, speech and tool calls as they come, then one `LlmDone`.

        Raises:
            ModelBusy: another stream of this model is open.
        """
        if self._open:
            raise ModelBusy("The language model is answering already.", "Close that stream first.")
        self._open = True
        source = self._stream(messages, tools, self.budget if thinking is None else thinking)
        try:
            async for event in source:
                if isinstance(event, LlmDone):
                    self.stats = event.stats
                yield event
        finally:
            self._open = False
            await source.aclose()

    def set_thinking_mode(self, enabled: bool) -> None:
        """Thinking on (512 tokens) or off, from the next turn; switched off, also in the middle of a thought."""
        self.set_budget(ThinkingBudget(DEFAULT_THINKING_TOKENS if enabled else 0))

    def set_reasoning_budget(self, tokens: int) -> None:
        """At most `tokens` of thinking; 0 is off. Lowered in the middle of a thought, it takes effect at once."""
        if tokens < 0:
            raise SettingsError(f"A thinking budget cannot be {tokens}.", "Give 0 (off) or more.")
        self.set_budget(ThinkingBudget(tokens))

    def set_budget(self, budget: ThinkingBudget) -> None:
        """Sets the budget, in tokens or in seconds. Engines that can change a running thought override this."""
        self.budget = budget


async def collect(stream: AsyncIterator[LlmEvent]) -> tuple[str, str]:
    """Reads a stream to its end: the thought, and the answer."""
    thought, speech = "", ""
    async for event in stream:
        match event:
            case ThinkingDelta(text):
                thought += text
            case SpeechDelta(text):
                speech += text
            case _:
                pass
    return thought, speech
