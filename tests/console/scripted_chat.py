"""`mirza chat` with a language model that follows a script, slow enough to be stopped: for tests in a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator, Sequence

from mirza.cli import main
from mirza.console import chat
from mirza.events import LlmEvent
from mirza.history import History
from mirza.llm.base import Message, OnProgress, ThinkingBudget, Tool
from mirza.llm.scripted import ScriptedLlm
from mirza.parts import Parts
from mirza.pipeline import Conversation
from mirza.settings import SettingsTree

THOUGHT = " ".join(f"idea{n}" for n in range(200))
LONG = " ".join(f"word{n}" for n in range(400)) + "."


class ObligingLlm(ScriptedLlm):
    """Says `LONG` where something long is asked for, and else repeats what it was told."""

    async def _stream(
        self, messages: Sequence[Message], tools: Sequence[Tool], budget: ThinkingBudget
    ) -> AsyncGenerator[LlmEvent]:
        self._replies = [LONG] if "long" in messages[-1].content else []
        async for event in super()._stream(messages, tools, budget):
            yield event


def build(settings: SettingsTree, history: History, on_progress: OnProgress) -> Conversation:
    llm = ObligingLlm(thought=THOUGHT, token_s=float(os.environ.get("TOKEN_S", "0.01")))
    return Conversation(Parts(llm=llm), settings, history, on_progress)


if __name__ == "__main__":
    chat.builder = lambda *, sound: build
    sys.exit(main(["chat", *sys.argv[1:]]))
