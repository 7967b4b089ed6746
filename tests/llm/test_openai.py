"""`OpenAiLlm` against a real `mlx_lm.server`, and against a server that does everything wrong."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from mirza.errors import ModelBusy, ServerError
from mirza.events import DoneReason, LlmDone, LlmEvent, SpeechDelta, ThinkingDelta, ToolCall
from mirza.llm.base import Message, ThinkingBudget, Tool, collect
from mirza.llm.openai import OpenAiLlm
from mirza.settings import LlmSettings, OpenAiSettings
from tests.llm.raw_server import HANG_UP, STALL, RawServer, delta, done, llm_at, raw_server, usage, words

ASK = (Message("system", "Be brief."), Message("user", "Hello?"))
TINY = Path(__file__).parents[1] / "fixtures" / "tiny-qwen35"


async def run(llm: OpenAiLlm, *, thinking: int = 0, tools: tuple[Tool, ...] = ()) -> list[LlmEvent]:
    async with aclosing(llm.stream(ASK, tools=tools, thinking=ThinkingBudget(thinking))) as stream:
        return [event async for event in stream]


def thought(events: list[LlmEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, ThinkingDelta))


def speech(events: list[LlmEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, SpeechDelta))


def calls(events: list[LlmEvent]) -> list[ToolCall]:
    return [event for event in events if isinstance(event, ToolCall)]


async def nothing(arguments) -> str:
    return ""


WEATHER = Tool("weather", "The weather somewhere.", nothing)


# --- what it says ----------------------------------------------------------------------------------------------------


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


# --- budgets ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [1, 2, 5])
async def test_a_server_that_ignores_the_budget_is_held_to_it(budget):
    """It thinks nine tokens; the thought is cut at the budget, and the answer comes without."""

    def answer(request):
        if request["extra_body_thinking"]:
            return [*words(*"abcdefghi", field="reasoning"), *words("Thought out."), done()]
        return [*words("At once."), done()]

    async with raw_server(answer=lambda request: answer(flat(request))) as server:
        llm = llm_at(server)
        events = await run(llm, thinking=budget)

    assert thought(events) == "abcdefghi"[:budget]
    assert speech(events) == "At once."
    assert events[-1].stats.thinking_tokens == budget
    assert any("cut" in note for note in events[-1].stats.notes)


def flat(request):
    return request | {"extra_body_thinking": request.get("chat_template_kwargs", {}).get("enable_thinking")}


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


# --- tools -----------------------------------------------------------------------------------------------------------


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


# --- ends ------------------------------------------------------------------------------------------------------------


async def test_closing_a_stream_closes_the_connection_that_it_was_on():
    ready, answer = [*words("ready"), done()], [*words("Hi"), done()]
    async with raw_server(ready, [*words("Once upon "), STALL], answer) as server:
        llm = llm_at(server)
        await llm.load()
        async with aclosing(llm.stream(ASK)) as stream:
            assert await anext(stream) == SpeechDelta("Once upon ")
        await server.left.wait()

        assert speech(await run(llm)) == "Hi"


async def test_a_second_stream_while_one_is_open_is_refused():
    async with raw_server([*words("a", "b"), done()], [*words("a"), done()]) as server:
        llm = llm_at(server)
        async with aclosing(llm.stream(ASK)) as stream:
            await anext(stream)
            with pytest.raises(ModelBusy):
                await run(llm)


async def test_one_connection_is_kept_for_many_answers():
    script = [*words("Hi"), done()]
    async with raw_server(*[script] * 5) as server:
        llm = llm_at(server)
        for _ in range(5):
            await run(llm)

    assert server.connections == 1


async def test_an_answer_that_grows_too_long_is_cut_here_where_the_server_does_not():
    async with raw_server([*words("ready"), done()], [*words(*"abcdefgh"), done()]) as server:
        llm = llm_at(server, max_tokens=3)
        await llm.load()
        events = await run(llm)

    assert speech(events) == "abc"
    assert events[-1].reason is DoneReason.LENGTH


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ([*words("Once "), HANG_UP], "broke off"),
        ([*words("Once ")], "broke off"),
        ([b"data: {nonsense\n\n"], "no chat"),
        ([b"data: 5\n\n"], "no part of a chat"),
        ([b'data: {"foo": 1}\n\n'], "no part of a chat"),
        ([b"data: \xff\xfe\n\n"], "no chat"),
        ([b'data: {"error": {"message": "out of memory"}}\n\n'], "out of memory"),
        ([b"<html>hello</html>\n\n"], "broke off"),
        ((401, "no key"), "wants a key"),
        ((403, "not you"), "not you"),
        ((404, "no such model"), "tiny"),
        ((429, "busy"), "too much to do"),
        ((500, "oops"), "oops"),
        ((503, "starting"), "starting"),
        ((400, "context is 5 tokens"), "context is 5 tokens"),
    ],
)
async def test_whatever_a_server_does_wrong_is_a_sentence_and_the_next_answer_is_right(script, said):
    refused = isinstance(script, tuple) and script[0] == 400
    async with raw_server(*[script] * (3 if refused else 1), [*words("Hi"), done()]) as server:
        llm = llm_at(server)

        with pytest.raises(ServerError, match=said) as wrong:
            await run(llm)

        assert wrong.value.do
        assert speech(await run(llm)) == "Hi"


async def test_a_server_that_goes_silent_is_given_up():
    async with raw_server([*words("Once "), STALL]) as server:
        with pytest.raises(ServerError, match="silent"):
            await run(llm_at(server, timeout_s=0.2))


async def test_where_nothing_listens_loading_says_what_to_do():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        llm = OpenAiLlm(OpenAiSettings(base_url=f"http://127.0.0.1:{free.getsockname()[1]}/v1"), LlmSettings())

        with pytest.raises(ServerError, match="Nothing answers"):
            await llm.load()


async def test_the_first_model_that_the_server_lists_is_taken():
    async with raw_server([*words("ready"), done()], models=("big", "small")) as server:
        llm = OpenAiLlm(OpenAiSettings(base_url=server.address), LlmSettings())
        await llm.load()

    assert server.requests[0]["model"] == "big"


async def test_a_server_without_a_model_says_so():
    async with raw_server(models=()) as server:
        with pytest.raises(ServerError, match="lists no model"):
            await OpenAiLlm(OpenAiSettings(base_url=server.address), LlmSettings()).load()


async def test_a_key_meant_for_openai_is_sent_to_nobody_else(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://elsewhere.invalid")
    async with raw_server([*words("Hi"), done()]) as server:
        await run(llm_at(server))

    assert "secret" not in "".join(server.headers)


async def test_a_proxy_does_not_stand_between_mirza_and_this_machine(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    async with raw_server([*words("Hi"), done()]) as server:
        assert speech(await run(llm_at(server))) == "Hi"


async def test_unloaded_it_can_be_used_again():
    script = [*words("Hi"), done()]
    async with raw_server(script, script) as server:
        llm = llm_at(server)
        await run(llm)
        await llm.unload()

        assert speech(await run(llm)) == "Hi"


async def test_a_conversation_by_the_command_line_goes_over_the_server(tmp_path):
    def answer(request):
        said = request["messages"][-1]["content"]
        return [*words(f"You said {said}."), done(), usage(10, 5)]

    async with raw_server(answer=answer) as server:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "mirza", "chat", "--plain", "--json", "--no-save"),
            *("--set", "llm.engine=openai", "--set", f"openai.base_url={server.address}"),
            env=os.environ | {"HOME": str(tmp_path)},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate(b"one\ntwo\n")

    assert process.returncode == 0, err.decode()
    said = [turn["said"] for turn in map(json.loads, out.decode().splitlines()) if turn.get("said")]
    assert said == ["You said one.", "You said two."]
    assert [message["role"] for message in server.requests[-1]["messages"]] == ["system", "user", "assistant", "user"]


# --- a real server ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mlx_server() -> Iterator[RawServer]:
    """`mlx_lm.server` on loopback with the tiny model of the tests: a real Qwen 3.5, template, thoughts and all."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    env = os.environ | {"HF_HUB_OFFLINE": "1", "MLX_DISABLE_COMPILE": "1"}
    command = [
        sys.executable,
        "-m",
        "mlx_lm",
        "server",
        "--model",
        str(TINY),
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
    ]
    process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        wait_for(f"http://127.0.0.1:{port}/v1/models", process)
        yield RawServer(address=f"http://127.0.0.1:{port}/v1")
    finally:
        process.terminate()
        process.wait()


def wait_for(address: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        if process.poll() is not None:
            raise AssertionError(process.stderr.read().decode())
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(address, timeout=5):
                return
        except OSError:
            process.poll()
            asyncio.run(asyncio.sleep(0.1))
    raise AssertionError("mlx_lm.server did not start")


def at(server: RawServer, **settings: object) -> OpenAiLlm:
    llm = LlmSettings.model_validate({"temperature": 0, "max_tokens": 40} | settings)
    return OpenAiLlm(OpenAiSettings(base_url=server.address, model=str(TINY)), llm)


async def test_a_real_server_is_loaded_asked_and_counted(mlx_server):
    llm = at(mlx_server)
    await llm.load("Be brief.")

    events = await run(llm)
    again = await run(llm)

    assert speech(events)
    assert speech(again) == speech(events)  # greedy
    counts = events[-1].stats
    assert counts.prompt_tokens == counts.reused_tokens + counts.prefilled_tokens > 0
    assert 0 < counts.speech_tokens <= 40
    assert again[-1].stats.reused_tokens > 0
    await llm.unload()


@pytest.mark.parametrize("budget", [0, 1, 3])
async def test_a_real_server_is_held_to_the_budget(mlx_server, budget):
    llm = at(mlx_server)

    events = await run(llm, thinking=budget)

    assert events[-1].stats.thinking_tokens <= budget
    assert bool(thought(events)) == bool(budget)
    assert "think>" not in speech(events)
    await llm.unload()


async def test_a_real_server_thinks_as_long_as_it_wants_within_a_wide_budget(mlx_server):
    llm = at(mlx_server)

    events = await run(llm, thinking=400)

    kinds = [type(event) for event in events if isinstance(event, ThinkingDelta | SpeechDelta)]
    assert kinds == sorted(kinds, key=lambda kind: kind is SpeechDelta)  # first the thought, then the answer
    assert thought(events)
    assert "think>" not in thought(events) + speech(events)
    await llm.unload()


async def test_a_real_server_answers_the_next_question_after_one_was_stopped(mlx_server):
    llm = at(mlx_server, max_tokens=400)
    whole = speech(await run(llm))
    async with aclosing(llm.stream(ASK)) as stream:
        await anext(stream)

    assert speech(await run(llm)) == whole
    await llm.unload()
