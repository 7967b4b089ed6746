"""Both consoles in a real terminal: typed into, stopped, resized, pasted into, killed; then the screen is right.

A start takes seconds, so that scenes share one chat where they can: each begins a new conversation in it.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from mirza.storage import open_store
from tests.console.terminal import Terminal

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed: `apt install tmux`")


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """A terminal with a shell in it."""
    screen = Terminal(tmp_path)
    yield screen
    screen.close()


@pytest.fixture(scope="module")
def plain_chat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    """The line-based chat, left as a person leaves it when all scenes are over."""
    screen = Terminal(tmp_path_factory.mktemp("plain"))
    screen.run("--plain", "--thoughts")
    screen.wait_for("Ctrl-D leaves.")
    yield screen
    screen.press("C-d")
    screen.left()
    screen.close()


@pytest.fixture
def plain(plain_chat: Terminal) -> Terminal:
    """The line-based chat at the beginning of a conversation."""
    plain_chat.say("/reset")
    plain_chat.wait_for("A new conversation.")
    plain_chat.press("C-l")
    plain_chat.wait_for(lambda text: text.strip() == ">")
    return plain_chat


@pytest.fixture(scope="module")
def full_chat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    """The full screen, left as a person leaves it when all scenes are over."""
    screen = Terminal(
        tmp_path_factory.mktemp("full"), environment={"COLUMNS": "80", "LINES": "24"}
    )  # as a shell may export them
    screen.run()
    screen.wait_for("● ready")
    yield screen
    screen.press("C-d")
    screen.left()
    screen.close()


@pytest.fixture
def full(full_chat: Terminal) -> Terminal:
    """The full screen at the beginning of a conversation."""
    full_chat.say("/reset")
    full_chat.wait_for(re.compile(r"A new conversation\..*\n─").search)  # as the last thing, not the one before it
    return full_chat


def kept(terminal: Terminal) -> list[str]:
    """The messages of the last conversation on the disk."""
    with open_store(terminal.data / "conversations.sqlite")[0] as store:
        number = store.last()
        return [message.content for message in store.messages(number)] if number is not None else []


# --- line by line


def test_plain_typing_stopping_and_going_on(plain: Terminal):
    plain.say("hi")
    plain.wait_for("You said: hi\n>")
    plain.press("C-c")  # at the prompt: the line goes, the program stays
    plain.type("half a li")
    plain.press("C-c")
    plain.wait_for(lambda text: text.count("Ctrl-D leaves.") == 2)
    plain.say("tell me something long")
    plain.wait_for("word5")
    plain.press("C-c")  # in the answer: it stops
    plain.wait_for("[stopped]")
    plain.say("and now?")
    plain.wait_for("You said: and now?")
    plain.press("Up", "Up")
    plain.wait_for("\n> tell me something long")
    plain.press("C-u")
    said = kept(plain)
    assert said[:3] == ["hi", "You said: hi", "tell me something long"]
    assert re.fullmatch(r"(word\d+ )+", said[3])
    assert said[4:] == ["and now?", "You said: and now?"]


def test_plain_stopped_in_a_thought_says_nothing_and_goes_on(plain: Terminal):
    plain.say("/think 200")
    plain.wait_for("Thinking: 200 tokens.")
    plain.say("think hard")
    plain.wait_for("idea5")
    plain.press("C-c")
    plain.wait_for("[stopped]")
    plain.say("/think off")
    plain.wait_for("Thinking: off.")
    plain.say("hello")
    plain.wait_for("You said: hello")
    assert kept(plain) == ["think hard", "hello", "You said: hello"]


def test_plain_a_paste_of_10000_characters_and_several_lines_is_one_turn(plain: Terminal):
    text = "\n".join(f"line {n} " + "x" * 90 for n in range(100)) + "\nlast 天气 é 😀"
    assert len(text) > 10_000 - 200
    plain.paste(text)
    plain.wait_for("last 天气")
    plain.press("Enter")
    plain.wait_for("You said: line 0", scrolled=True)
    plain.wait_for("😀\n>")
    assert kept(plain)[0] == text


def test_plain_completes_commands_and_corrects_them(plain: Terminal):
    plain.type("/thi")
    plain.press("Tab")
    plain.type("64")
    plain.press("Enter")
    plain.wait_for("Thinking: 64 tokens.")
    plain.say("/rset")
    plain.wait_for("There is no /rset. Did you mean /reset?")
    plain.say("/help")
    plain.wait_for("/retry")
    plain.say("/think off")
    plain.wait_for("Thinking: off.")


def test_plain_a_polite_kill_leaves_the_terminal_as_it_was(terminal: Terminal):
    terminal.run("--plain")
    terminal.wait_for("Ctrl-D leaves.")
    terminal.say("a long one")
    terminal.wait_for("word3")
    terminal.signal("TERM")
    terminal.left(status=143)
    assert kept(terminal)[1].startswith("word0 ")


def test_a_dumb_terminal_gets_lines_by_itself(terminal: Terminal):
    terminal.run(before="TERM=dumb")
    terminal.wait_for("\n>")
    terminal.say("hi")
    terminal.wait_for("You said: hi")
    terminal.press("C-c")
    terminal.say("a long one")
    terminal.wait_for("word3")
    terminal.press("C-c")
    terminal.wait_for("[stopped]")
    terminal.press("C-d")
    assert "\x1b" not in terminal.left()


# --- full screen


def test_full_screen_streams_and_esc_stops_a_thought_and_an_answer(full: Terminal):
    full.say("/think 200")
    full.wait_for("Thinking: 200 tokens.")
    full.say("think hard")
    full.wait_for("thinking … ·")
    assert "idea" not in full.screen()  # folded
    full.press("Escape")
    full.wait_for("stopped here")
    full.say("/think off")
    full.wait_for("Thinking: off.")
    full.say("a long one")
    full.wait_for("word5")
    full.press("Escape")
    full.wait_for(lambda text: text.count("stopped here") == 2)
    full.say("the end")
    full.wait_for("You said: the end")
    said = kept(full)
    assert said[:2] == ["think hard", "a long one"]
    assert said[2].startswith("word0 word1")
    assert not said[2].endswith(".")
    assert said[3:] == ["the end", "You said: the end"]


def test_full_screen_resized_while_it_streams(full: Terminal):
    full.say("a long one")
    full.wait_for("word5")
    full.resize(32, 12)
    full.wait_for("word60")
    full.resize(110, 40)
    text = full.wait_for("word399.")
    words = [int(number) for number in re.findall(r"\bword(\d+)", text)]
    assert words == list(range(words[0], 400))  # nothing lost or doubled by the new width
    assert "● ready" in full.wait_for("● ready")
    full.resize(80, 24)


def test_full_screen_takes_a_paste_of_10000_wide_characters(full: Terminal):
    text = "天气很好😀é" * 1600 + "\nand a second line"
    assert len(text) > 10_000 - 400
    full.paste(text)
    full.wait_for("and a second line")
    full.press("Enter")
    full.wait_for(lambda _: kept(full)[1:] == [f"You said: {text}"])  # which is longer than the screen
    full.wait_for("● ready")
    assert kept(full)[0] == text


def test_full_screen_ctrl_c_stops_clears_and_never_leaves(full: Terminal):
    full.press("C-c")
    full.wait_for("Ctrl-D leaves.")
    full.type("half a line")
    full.press("C-c")
    full.wait_for(lambda text: "half a line" not in text)
    full.say("a long one")
    full.wait_for("word3")
    full.press("C-c")
    full.wait_for("stopped here")
    full.say("well?")
    full.wait_for("You said: well?")


def test_full_screen_killed_politely_without_colours_is_resumed_later(terminal: Terminal):
    terminal.run("--stats", before="NO_COLOR=1")
    terminal.wait_for("● ready")
    terminal.say("a long question")
    terminal.wait_for("word3")
    terminal.signal("TERM")
    terminal.left(status=143)
    assert kept(terminal)[1].startswith("word0 ")
    terminal.run("--resume", before="NO_COLOR=1")
    text = terminal.wait_for("● ready")
    assert "a long question" in text
    assert "word0 word1" in text
    terminal.press("C-d")
    terminal.left()
