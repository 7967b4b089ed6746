"""`OpenAiLlm` against a server that does everything wrong, and how its streams and connections end."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from contextlib import aclosing

import pytest

from mirza.errors import ModelBusy, ServerError
from mirza.events import DoneReason, SpeechDelta
from mirza.llm.openai import OpenAiLlm
from mirza.settings import LlmSettings, OpenAiSettings
from tests.llm.raw_server import (
    ASK,
    HANG_UP,
    STALL,
    done,
    llm_at,
    raw_server,
    run,
    speech,
    usage,
    words,
)


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
