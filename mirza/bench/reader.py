"""`Reader`: answers each question with the next of some texts, for talks that try the ears and the voice alone."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from mirza.events import LlmEvent
from mirza.llm.base import BaseLlm, Message, OnProgress, ThinkingBudget, Tool
from mirza.llm.scripted import ScriptedLlm

TOKEN_S = 0.05
"""Seconds a word: quicker than any voice."""


class Reader(BaseLlm):
    """The first question gets the first text, and so on, however often an answer was begun and thrown away."""

    def __init__(self, texts: Sequence[str]) -> None:
        super().__init__()
        self._texts = texts

    async def load(self, system: str = "", tools: Sequence[Tool] = (), on_progress: OnProgress | None = None) -> None:
        """Is ready at once."""

    async def unload(self) -> None:
        """Has nothing to give back."""

    async def _stream(
        self, messages: Sequence[Message], tools: Sequence[Tool], budget: ThinkingBudget
    ) -> AsyncGenerator[LlmEvent]:
        asked = sum(message.role == "user" for message in messages)
        text = self._texts[(asked - 1) % len(self._texts)]
        inner = ScriptedLlm([text], token_s=TOKEN_S, max_tokens=len(text))
        async with aclosing(inner.stream(messages, tools=tools, thinking=budget)) as events:
            async for event in events:
                yield event
