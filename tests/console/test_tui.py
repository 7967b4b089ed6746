"""The full screen, driven by Textual's own pilot: what a real terminal would be too slow to look at."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest
from textual.pilot import Pilot
from textual.widgets import Collapsible, Markdown, Static

from mirza.audio.base import MIC_RATE, Samples
from mirza.audio.files import RecordedSound
from mirza.console.script import Asked, Note
from mirza.console.session import Session
from mirza.console.theme import keep_theme
from mirza.console.transcript import MOST, PAGE, STEP, Transcript
from mirza.console.tui import MirzaApp, live_loop, next_budget
from mirza.console.widgets import Prompt, Replied, ReplyView, view
from mirza.errors import ModelNotFound
from mirza.history import History
from mirza.llm.base import Message, OnProgress, ThinkingBudget, Tool
from mirza.llm.scripted import ScriptedLlm
from mirza.parts import Parts
from mirza.pipeline import Conversation
from mirza.settings import SettingsTree
from mirza.settings_sources import load
from mirza.storage import open_store
from mirza.testing import LoudnessVad, ScriptedEndOfTurn, ToneStt, ToneTts, said, silence


class Screen:
    """A running app, its pilot, and what a test wants to know of it."""

    def __init__(self, app: MirzaApp, pilot: Pilot[int], llm: ScriptedLlm, room: RecordedSound, *, live: bool) -> None:
        self.app, self.pilot, self.llm, self.room = app, pilot, llm, room
        # Textual waits until the program is idle, for a second at most; one that listens to a room never is.
        self._pause_s = 0.05 if live else None

    async def say(self, text: str) -> None:
        self.app.query_one(Prompt).text = text
        await self.pilot.press("enter")

    async def settle(self, done: Callable[[], object]) -> None:
        for _ in range(600):
            await asyncio.sleep(0.03)
            if done():
                await self.pilot.pause(self._pause_s)
                return
        raise AssertionError(f"waited in vain; the screen is\n{self.text()}")

    async def answered(self, turns: int) -> None:
        await self.settle(lambda: len(self.app.session.turns) == turns and not self.app.session.answering)
        await self.settle(lambda: self.app.query_one(Transcript).current is None)

    def text(self) -> str:
        size = self.app.size
        return "\n".join(
            "".join(segment.text for segment in strip)
            for strip in self.app.screen._compositor.render_strips(size)  # what is on the screen has no public name
        )

    async def scroll(self, direction: int) -> None:
        """One page up or down, and what that mounts."""
        transcript = self.app.query_one(Transcript)
        await self.pilot.press("pageup" if direction < 0 else "pagedown")
        await self.pilot.pause()
        await self.settle(lambda: not transcript.moving)

    def replies(self) -> list[ReplyView]:
        return list(self.app.query(ReplyView))


@asynccontextmanager
async def screen(
    folder: Path,
    *replies: str,
    thought: str = "",
    token_s: float = 0.0,
    size: tuple[int, int] = (80, 24),
    resume: bool = False,
    think: str = "off",
    llm: ScriptedLlm | None = None,
    heard: Samples | None = None,
    **settings: object,
) -> AsyncIterator[Screen]:
    model = llm or ScriptedLlm(replies, thought=thought, token_s=token_s)
    room = RecordedSound(heard if heard is not None else silence(0), rate=MIC_RATE, tail_s=20.0)

    def build(tree: SettingsTree, history: History, on_progress: OnProgress) -> Conversation:
        parts = Parts(llm=model)
        if heard is not None:
            judge, stt, tts = ScriptedEndOfTurn(), ToneStt(), ToneTts(word_s=0.1)
            parts = Parts(llm=model, sound=room, vad=LoudnessVad(), end_of_turn=judge, stt=stt, tts=tts)
        return Conversation(parts, tree, history, on_progress)

    tree = SettingsTree.model_validate({"llm": {"thinking_budget": think}, **settings})
    session = Session(tree, build, folder / "conversations.sqlite")
    if resume:
        await session.resume()
    app, left = MirzaApp(session, keep_theme=keep_theme), asyncio.Event()
    living = asyncio.create_task(live_loop(session, app, left))
    async with app.run_test(size=size) as pilot:
        if llm is None:
            await app.ready.wait()
        yield Screen(app, pilot, model, room, live=heard is not None)
        left.set()
    if not app.ready.is_set():
        living.cancel()
    await asyncio.wait([living])


async def test_an_answer_is_shown_as_markdown_and_its_thought_stays_folded(tmp_path: Path):
    async with screen(tmp_path, "It is **Paris**.", thought="secret " * 20, think="5") as shown:
        await shown.say("capital?")
        await shown.answered(1)
        (reply,) = shown.replies()
        fold = reply.query_one(Collapsible)
        assert fold.collapsed
        assert fold.title == "thought · 5 tokens"
        assert "secret" not in shown.text()
        assert "It is Paris." in shown.text()
        await shown.pilot.press("ctrl+t")
        await shown.settle(lambda: "secret secret" in shown.text())
        assert "secret" not in reply.query_one(Markdown).source
        await shown.pilot.press("ctrl+t")
        await shown.settle(lambda: "secret" not in shown.text())


async def test_the_status_bar_tells_the_turn(tmp_path: Path):
    async with screen(tmp_path, "one two three four", token_s=0.01, size=(120, 24)) as shown:
        await shown.settle(lambda: "● ready" in shown.text())
        await shown.say("count")
        await shown.answered(1)
        bar = str(shown.app.query_one("#status", Static).render())
        for part in ("think off", "tok/s", "context", "cached 0%", "▓"):
            assert part in bar


async def test_the_keys_turn_thinking_up_and_down(tmp_path: Path):
    async with screen(tmp_path) as shown:
        await shown.pilot.press("f8", "f8")
        await shown.settle(lambda: shown.app.session.thinking.tokens == 256)
        await shown.pilot.press("f7")
        await shown.settle(lambda: "think 128 tokens" in shown.text())
        assert shown.llm.budget == ThinkingBudget(128)


@pytest.mark.parametrize(
    ("before", "step", "after"), [(0, 1, 128), (100, 1, 128), (4096, 1, 4096), (128, -1, 0), (0, -1, 0), (300, -1, 256)]
)
def test_steps_of_thinking(before: int, step: int, after: int):
    assert next_budget(ThinkingBudget(before), step) == ThinkingBudget(after)


async def test_typing_while_it_answers_interrupts_and_is_answered_next(tmp_path: Path):
    async with screen(tmp_path, "long " * 500, "Second.", token_s=0.005) as shown:
        await shown.say("first")
        await shown.settle(lambda: "long long" in shown.text() and "● answering" in shown.text())
        await shown.say("second")
        await shown.answered(2)
        assert [turn.interrupted for turn in shown.app.session.turns] == [True, False]
        first, second = shown.replies()
        assert first.entry.interrupted
        assert second.entry.text == "Second."


async def test_the_line_completes_recalls_and_breaks(tmp_path: Path):
    async with screen(tmp_path) as shown:
        prompt = shown.app.query_one(Prompt)
        await shown.say("first line")
        await shown.answered(1)
        await shown.pilot.press("up")
        assert prompt.text == "first line"
        await shown.pilot.press("down")
        assert prompt.text == ""
        await shown.pilot.press("slash", "t", "tab")
        assert prompt.text == "/think "
        prompt.text = "a"
        prompt.move_cursor(prompt.document.end)
        await shown.pilot.press("ctrl+j", "b")
        assert prompt.text == "a\nb"


async def test_a_wrong_command_suggests_the_right_one(tmp_path: Path):
    async with screen(tmp_path) as shown:
        await shown.say("/rest")
        await shown.settle(lambda: "Did you mean /reset?" in shown.text())


async def test_undo_and_reset_redraw_what_is_left(tmp_path: Path):
    async with screen(tmp_path, "Answer one.", "Answer two.") as shown:
        await shown.say("one")
        await shown.answered(1)
        await shown.say("two")
        await shown.answered(2)
        await shown.say("/undo")
        await shown.settle(lambda: "Taken back: two" in shown.text())
        assert "Answer two." not in shown.text()
        assert "Answer one." in shown.text()
        await shown.say("/reset")
        await shown.settle(lambda: "A new conversation." in shown.text())
        assert "Answer one." not in shown.text()


async def test_the_palette_runs_a_command(tmp_path: Path):
    async with screen(tmp_path) as shown:
        await shown.pilot.press("ctrl+p")
        await shown.settle(lambda: "/think" in shown.text() or "/delete" in shown.text())
        await shown.pilot.press(*"stats")
        await shown.settle(lambda: "tokens and times of the last turn" in shown.text())
        await shown.pilot.press("enter")
        await shown.pilot.press("enter")
        await shown.settle(lambda: "Nothing was measured yet." in shown.text())


async def test_control_characters_of_a_model_do_not_reach_the_terminal(tmp_path: Path):
    async with screen(tmp_path, "a\x1b]0;owned\x07b \x9b31m", thought="") as shown:
        await shown.say("x\x1b[2Jy")
        await shown.answered(1)
        assert "\x1b" not in shown.text()
        assert "\x9b" not in shown.text()
        assert "x␛[2Jy" in shown.text()


def keep_turns(folder: Path, turns: int, *, words: int = 30) -> None:
    messages = [
        message
        for n in range(turns)
        for message in (
            Message("user", f"question {n}"),
            Message("assistant", f"answer {n} " + "word " * words + "end"),
        )
    ]
    with open_store(folder / "conversations.sqlite")[0] as store:
        store.save(store.create(), 0, 0, messages)


def shown_entries(transcript: Transcript) -> list[str]:
    """What the transcript's widgets hold, the two edges left out."""
    return [str(child.render()) for child in transcript.children if isinstance(child, Static) and child.id is None]


async def test_2000_turns_open_with_one_page_of_widgets_and_never_have_more_than_a_few(tmp_path: Path):
    keep_turns(tmp_path, 2000)
    async with screen(tmp_path, resume=True) as shown:
        transcript = shown.app.query_one(Transcript)
        assert len(shown_entries(transcript)) == PAGE
        assert "answer 1999" in shown.text()
        oldest, most = 2000, 0
        for _ in range(9):
            before = min(turns_on(shown.text()))
            await shown.scroll(-1)
            entries = shown_entries(transcript)
            oldest, most = min(oldest, int(entries[0].split()[1])), max(most, len(entries))
            assert max(turns_on(shown.text())) in {before, before - 1}  # a page further up, and nothing left out
        assert oldest < 1970
        assert most <= MOST + STEP
        for _ in range(10):
            await shown.scroll(1)
            most = max(most, len(shown_entries(transcript)))
        assert "answer 1999" in shown.text()
        assert most <= MOST + STEP
        assert f"▲ {4000 - len(shown_entries(transcript))} earlier" in str(transcript.children[0].render())
        await shown.say("and on")
        await shown.answered(1)
        await shown.settle(lambda: "You said: and on" in shown.text())


def turns_on(text: str) -> set[int]:
    return {int(number) for number in re.findall(r"(?:question|answer) (\d+)", text)}


async def test_a_question_is_seen_however_far_its_asker_has_scrolled_away(tmp_path: Path):
    keep_turns(tmp_path, 60)
    async with screen(tmp_path, "Here.", resume=True) as shown:
        for _ in range(14):
            await shown.scroll(-1)
        assert "answer 59" not in "".join(shown_entries(shown.app.query_one(Transcript)))
        await shown.say("where am I?")
        await shown.answered(1)
        await shown.settle(lambda: "Here." in shown.text())
        assert "answer 59" in shown.text()


async def test_a_screen_taller_than_a_page_of_entries_is_filled(tmp_path: Path):
    keep_turns(tmp_path, 60, words=1)
    async with screen(tmp_path, resume=True, size=(80, 120)) as shown:
        await shown.settle(lambda: "question 40" in shown.text())
        assert "answer 59" in shown.text()


async def test_a_long_session_gives_back_the_widgets_that_are_far_above(tmp_path: Path):
    async with screen(tmp_path) as shown:
        transcript = shown.app.query_one(Transcript)
        for number in range(3 * PAGE):
            await transcript.add(Note(f"note {number}"))
            if number % 12 == 11:
                await shown.pilot.pause()
        await shown.settle(lambda: f"note {3 * PAGE - 1}" in shown.text())
        assert len(shown_entries(transcript)) <= MOST + STEP
        for _ in range(12):
            await shown.scroll(-1)
        assert "note 0" in shown_entries(transcript)


@pytest.mark.parametrize("text", ["Plain words, and a few more: just so.", "word " * 40 + "end", "天气很好 😀 é"])
def test_plain_words_are_shown_without_a_document_and_look_the_same(text: str):
    assert isinstance(view(Replied(text)), Static)


@pytest.mark.parametrize("text", ["**bold**", "- a list", "1. first", "see mirza.org", "one\ntwo", "`code`", "<b>", ""])
def test_what_may_be_markdown_is_shown_as_markdown(text: str):
    assert isinstance(view(Replied(text)), ReplyView)


async def test_plain_words_take_the_same_lines_as_a_document(tmp_path: Path):
    text = "Some words that are long enough to be broken into several lines, as any answer may be. " * 2 + "End"
    rows: list[list[str]] = []
    for words in (text, text + " *x*"):
        async with screen(tmp_path, size=(40, 24)) as shown:
            transcript = shown.app.query_one(Transcript)
            for entry in (Asked("before", typed=True), Replied(words), Asked("after", typed=True)):
                await transcript.add(entry)
            await shown.settle(lambda: "after" in shown.text())
            rows.append([line.rstrip() for line in shown.text().replace(" x", "  ").splitlines()])
    assert rows[0] == rows[1]


@pytest.mark.parametrize("size", [(20, 8), (40, 10), (200, 60)])
async def test_any_size_shows_the_answer_and_the_line(tmp_path: Path, size: tuple[int, int]):
    async with screen(tmp_path, "Fine.", size=size) as shown:
        await shown.say("well?")
        await shown.answered(1)
        assert "Fine." in shown.text()
        assert "ready" in shown.text()
        assert all(len(line) <= size[0] for line in shown.text().splitlines())


async def test_a_model_that_cannot_be_loaded_ends_the_screen_with_its_reason(tmp_path: Path):
    def build(tree: SettingsTree, history: History, on_progress: OnProgress) -> Conversation:
        raise ModelNotFound("There is no model.", "Pull one.")

    session = Session(SettingsTree(), build, tmp_path / "conversations.sqlite")
    app, left = MirzaApp(session), asyncio.Event()
    living: Awaitable[None] = asyncio.create_task(live_loop(session, app, left))
    async with app.run_test():
        with pytest.raises(ModelNotFound):
            await living
    assert app.return_code in {0, 1}


async def test_a_spoken_turn_is_shown_beside_the_typed_ones(tmp_path: Path):
    question = np.concatenate([silence(0.3), said("what can you do today"), silence(0.5)])
    async with screen(tmp_path, "I can listen.", "And read.", heard=question, size=(120, 24)) as shown:
        await shown.settle(lambda: "● ▁" in shown.text())  # the microphone, quiet
        await shown.settle(lambda: "hearing you" in shown.text() and "you what" in shown.text())  # a partial
        await shown.answered(1)
        await shown.say("and typed?")
        await shown.answered(2)
        assert [type(entry).__name__ for entry in shown.app.query_one(Transcript).entries] == ["Asked", "Replied"] * 2
        text = shown.text()
        for part in ("what can you do today", "I can listen.", "and typed?", "And read."):
            assert part in text
        (spoken, _) = shown.app.session.turns
        assert spoken.voice_to_voice_s is not None
        await shown.pilot.press("f2")
        await shown.settle(lambda: "○ muted" in shown.text() and "ready  muted" in shown.text())
        assert shown.app.session.conversation.ear.muted  # type: ignore[union-attr]
        await shown.pilot.press("f3")  # the microphone is open anyway
        await shown.settle(lambda: "Mirza listens all the time." in shown.text())


async def test_push_to_talk_says_on_the_screen_how_to_go_on(tmp_path: Path):
    async with screen(tmp_path, "I heard.", heard=silence(0.1), turns={"push_to_talk": True}) as shown:
        await shown.settle(lambda: "F3: press to talk" in shown.text())
        await shown.pilot.press("f3")
        await shown.settle(lambda: "listening: press F3 again to send" in shown.text())
        shown.room.say(said("hello there my friend"))
        await shown.settle(lambda: "to send  hello there" in shown.text())  # what was understood so far
        await shown.pilot.press("f3")
        await shown.answered(1)
        assert shown.app.session.messages[0].content.startswith("hello there")
        await shown.settle(lambda: "F3: press to talk" in shown.text() and "I heard." in shown.text())


async def test_push_to_talk_needs_a_microphone(tmp_path: Path):
    async with screen(tmp_path) as shown:
        await shown.pilot.press("f3")
        await shown.settle(lambda: "There is no microphone in this conversation." in shown.text())


@pytest.fixture
def own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user without a settings file."""
    for name in ("XDG_CONFIG_HOME", "HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.delenv("MIRZA_CONSOLE__THEME", raising=False)


@pytest.mark.usefixtures("own_settings")
async def test_the_theme_that_is_chosen_is_kept_for_next_time(tmp_path: Path):
    async with screen(tmp_path) as shown:
        assert shown.app.theme == "ansi-dark"
        await shown.pilot.press("ctrl+p", *"theme")
        await shown.settle(lambda: "Other colours" in shown.text())
        await shown.pilot.press("enter")
        await shown.settle(lambda: "dracula" in shown.text())
        await shown.pilot.press(*"nord")
        await shown.settle(lambda: "dracula" not in shown.text() and "nord" in shown.text())
        await shown.pilot.press("enter")
        await shown.settle(lambda: shown.app.theme == "nord" and load().tree.console.theme == "nord")
    async with screen(tmp_path, console={"theme": load().tree.console.theme}) as shown:
        assert shown.app.theme == "nord"
        shown.app.theme = "ansi-dark"  # the terminal's own again
        await shown.settle(lambda: load().origin("console.theme") == "default")


@pytest.mark.usefixtures("own_settings")
async def test_no_colours_win_over_a_kept_theme_and_a_variable_over_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MIRZA_CONSOLE__THEME", "dracula")
    async with screen(tmp_path, console={"theme": "dracula"}) as shown:
        shown.app.theme = "nord"
        await shown.settle(lambda: "but MIRZA_CONSOLE__THEME wins over it" in " ".join(shown.text().split()))
    monkeypatch.setenv("NO_COLOR", "1")
    async with screen(tmp_path, console={"theme": "nord"}) as shown:
        assert shown.app.theme == "ansi-light"


async def test_a_misspelt_theme_is_told_and_the_terminals_own_taken(tmp_path: Path):
    async with screen(tmp_path, console={"theme": "nrod"}) as shown:
        assert shown.app.theme == "ansi-dark"
        await shown.settle(lambda: "Did you mean nord?" in shown.text())


class SlowLlm(ScriptedLlm):
    """Loads when it is told to."""

    def __init__(self) -> None:
        super().__init__(["Here I am."])
        self.go = asyncio.Event()

    async def load(self, system: str = "", tools: Sequence[Tool] = (), on_progress: OnProgress | None = None) -> None:
        if on_progress is not None:
            on_progress("reading the model", 0.4)
        await self.go.wait()


async def test_what_is_typed_while_it_loads_is_said_when_it_is_ready(tmp_path: Path):
    llm = SlowLlm()
    async with screen(tmp_path, llm=llm) as shown:
        await shown.settle(lambda: "reading the model 40%" in shown.text())
        await shown.say("are you there?")
        await shown.pilot.pause()
        assert not llm.asked
        llm.go.set()
        await shown.answered(1)
        assert "Here I am." in shown.text()


async def test_leaving_while_it_loads_leaves_at_once(tmp_path: Path):
    async with screen(tmp_path, llm=SlowLlm()) as shown:
        await shown.settle(lambda: "reading the model 40%" in shown.text())
        await shown.pilot.press("ctrl+d")
        assert shown.app.return_value == 0
