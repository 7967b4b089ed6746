"""Thoughts and calls in text: whatever the stream cuts, what is spoken is the same."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mirza.events import SpeechDelta, ThinkingDelta
from mirza.llm.call_text import parse_call
from mirza.llm.tags import SPELLINGS, CallText, TagSplitter


def split(
    *deltas: str, opened: bool | None = False, tools: bool = False, cut: bool = False
) -> tuple[str, str, list[str]]:
    """The thought, the speech and the calls in a stream."""
    splitter = TagSplitter(opened=opened, tools=tools)
    pieces = [piece for delta in deltas for piece in splitter.push(delta)] + splitter.flush(cut=cut)
    thought = "".join(piece.text for piece in pieces if isinstance(piece, ThinkingDelta))
    speech = "".join(piece.text for piece in pieces if isinstance(piece, SpeechDelta))
    return thought, speech, [piece.text for piece in pieces if isinstance(piece, CallText)]


def test_a_tag_cut_by_the_stream_is_a_tag():
    assert split("<rea", "soning>x</reason", "ing>42") == ("x", "42", [])


@pytest.mark.parametrize("name", SPELLINGS)
def test_every_spelling_is_a_thought(name):
    assert split(f"<{name}>hm, ", f"well</{name}>\n\nHi") == ("hm, well", "Hi", [])
    assert split(f"<{name.upper()}>hm</{name.upper()}>Hi") == ("hm", "Hi", [])


def test_a_thought_that_is_never_closed_is_not_spoken():
    assert split("<think>", "x") == ("x", "", [])
    assert split("<think>x</thi") == ("x</thi", "", [])


def test_a_thought_that_the_template_opened_is_a_thought():
    assert split("rea", "son</th", "ink>Hi", opened=True) == ("reason", "Hi", [])
    assert split("rea", "son</th", "ink>Hi", opened=None) == ("reason", "Hi", [])


def test_where_it_is_not_known_whether_a_thought_was_opened_an_answer_without_tags_is_spoken():
    assert split("Hello ", "there.", opened=None) == ("", "Hello there.", [])


def test_where_it_is_not_known_what_was_cut_short_is_not_spoken():
    assert split("Let me see, the user", opened=None, cut=True) == ("Let me see, the user", "", [])


@pytest.mark.parametrize(
    "answer",
    [
        "The tag <think> opens a thought, and </think> closes it.",
        "`<think>` is a tag.",
        "a </think> b",
        "It is < 5 and <thin.",
        "Use <tool_call> for tools.",
    ],
)
def test_an_answer_about_tags_is_spoken_whole(answer):
    assert split(*answer) == ("", answer, [])
    assert split(f"<think>why</think>{answer}") == ("why", answer, [])


def test_what_stands_in_front_of_a_tag_on_the_first_line_is_only_white_space():
    assert split("\n ", "<think>x</think>", " y") == ("x", "y", [])


def test_a_tool_call_is_never_spoken_however_it_is_cut():
    call = '{"name": "weather", "arguments": {"city": "Paris"}}'
    text = f"Let me look.\n<tool_call>\n{call}\n</tool_call>"

    assert split(*text, tools=True) == ("", "Let me look.\n", [f"\n{call}\n"])
    assert split(text, tools=True) == ("", "Let me look.\n", [f"\n{call}\n"])


def test_once_the_server_has_a_field_for_thoughts_tags_are_text():
    splitter = TagSplitter(opened=None)

    pieces = splitter.literal() + splitter.push("<think> is a tag") + splitter.flush()

    assert pieces == [SpeechDelta("<think> is a tag")]


@given(st.data())
def test_how_a_stream_is_cut_changes_nothing(data):
    alphabet = ["<think>", "</think>", "<tool_call>", "</tool_call>", "<thi", "a", " b\n", "é", "<", "/", ">"]
    text = "".join(data.draw(st.lists(st.sampled_from(alphabet), max_size=12)))
    opened, tools = data.draw(st.sampled_from([True, False, None])), data.draw(st.booleans())
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=8)) | {0, len(text)})

    pieces = [text[start:end] for start, end in pairwise(cuts)]

    assert split(*pieces, opened=opened, tools=tools) == split(text, opened=opened, tools=tools)


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ('{"name": "f", "arguments": {"a": 1}}', "f", {"a": 1}),
        ('\n{"name": "f"}\n', "f", {}),
        ('{"name": "f", "arguments": "{\\"a\\": 1}"}', "f", {"a": 1}),
        ("<function=f>\n<parameter=city>\nParis\n</parameter>\n<parameter=n>\n3\n</parameter>\n</function>", "f", None),
    ],
)
def test_calls_are_read_as_models_write_them(text, name, arguments):
    call = parse_call(text)

    assert call is not None
    assert call[0] == name
    assert json.loads(call[1]) == ({"city": "Paris", "n": 3} if arguments is None else arguments)


@pytest.mark.parametrize("text", ["", "{", "5", '{"arguments": {}}', '{"name": 5}', "[]"])
def test_what_is_no_call_is_none(text):
    assert parse_call(text) is None


@pytest.mark.parametrize("end", range(len('{"city": "Paris"}')))
def test_a_call_cut_anywhere_is_not_spoken(end):
    text = '<tool_call>{"name": "w", "arguments": ' + '{"city": "Paris"}'[:end]

    thought, speech, calls = split(*text, tools=True)

    assert (thought, speech) == ("", "")
    assert all(parse_call(call) is None for call in calls)
