"""`ScriptedLlm`: a language model that says what it was given, for the demo and for tests. No model, no randomness."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

from mirza.events import DoneReason, LlmDone, LlmEvent, LlmStats, SpeechDelta, ThinkingDelta, ToolCall
from mirza.llm.base import BaseLlm, Message, OnProgress, ThinkingBudget, Tool

Part = str | ToolCall | Exception
Reply = Part | tuple[Part, ...]
"""What one answer is: words, a tool that is called, an error that is raised, or several of these in order."""

Sleep = Callable[[float], Awaitable[None]]


class ScriptedLlm(BaseLlm):
    """Streams canned answers, one a call; when they run out, it repeats what it was told.

    A token is a word with the space that follows it, so that budgets and speeds can be counted by hand. `thought` comes
    before each answer as far as the budget allows. `token_s` is how long a token takes, by the clock of the event loop
    (or of `sleep`, for a loop whose time is virtual); a budget in seconds is turned into tokens by it.
    """

    def __init__(
        self,
        replies: Sequence[Reply] = (),
        *,
        thought: str = "",
        token_s: float = 0.0,
        first_token_s: float = 0.0,
        max_tokens: int = 512,
        name: str = "scripted",
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        super().__init__()
        self.asked: list[tuple[Message, ...]] = []
        """The messages of every call, the last one last."""
        self.heard: list[str] = []
        """What `rewind` was told, in order."""
        self._replies = list(replies)
        self._thought = words(thought)
        self._token_s = token_s
        self._first_token_s = first_token_s
        self._max_tokens, self._name = max_tokens, name
        self._sleep = sleep
        self._running = ThinkingBudget()

    @property
    def name(self) -> str:
        """As it was given."""
        return self._name

    async def load(self, system: str = "", tools: Sequence[Tool] = (), on_progress: OnProgress | None = None) -> None:
        """Is ready at once."""
        if on_progress is not None:
            on_progress("ready", 1.0)

    async def unload(self) -> None:
        """Has nothing to give back."""

    async def rewind(self, heard: str) -> None:
        """Notes what was heard, for a test to look at."""
        self.heard.append(heard)

    def set_budget(self, budget: ThinkingBudget) -> None:
        """Sets the budget; lowered in the middle of a thought, it takes effect at once."""
        super().set_budget(budget)
        self._running = min(self._running, budget, key=self._tokens)

    async def _stream(
        self, messages: Sequence[Message], tools: Sequence[Tool], budget: ThinkingBudget
    ) -> AsyncGenerator[LlmEvent]:
        self.asked.append(tuple(messages))
        self._running = budget
        reply = self._replies.pop(0) if self._replies else _echo(messages)
        parts = reply if isinstance(reply, tuple) else (reply,)
        prompt = sum(len(words(message.content)) for message in messages)
        thought = spoken = 0
        try:
            await self._sleep(self._first_token_s)
            while thought < min(len(self._thought), self._tokens(self._running)):
                await self._sleep(self._token_s)
                thought += 1
                yield ThinkingDelta(self._thought[thought - 1])
            reason = DoneReason.STOP
            for part in parts:
                match part:
                    case Exception():
                        raise part
                    case ToolCall():
                        yield part
                        reason = DoneReason.TOOL
                    case str():
                        for token in words(part):
                            if spoken == self._max_tokens:
                                reason = DoneReason.LENGTH
                                break
                            await self._sleep(self._token_s)
                            spoken += 1
                            yield SpeechDelta(token)
        finally:
            self.stats = self._count(prompt, thought, spoken)
        yield LlmDone(reason, self.stats)

    def _tokens(self, budget: ThinkingBudget) -> int:
        if budget.seconds is None:
            return budget.tokens
        return int(budget.seconds / self._token_s) if self._token_s else len(self._thought)

    def _count(self, prompt: int, thought: int, spoken: int) -> LlmStats:
        first_s = self._first_token_s + self._token_s
        return LlmStats(
            prompt_tokens=prompt,
            prefilled_tokens=prompt,
            thinking_tokens=thought,
            speech_tokens=spoken,
            first_token_s=first_s,
            first_speech_s=first_s + thought * self._token_s,
            decode_s=max(thought + spoken - 1, 0) * self._token_s,
        )


def words(text: str) -> list[str]:
    """The tokens of a text: words with the white space that follows them; nothing is lost."""
    return re.findall(r"\s*\S+\s*$|\s*\S+\s+|\s+$", text)


def _echo(messages: Sequence[Message]) -> str:
    last = next((message.content for message in reversed(messages) if message.role in {"user", "tool"}), "")
    return f"You said: {last}" if last else "I am listening."
