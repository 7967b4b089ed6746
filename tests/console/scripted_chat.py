"""`mirza chat` with a language model that follows a script, slow enough to be stopped: for tests in a terminal."""

from __future__ import annotations

import os
import sys

from mirza.cli import main
from mirza.console import chat
from mirza.history import History
from mirza.llm.base import OnProgress
from mirza.llm.scripted import ScriptedLlm
from mirza.pipeline import Conversation, Parts
from mirza.settings import SettingsTree

THOUGHT = " ".join(f"idea{n}" for n in range(200))
LONG = " ".join(f"word{n}" for n in range(400)) + "."


def build(settings: SettingsTree, history: History, on_progress: OnProgress) -> Conversation:
    token_s = float(os.environ.get("TOKEN_S", "0.005"))
    replies = [part for part in os.environ.get("REPLIES", "").split("|") if part]
    replies = [LONG if reply == "LONG" else reply for reply in replies]
    llm = ScriptedLlm(replies, thought=THOUGHT, token_s=token_s)
    return Conversation(Parts(llm=llm), settings, history, on_progress)


if __name__ == "__main__":
    chat.builder = lambda *, sound: build
    sys.exit(main(["chat", *sys.argv[1:]]))
