"""Both consoles in a real terminal: typed into, stopped, resized, pasted into, killed; then the screen is right."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mirza.storage import open_store
from tests.console.terminal import Terminal

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed: `apt install tmux`")

Open = Callable[..., Terminal]


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Open]:
    opened: list[Terminal] = []

    def start(columns: int = 80, lines: int = 24, **environment: str) -> Terminal:
        opened.append(Terminal(tmp_path, columns=columns, lines=lines, environment=environment))
        return opened[-1]

    yield start
    for each in opened:
        each.close()


def kept(terminal: Terminal, conversation: int = 1) -> list[str]:
    with open_store(terminal.data / "conversations.sqlite")[0] as store:
        return [message.content for message in store.messages(conversation)]


# --- line by line


def test_plain_typing_stopping_and_leaving(terminal: Open):
    screen = terminal(TOKEN_S="0.02", REPLIES="Hello there.|LONG")
    screen.run("--plain")
    screen.wait_for("Ctrl-D leaves.")
    screen.say("hi")
    screen.wait_for("Hello there.\n>")
    screen.press("C-c")  # at the prompt: the line goes, the program stays
    screen.type("half a li")
    screen.press("C-c")
    screen.wait_for(lambda text: text.count("Ctrl-D leaves.") >= 3)
    screen.say("tell me more")
    screen.wait_for("word5")
    screen.press("C-c")  # in the answer: it stops
    screen.wait_for("[stopped]")
    screen.say("and now?")
    screen.wait_for("You said: and now?")
    screen.press("Up", "Up")
    screen.wait_for("> tell me more")
    screen.press("C-u", "C-d")
    screen.left()
    said = kept(screen)
    assert said[:3] == ["hi", "Hello there.", "tell me more"]
    assert re.fullmatch(r"(word\d+ )+", said[3])
    assert said[4:] == ["and now?", "You said: and now?"]


def test_plain_stopped_in_a_thought_says_nothing_and_goes_on(terminal: Open):
    screen = terminal(TOKEN_S="0.02", REPLIES="Never said.")
    screen.run("--plain", "--think", "200", "--thoughts")
    screen.wait_for("Ctrl-D leaves.")
    screen.say("think hard")
    screen.wait_for("idea5")
    screen.press("C-c")
    screen.wait_for("[stopped]")
    screen.say("/think off")
    screen.wait_for("Thinking: off.")
    screen.say("hello")
    screen.wait_for("You said: hello")
    screen.say("/quit")
    assert "Never said." not in screen.left()
    assert kept(screen) == ["think hard", "hello", "You said: hello"]


def test_plain_a_paste_of_10000_characters_and_several_lines_is_one_turn(terminal: Open):
    screen = terminal()
    screen.run("--plain")
    screen.wait_for("Ctrl-D leaves.")
    text = "\n".join(f"line {n} " + "x" * 90 for n in range(100)) + "\nlast 天气 é 😀"
    assert len(text) > 10_000 - 200
    screen.paste(text)
    screen.wait_for("last 天气")
    screen.press("Enter")
    screen.wait_for("You said: line 0", scrolled=True)
    screen.wait_for("\n>")
    screen.press("C-d")
    screen.left()
    assert kept(screen)[0] == text


def test_plain_completes_commands_and_corrects_them(terminal: Open):
    screen = terminal()
    screen.run("--plain")
    screen.wait_for("Ctrl-D leaves.")
    screen.type("/thi")
    screen.press("Tab")
    screen.type("64")
    screen.press("Enter")
    screen.wait_for("Thinking: 64 tokens.")
    screen.say("/rset")
    screen.wait_for("There is no /rset. Did you mean /reset?")
    screen.say("/help")
    screen.wait_for("/retry")
    screen.press("C-d")
    screen.left()


@pytest.mark.parametrize("mode", ["--plain", "--stats"])
def test_a_polite_kill_leaves_the_terminal_as_it_was(terminal: Open, mode: str):
    """`--plain` is line by line; with `--stats` alone it is the full screen."""
    screen = terminal(TOKEN_S="0.02", REPLIES="LONG")
    screen.run(mode)
    screen.wait_for("Ctrl-D leaves." if mode == "--plain" else "● ready")
    screen.say("tell me")
    screen.wait_for("word3")
    screen.signal("TERM")
    screen.left(status=143)
    assert kept(screen)[1].startswith("word0 ")


def test_a_dumb_terminal_gets_lines_by_itself(terminal: Open):
    screen = terminal(TOKEN_S="0.02", REPLIES="Hello.|LONG")
    screen.run(before="TERM=dumb")
    screen.wait_for("\n>")
    screen.say("hi")
    screen.wait_for("Hello.")
    screen.press("C-c")
    screen.say("more")
    screen.wait_for("word3")
    screen.press("C-c")
    screen.wait_for("[stopped]")
    screen.press("C-d")
    assert "\x1b" not in screen.left()


# --- full screen


def test_full_screen_streams_and_esc_stops_a_thought_and_an_answer(terminal: Open):
    screen = terminal(TOKEN_S="0.02", REPLIES="Never said.|LONG|Done.")
    screen.run("--think", "200")
    screen.wait_for("● ready")
    screen.say("think hard")
    screen.wait_for("thinking … ·")
    assert "idea" not in screen.screen()  # folded
    screen.press("Escape")
    screen.wait_for("stopped here")
    screen.say("/think off")
    screen.wait_for("Thinking: off.")
    screen.say("a long one")
    screen.wait_for("word5")
    screen.press("Escape")
    screen.wait_for(lambda text: text.count("stopped here") == 2)
    screen.say("the end")
    screen.wait_for("Done.")
    screen.press("C-d")
    screen.left()
    said = kept(screen)
    assert said[:2] == ["think hard", "a long one"]
    assert said[2].startswith("word0 word1")
    assert not said[2].endswith(".")
    assert said[3:] == ["the end", "Done."]


def test_full_screen_resized_while_it_streams(terminal: Open):
    screen = terminal(TOKEN_S="0.005", REPLIES="LONG")
    screen.run()
    screen.wait_for("● ready")
    screen.say("tell me")
    screen.wait_for("word5")
    screen.resize(32, 12)
    screen.wait_for("word60")
    screen.resize(110, 40)
    text = screen.wait_for("word399.")
    words = [int(number) for number in re.findall(r"\bword(\d+)", text)]
    assert words == list(range(words[0], 400))  # nothing lost or doubled by the new width
    assert "● ready" in screen.wait_for("● ready")
    screen.press("C-d")
    screen.left()


def test_full_screen_takes_a_paste_of_10000_wide_characters(terminal: Open):
    screen = terminal()
    screen.run()
    screen.wait_for("● ready")
    text = "天气很好😀é" * 1600 + "\nand a second line"
    assert len(text) > 10_000 - 400
    screen.paste(text)
    screen.wait_for("and a second line")
    screen.press("Enter")
    screen.wait_for("● ready")
    screen.press("C-d")
    screen.left()
    assert kept(screen)[0] == text


def test_full_screen_ctrl_c_stops_clears_and_never_leaves(terminal: Open):
    screen = terminal(TOKEN_S="0.02", REPLIES="LONG|Still here.", NO_COLOR="1")
    screen.run()
    screen.wait_for("● ready")
    screen.press("C-c")
    screen.wait_for("Ctrl-D leaves.")
    screen.type("half a line")
    screen.press("C-c")
    screen.wait_for(lambda text: "half a line" not in text)
    screen.say("go")
    screen.wait_for("word3")
    screen.press("C-c")
    screen.wait_for("stopped here")
    screen.say("well?")
    screen.wait_for("Still here.")
    screen.press("C-d")
    screen.left()


def test_what_was_typed_is_resumed_later(terminal: Open):
    screen = terminal(REPLIES="The first answer.")
    screen.run()
    screen.wait_for("● ready")
    screen.say("the first question")
    screen.wait_for("The first answer.")
    screen.press("C-d")
    screen.left()
    screen.run("--resume")
    text = screen.wait_for("● ready")
    assert "the first question" in text
    assert "The first answer." in text
    screen.press("C-d")
    screen.left()
