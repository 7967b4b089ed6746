"""`OpenAiLlm` against a real `mlx_lm.server` with the tiny model of the tests."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from mirza.events import SpeechDelta, ThinkingDelta
from mirza.llm.openai import OpenAiLlm
from mirza.settings import LlmSettings, OpenAiSettings
from tests.llm.raw_server import (
    ASK,
    RawServer,
    run,
    speech,
    thought,
)

TINY = Path(__file__).parents[1] / "fixtures" / "tiny-qwen35"


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
