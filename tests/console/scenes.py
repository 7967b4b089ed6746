"""A session with a scripted language model, for the tests of both consoles."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mirza.console.session import Session
from mirza.history import History
from mirza.llm.base import OnProgress
from mirza.llm.scripted import Reply, ScriptedLlm
from mirza.parts import Parts
from mirza.pipeline import Conversation
from mirza.settings import SettingsTree


def session_in(
    folder: Path, replies: Sequence[Reply] = (), *, thought: str = "", token_s: float = 0.0, **settings: object
) -> Session:
    """A session whose conversations are kept in `folder`. `settings` are sections, e.g. `llm={"model": "x"}`."""

    def build(tree: SettingsTree, history: History, on_progress: OnProgress) -> Conversation:
        llm = ScriptedLlm(replies, thought=thought, token_s=token_s)
        return Conversation(Parts(llm=llm), tree, history, on_progress)

    return Session(SettingsTree.model_validate(settings), build, folder / "conversations.sqlite")
