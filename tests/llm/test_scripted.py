"""`ScriptedLlm` keeps the promises of every language model, so that what is tested with it means something."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from mirza.errors import ModelBusy, ServerError
from mirza.events import DoneReason, LlmDone, LlmEvent, SpeechDelta, ThinkingDelta, ToolCall
from mirza.llm.base import Message, ThinkingBudget, collect
from mirza.llm.scripted import ScriptedLlm, words

ASK = (Message("user", "what time is it"),)


async def run(llm: ScriptedLlm, **options: object) -> list[LlmEvent]:
    async with aclosing(llm.stream(ASK, **options)) as stream:
        return [event async for event in stream]


async def test_it_says_its_lines_in_order_and_then_repeats_what_it_is_told():
    llm = ScriptedLlm(["First.", "Second one."])

    assert [await collect(llm.stream(ASK)) for _ in range(3)] == [
        ("", "First."),
        ("", "Second one."),
        ("", "You said: what time is it"),
    ]


@pytest.mark.parametrize("budget", [0, 1, 2, 3, 4, 100])
async def test_a_budget_of_n_is_n_words_of_thought(budget):
    llm = ScriptedLlm(["Hi."], thought="hm well yes")

    events = await run(llm, thinking=ThinkingBudget(budget))

    assert sum(isinstance(event, ThinkingDelta) for event in events) == min(budget, 3)
    assert events[-1].stats.thinking_tokens == min(budget, 3)


async def test_a_budget_in_seconds_is_as_many_words_as_fit():
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    llm = ScriptedLlm(["Hi."], thought="one two three four five", token_s=0.5, sleep=sleep)

    events = await run(llm, thinking=ThinkingBudget(seconds=1.5))

    assert events[-1].stats.thinking_tokens == 3
    assert sum(waited) == 0.5 * 4


async def test_lowered_in_the_middle_of_a_thought_the_budget_takes_effect_at_once():
    llm = ScriptedLlm(["Hi."], thought="one two three four")
    events = []
    async with aclosing(llm.stream(ASK, thinking=ThinkingBudget(100))) as stream:
        async for event in stream:
            events.append(event)
            if event == ThinkingDelta("two "):
                llm.set_thinking_mode(False)

    assert [event.text for event in events[:-1]] == ["one ", "two ", "Hi."]


@pytest.mark.parametrize("text", ["", "  ", "one", " one  two\nthree ", "你好 world"])
def test_tokens_lose_nothing(text):
    assert "".join(words(text)) == text


async def test_a_reply_may_be_words_then_a_tool_then_an_error():
    call = ToolCall("1", "clock", "{}")
    llm = ScriptedLlm([("Let me look. ", call), ("Once upon", ServerError("It broke off."))])

    events = await run(llm)
    assert call in events
    assert events[-1].reason is DoneReason.TOOL

    with pytest.raises(ServerError):
        await run(llm)


async def test_an_answer_that_is_too_long_is_cut():
    events = await run(ScriptedLlm(["one two three"], max_tokens=2))

    assert [event.text for event in events if isinstance(event, SpeechDelta)] == ["one ", "two "]
    assert isinstance(events[-1], LlmDone)
    assert events[-1].reason is DoneReason.LENGTH


async def test_one_stream_at_a_time_and_ready_again_after_it_was_stopped():
    llm = ScriptedLlm(["one two three", "Hi."])
    async with aclosing(llm.stream(ASK)) as stream:
        await anext(stream)
        with pytest.raises(ModelBusy):
            await run(llm)
    assert llm.stats.speech_tokens == 1

    assert await collect(llm.stream(ASK)) == ("", "Hi.")


async def test_cancelled_at_any_word_it_is_ready_for_the_next_question():
    for steps in range(6):
        llm = ScriptedLlm(["one two three", "Hi."], thought="hm hm")
        task = asyncio.create_task(run(llm, thinking=ThinkingBudget(9)))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        if task.cancelled() and steps > 0:
            assert (await collect(llm.stream(ASK, thinking=ThinkingBudget(0))))[1] == "Hi."


async def test_what_it_was_asked_and_what_was_heard_can_be_looked_at():
    llm = ScriptedLlm(["Hi."])
    await run(llm)
    await llm.rewind("H")

    assert llm.asked == [ASK]
    assert llm.heard == ["H"]
