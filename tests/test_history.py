"""What is remembered."""

from __future__ import annotations

from mirza.events import ToolCall
from mirza.history import LOST_ANSWER, History
from mirza.llm.base import Message


def test_an_answer_of_which_nothing_was_heard_was_none():
    history = History()
    history.add_user("Hello?")
    history.add_answer("")
    history.add_answer("  ")
    assert history.messages == (Message("user", "Hello?"),)


def test_every_tool_call_has_its_answer():
    history = History()
    one, two = ToolCall("1", "light", "{}"), ToolCall("2", "clock", "{}")
    history.add_tool_exchange("One moment.", [(one, "lit"), (two, LOST_ANSWER)])
    assert history.messages == (
        Message("assistant", "One moment.", tool_calls=(one, two)),
        Message("tool", "lit", tool_call_id="1"),
        Message("tool", LOST_ANSWER, tool_call_id="2"),
    )


def test_undo_takes_a_whole_exchange_back():
    history = History(
        [Message("user", "a"), Message("assistant", "b"), Message("user", "c"), Message("assistant", "d")]
    )
    assert history.undo() == "c"
    assert [message.content for message in history.messages] == ["a", "b"]
    assert history.undo() == "a"
    assert history.undo() is None


def test_the_system_prompt_comes_first_and_is_no_part_of_it():
    history = History([Message("user", "a")])
    assert history.with_system("Be kind.")[0] == Message("system", "Be kind.")
    assert history.with_system("") == [Message("user", "a")]
