"""A conversation that goes on after a restart, on the real engine: what was there is not fed again."""

from __future__ import annotations

from pathlib import Path

from mirza.console.session import Session
from mirza.history import History
from mirza.llm.base import OnProgress
from mirza.llm.mlx.qwen import MlxQwenLlm
from mirza.mlx_thread import MlxThread
from mirza.parts import Parts
from mirza.pipeline import Conversation
from mirza.settings import LlmSettings, PathSettings, SettingsTree

TINY = Path(__file__).parent.parent / "fixtures" / "tiny-qwen35"
SYSTEM = "You are Mirza, a voice assistant. " * 12


def session(folder: Path) -> Session:
    """What `mirza chat` makes, in a process of its own: nothing but the folder is shared."""
    settings = SettingsTree(
        llm=LlmSettings(system=SYSTEM, max_tokens=8, temperature=0.0, mtp="off"),
        paths=PathSettings(data=folder / "data", cache=folder / "cache"),
    )

    def build(settings: SettingsTree, history: History, on_progress: OnProgress) -> Conversation:
        llm = MlxQwenLlm(str(TINY), settings.llm, thread=MlxThread(), snapshot_dir=folder / "cache" / "snapshots")
        return Conversation(Parts(llm), settings, history, on_progress)

    return Session(settings, build, folder / "conversations.sqlite")


async def test_a_resumed_conversation_is_warm_and_a_deleted_one_leaves_no_tokens(tmp_path: Path):
    async with session(tmp_path) as first:
        await first.say("Count to 9.")
        await first.say("Turn on the kitchen lights, please.")
        number = first.number
        before = first.turns[-1].llm

    again = session(tmp_path)
    await again.resume(number)
    async with again:
        await again.say("Turn off the bedroom lights, please.")
        warm = again.turns[-1].llm
        assert len(again.messages) == 6

        # The whole of the earlier conversation was reused, and only the new question was fed.
        assert warm.reused_tokens >= before.prompt_tokens
        assert warm.prefilled_tokens <= 40

        assert list((tmp_path / "cache" / "snapshots").iterdir())
        assert number is not None
        await again.delete(number)
        assert not (tmp_path / "cache" / "snapshots").exists()
