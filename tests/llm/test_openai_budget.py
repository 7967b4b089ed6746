"""`OpenAiLlm` and thinking budgets: sent in every way a server may understand, and kept where it does not."""

from __future__ import annotations

from contextlib import aclosing

import pytest

from mirza.llm.base import ThinkingBudget, collect
from mirza.llm.openai import OpenAiLlm
from mirza.settings import LlmSettings, OpenAiSettings
from tests.llm.raw_server import (
    ASK,
    done,
    llm_at,
    raw_server,
    run,
    speech,
    thought,
    words,
)


@pytest.mark.parametrize("budget", [1, 2, 5])
async def test_a_server_that_ignores_the_budget_is_held_to_it(budget):
    """It thinks nine tokens; the thought is cut at the budget, and the answer comes without."""

    def answer(request):
        if request["chat_template_kwargs"]["enable_thinking"]:
            return [*words(*"abcdefghi", field="reasoning"), *words("Thought out."), done()]
        return [*words("At once."), done()]

    async with raw_server(answer=answer) as server:
        llm = llm_at(server)
        events = await run(llm, thinking=budget)

    assert thought(events) == "abcdefghi"[:budget]
    assert speech(events) == "At once."
    assert events[-1].stats.thinking_tokens == budget
    assert any("cut" in note for note in events[-1].stats.notes)


async def test_a_thought_of_exactly_the_budget_is_not_cut():
    async with raw_server([*words(*"abc", field="reasoning"), *words("Hi"), done()]) as server:
        events = await run(llm_at(server), thinking=3)

    assert (thought(events), speech(events)) == ("abc", "Hi")
    assert events[-1].stats.notes == ()


async def test_lowered_in_the_middle_of_a_thought_the_budget_takes_effect_at_once():
    thinking = [*words(*"abcdefghi", field="reasoning"), *words("Thought out."), done()]
    async with raw_server(thinking, [*words("At once."), done()]) as server:
        llm = llm_at(server)
        events = []
        async with aclosing(llm.stream(ASK, thinking=ThinkingBudget(100))) as stream:
            async for event in stream:
                events.append(event)
                if thought(events) == "ab":
                    llm.set_thinking_mode(False)

    assert (thought(events), speech(events)) == ("ab", "At once.")


async def test_the_budget_is_sent_in_every_way_a_server_may_understand():
    script = [*words("Hi"), done()]
    async with raw_server(script, script) as server:
        llm = llm_at(server, max_tokens=100)
        await run(llm, thinking=64)
        await run(llm, thinking=0)

    on, off = server.requests
    assert on["chat_template_kwargs"] == {"enable_thinking": True}
    assert (on["thinking_token_budget"], on["thinking_budget_tokens"], on["max_tokens"]) == (64, 64, 164)
    assert off["chat_template_kwargs"] == {"enable_thinking": False}
    assert (off["reasoning_effort"], off["max_tokens"]) == ("none", 100)


async def test_a_budget_in_seconds_is_tokens_at_the_speed_that_the_server_showed():
    ticks = iter(range(10_000))
    script = [*words("a", "b", "c", "d"), done()]
    async with raw_server(script, script) as server:
        llm = OpenAiLlm(
            OpenAiSettings(base_url=server.address, model="tiny"), LlmSettings(), clock=lambda: next(ticks) * 0.25
        )
        await run(llm)  # four tokens a second, by that clock
        async with aclosing(llm.stream(ASK, thinking=ThinkingBudget(seconds=3))) as stream:
            await collect(stream)

    assert server.requests[-1]["thinking_token_budget"] == 12


async def test_a_server_that_refuses_what_is_not_openais_is_asked_without_and_remembered():
    def answer(request):
        unknown = {"thinking_token_budget", "chat_template_kwargs", "reasoning_effort"} & set(request)
        return (400, f"Unrecognized request argument: {unknown}") if unknown else [*words("Hi"), done()]

    async with raw_server(answer=answer) as server:
        llm = llm_at(server)
        first, second = await run(llm, thinking=9), await run(llm, thinking=9)

    assert speech(first) == speech(second) == "Hi"
    assert any("budget" in note for note in first[-1].stats.notes)
    assert len(server.requests) == 4  # with all, with the switch, with nothing; then with nothing at once


async def test_settings_reach_the_server_and_unset_ones_do_not():
    async with raw_server([*words("Hi"), done()], [*words("Hi"), done()]) as server:
        await run(llm_at(server, temperature=0.5, top_k=40, seed=7, presence_penalty=0.25, logit_bias={5: -2}))
        await run(llm_at(server))

    given, default = server.requests
    assert (given["temperature"], given["top_k"], given["seed"], given["presence_penalty"]) == (0.5, 40, 7, 0.25)
    assert given["logit_bias"] == {"5": -2.0}
    assert not {"temperature", "top_k", "top_p", "min_p", "seed", "presence_penalty", "logit_bias"} & set(default)
