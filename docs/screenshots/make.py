"""Makes the pictures of the documentation: `python docs/screenshots/make.py`. No model is needed."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from mirza.console.session import Session
from mirza.console.transcript import Transcript
from mirza.console.tui import MirzaApp, live_loop
from mirza.console.widgets import Prompt
from mirza.history import History
from mirza.llm.base import OnProgress
from mirza.llm.scripted import ScriptedLlm
from mirza.parts import Parts
from mirza.pipeline import Conversation
from mirza.settings import SettingsTree

HERE = Path(__file__).parent
THOUGHT = (
    "They want something quick for two, with what is in a cupboard. Pasta is safe. Aglio e olio needs garlic, oil and "
    "chilli, ten minutes. Say how much of each, keep it short."
)
REPLIES = (
    "Make *spaghetti aglio e olio*:\n\n"
    "1. Boil 200 g of spaghetti in salted water.\n"
    "2. Warm four sliced cloves of **garlic** in five spoons of oil, with a little chilli.\n"
    "3. Toss both with a ladle of the water.\n\n"
    "It takes ten minutes.",
    "Yes: leave the chilli out, and finish it with lemon and parsley.",
    "Gern. Guten Appetit! 🍝",
)
QUESTIONS = ("What can I cook for two, quickly?", "My daughter does not like it hot.", "Danke!")


async def picture(name: str, *, size: tuple[int, int], theme: str, unfold: bool = False, typed: str = "") -> None:
    """One picture: the questions are asked, the answers come, and the screen is written down."""

    def build(tree: SettingsTree, history: History, on_progress: OnProgress) -> Conversation:
        llm = ScriptedLlm(REPLIES, thought=THOUGHT, token_s=0.02, first_token_s=0.18, name="qwen3.5-4b")
        return Conversation(Parts(llm=llm), tree, history, on_progress)

    with tempfile.TemporaryDirectory() as folder:
        settings = SettingsTree.model_validate({"llm": {"thinking_budget": "32"}})
        session = Session(settings, build, Path(folder) / "conversations.sqlite")
        app, left = MirzaApp(session), asyncio.Event()
        living = asyncio.create_task(live_loop(session, app, left))
        async with app.run_test(size=size) as pilot:
            app.theme = theme
            await app.ready.wait()
            for question in QUESTIONS:
                await session.say(question)
            while app.query_one(Transcript).current is not None:  # noqa: ASYNC110 - the screen has its own pace
                await asyncio.sleep(0.05)
            if unfold:
                await pilot.press("ctrl+t")
            app.query_one(Prompt).text = typed
            await asyncio.sleep(0.3)
            await pilot.pause()
            (HERE / f"{name}.svg").write_text(app.export_screenshot(title="mirza"), encoding="utf-8")
            left.set()
        await living


async def main() -> None:
    await picture("chat", size=(88, 30), theme="ansi-dark")
    await picture("thoughts", size=(88, 40), theme="textual-dark", unfold=True)
    await picture("narrow", size=(40, 22), theme="textual-light", typed="/s")


if __name__ == "__main__":
    asyncio.run(main())
