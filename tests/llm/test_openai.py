"""`OpenAiLlm`: what it says and which tools it calls, whatever the server sends it in."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from mirza.events import DoneReason, LlmDone, ThinkingDelta, ToolCall
from mirza.llm.base import Message, Tool, collect
from tests.llm.raw_server import (
    ASK,
    STALL,
    calls,
    delta,
    done,
    llm_at,
    raw_server,
    run,
    speech,
    thought,
    usage,
    words,
)


async def nothing(arguments) -> str:
    return ""


WEATHER = Tool("weather", "The weather somewhere.", nothing)


async def test_an_answer_streams_and_ends_with_the_servers_own_counts():
    cached = {"prompt_tokens_details": {"cached_tokens": 30}}
    async with raw_server([*words("Good ", "day."), done(), usage(40, 3, **cached)]) as server:
        llm = llm_at(server)

        events = await run(llm)

    assert speech(events) == "Good day."
    end = events[-1]
    assert isinstance(end, LlmDone)
    assert end.reason is DoneReason.STOP
    counts = end.stats
    assert (counts.prompt_tokens, counts.reused_tokens, counts.prefilled_tokens) == (40, 30, 10)
    assert (counts.thinking_tokens, counts.speech_tokens) == (0, 3)
    assert llm.stats == counts


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
async def test_thoughts_in_a_field_of_their_own_are_thoughts(name):
    script = [*words("Let ", "me see.", field=name), *words("Hi ", "<think> you."), done()]
    async with raw_server(script) as server:
        events = await run(llm_at(server), thinking=10)

    assert (thought(events), speech(events)) == ("Let me see.", "Hi <think> you.")
    assert events[-1].stats.thinking_tokens == 2


@pytest.mark.parametrize("texts", [("<thi", "nk>", "hm", "</th", "ink>", "\n\nHi"), ("hm", "</th", "ink>", "Hi")])
async def test_thoughts_that_the_server_leaves_in_the_text_are_thoughts(texts):
    async with raw_server([*words(*texts), done()]) as server:
        events = await run(llm_at(server), thinking=10)

    assert (thought(events), speech(events)) == ("hm", "Hi")


@pytest.mark.parametrize(
    "script",
    [
        [*words("hm", field="reasoning"), *words("Hi"), done()],
        [*words("hm</think>Hi"), done()],
        [*words("<think>hm</think>Hi"), done()],
    ],
)
async def test_a_thought_is_never_spoken_though_thinking_is_off_and_the_server_thinks_all_the_same(script):
    async with raw_server(script) as server:
        events = await run(llm_at(server))

    assert (thought(events), speech(events)) == ("", "Hi")


async def test_an_answer_about_tags_is_spoken_whole():
    question = "The tag <think> opens a thought, </think> closes it."
    async with raw_server([*words("Hello."), done()], [*words(*question), done()]) as server:
        llm = llm_at(server)
        await run(llm)  # the server is seen to leave no thoughts in the text

        assert speech(await run(llm)) == question


async def test_what_the_first_question_at_load_teaches_keeps_later_answers_from_being_held_back():
    """A template that opens thoughts is known after loading, so that they stream as they come."""
    opened = [*words("rea", "son", "</think>", "ready"), done()]
    async with raw_server(opened, opened, [*words("why ", "not", "</think>", "Hi"), STALL]) as server:
        llm = llm_at(server, thinking_budget="50")
        await llm.load("Be brief.")

        async with aclosing(llm.stream(ASK)) as stream:
            first = await anext(stream)

    assert first == ThinkingDelta("why ")


def call_delta(index: int, arguments: str, name: str | None = None, call_id: str | None = None) -> dict[str, object]:
    function = {"arguments": arguments} | ({"name": name} if name else {})
    return delta(tool_calls=[{"index": index, "function": function} | ({"id": call_id} if call_id else {})])


async def test_tool_calls_are_put_together_from_their_pieces():
    script = [
        *words("Let me look."),
        call_delta(0, "", "weather", "a1"),
        *(call_delta(0, character) for character in '{"city": "Paris"}'),
        call_delta(1, '{"city": "Lyon"}', "weather", "a2"),
        done("tool_calls"),
    ]
    async with raw_server(script) as server:
        events = await run(llm_at(server), tools=(WEATHER,))

    assert speech(events) == "Let me look."
    assert calls(events) == [
        ToolCall("a1", "weather", '{"city": "Paris"}'),
        ToolCall("a2", "weather", '{"city": "Lyon"}'),
    ]
    assert events[-1].reason is DoneReason.TOOL
    assert server.requests[0]["tools"][0]["function"]["name"] == "weather"


@pytest.mark.parametrize("loaded", [False, True])
async def test_a_call_that_the_server_leaves_in_the_text_is_a_call_and_not_spoken(loaded):
    text = 'One moment. <tool_call>\n{"name": "weather", "arguments": {"city": "Paris"}}\n</tool_call>'
    ready = [[*words("ready"), done()]] if loaded else []
    async with raw_server(*ready, [*words(*text), done()]) as server:
        llm = llm_at(server)
        if loaded:
            await llm.load()
        events = await run(llm, tools=(WEATHER,))

    assert speech(events).strip() == "One moment."
    assert [(call.name, call.arguments) for call in calls(events)] == [("weather", '{"city": "Paris"}')]
    assert events[-1].reason is DoneReason.TOOL


async def test_a_call_that_was_cut_short_is_no_call():
    script = [call_delta(0, '{"city": "Par', "weather", "a1"), done("length")]
    async with raw_server(script) as server:
        events = await run(llm_at(server), tools=(WEATHER,))

    assert calls(events) == []
    assert events[-1].reason is DoneReason.LENGTH


@pytest.mark.parametrize("size", range(len('{"city": "Paris"}')))
async def test_stopped_at_any_byte_of_a_call_the_next_answer_is_right(size):
    arguments = '{"city": "Paris"}'[:size]
    script = [*words("Wait."), call_delta(0, "", "weather", "a1"), *(call_delta(0, c) for c in arguments), STALL]
    async with raw_server(script, [*words("Hi"), done()]) as server:
        llm = llm_at(server)
        task = asyncio.create_task(run(llm, tools=(WEATHER,)))
        await server.asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

        assert speech(await run(llm, tools=(WEATHER,))) == "Hi"


async def test_history_with_calls_and_results_goes_back_as_the_server_wants_it():
    call = ToolCall("a1", "weather", "{}")
    talk = [Message("user", "?"), Message("assistant", "", (call,)), Message("tool", "sunny", tool_call_id="a1")]
    async with raw_server([*words("Sunny."), done()]) as server, aclosing(llm_at(server).stream(talk)) as stream:
        await collect(stream)

    _, asked, answered = server.requests[0]["messages"]
    assert asked["tool_calls"] == [{"id": "a1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}]
    assert answered == {"role": "tool", "content": "sunny", "tool_call_id": "a1"}
