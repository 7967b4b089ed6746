"""From ids to events: what is thought, what is said, what is asked of a tool."""

import pytest
from transformers import AutoTokenizer

from mirza.events import DoneReason, SpeechDelta, ThinkingDelta, ToolCall
from mirza.llm.base import Message
from mirza.llm.mlx.answer import AnswerReader, Markers
from mirza.llm.mlx.memory import Memory, Said
from mirza.llm.mlx.template import ChatTemplate
from mirza.llm.mlx.tool_calls import tool_format
from tests.llm.mlx_scenes import TINY

tokenizer = AutoTokenizer.from_pretrained(TINY)
template = ChatTemplate(tokenizer)
STOP = tokenizer.convert_tokens_to_ids("<|im_end|>")


def encode(text):
    return tokenizer.encode(text, add_special_tokens=False)


def read(ids, *, thinking=False, max_tokens=100):
    calls = tool_format(template.text, tokenizer)
    markers = Markers(
        stops={STOP},
        thought=template.thought,
        tool_start=calls.start,
        tool_end=calls.end,
        parse_calls=lambda body: calls.parse(body, new_id=lambda: "call_1"),
    )
    reader = AnswerReader(tokenizer, markers, max_tokens=max_tokens, thinking=thinking)
    events = []
    for token in ids:
        events += reader.push(token)
        if reader.done:
            break
    return reader, events + reader.finish()


def text(events, kind):
    return "".join(event.text for event in events if isinstance(event, kind))


def test_what_comes_before_the_closing_token_is_thought():
    reader, events = read(encode("a reason\n</think>\n\nHello.<|im_end|>"), thinking=True)
    assert (text(events, ThinkingDelta).strip(), text(events, SpeechDelta)) == ("a reason", "Hello.")
    assert reader.done is DoneReason.STOP


def test_an_answer_that_spells_the_tag_out_is_spoken_whole():
    spelled = template.encode("It says <think> and then </think>.")
    _, events = read([*spelled, STOP])
    assert text(events, SpeechDelta) == "It says <think> and then </think>."
    assert text(events, ThinkingDelta) == ""


def test_a_model_that_opens_the_block_itself_is_not_spoken():
    _, events = read(encode("<think>\nhm\n</think>\n\nYes.<|im_end|>"))
    assert (text(events, ThinkingDelta).strip(), text(events, SpeechDelta)) == ("hm", "Yes.")


def test_a_thought_that_never_ends_is_never_spoken():
    _, events = read(encode("still thinking about it"), thinking=True)
    assert text(events, SpeechDelta) == ""


def test_a_tool_call_is_an_event_and_no_speech():
    body = "<tool_call>\n<function=set_light>\n<parameter=room>\nkitchen\n</parameter>\n</function>\n</tool_call>"
    reader, events = read(encode(f"One moment.{body}<|im_end|>"))
    assert text(events, SpeechDelta) == "One moment."
    assert [event for event in events if isinstance(event, ToolCall)] == [
        ToolCall("call_1", "set_light", '{"room": "kitchen"}')
    ]
    assert reader.done is DoneReason.TOOL


def test_a_tool_call_inside_a_thought_ends_the_thought():
    body = "<tool_call>\n<function=set_light>\n<parameter=room>\nkitchen\n</parameter>\n</function>\n</tool_call>"
    reader, events = read(encode(f"I need the tool.{body}<|im_end|>"), thinking=True)
    assert text(events, ThinkingDelta) == "I need the tool."
    assert [call.name for call in reader.calls] == ["set_light"] and text(events, SpeechDelta) == ""


@pytest.mark.parametrize("cut", range(1, 12))
def test_an_answer_that_ends_inside_a_character_says_nothing_broken(cut):
    ids = encode("👩‍👩‍👧 こ ď")[:cut]
    _, events = read([*ids, STOP])
    assert "\ufffd" not in text(events, SpeechDelta)


def test_an_answer_at_its_limit_is_over():
    reader, _ = read(encode("one two three four five six"), max_tokens=3)
    assert reader.done is DoneReason.LENGTH and len(reader.answer_ids) == 3


def said(words):
    ids = encode(words)
    return Said(words, (), tuple(ids), tuple(tokenizer.decode([token]) for token in ids))


def test_a_model_that_writes_nothing_but_space_is_ended():
    blank = encode("\n")
    reader, events = read(blank * 500)
    assert reader.done is DoneReason.LENGTH
    assert events == []


def test_what_was_heard_is_kept_in_the_tokens_it_was_said_with():
    whole = said("Done, the kitchen lights are on.")
    heard = whole.cut("Done, the  kitchen", encode)
    assert list(heard.ids) == list(whole.ids)[: len(heard.ids)]
    assert tokenizer.decode(heard.ids) == "Done, the kitchen"


def test_what_was_heard_may_end_inside_a_token():
    whole = said("Done, the kitchen lights are on.")
    heard = whole.cut("Done, the kitch", encode)
    assert tokenizer.decode(heard.ids) == "Done, the kitch"
    again = heard.cut("Done, the", encode)
    assert tokenizer.decode(again.ids) == "Done, the"


@pytest.mark.parametrize("tail", [(), ("",), ("", "")])
def test_an_answer_is_remembered_without_the_beginning_of_a_character(tail):
    texts = ("Oui", " ", "👩", "", "", *tail)
    kept = Said.of(tuple(range(len(texts))), texts, (), ())
    assert kept == Said("Oui 👩", (), (0, 1, 2), ("Oui", " ", "👩"))


def test_an_answer_of_nothing_but_the_beginning_of_a_character_is_none():
    assert Said.of((7, 8), ("", ""), (), (1, 2)) is None


def test_the_tokens_of_a_call_are_kept_though_they_have_no_text():
    call = ToolCall("1", "light", "{}")
    assert Said.of((7, 8, 9), ("On it.", "", ""), (call,), ()) == Said("On it.", (call,), (7, 8, 9), ("On it.", "", ""))


def test_each_message_of_a_history_finds_its_own_tokens_from_the_last_one_back():
    memory = Memory()
    one, two = Said("Yes.", (), (1, 2), ("Yes", ".")), Said("Yes.", (), (3,), ("Yes.",))
    for answer in (one, Said("No.", (), (4,), ("No.",)), two):
        memory.add(answer)
    messages = [Message("assistant", "Yes."), Message("user", "Sure?"), Message("assistant", " Yes.\n")]
    kept = memory.kept(messages)
    assert (kept[0].answer, kept[2].answer) == ((1, 2), (3,))
    assert memory.kept([Message("assistant", "Never said.")]) == {}
