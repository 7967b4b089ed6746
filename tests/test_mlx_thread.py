"""One thread, many jobs: who goes first, and that everything ends. No MLX is needed for that."""

import asyncio
import subprocess
import sys
import threading
from contextlib import aclosing

import pytest

from mirza.errors import ModelError
from mirza.mlx_thread import STEP, MlxThread, Priority


@pytest.fixture
def thread():
    thread = MlxThread()
    yield thread
    thread.close()


async def test_items_arrive_in_order_and_steps_without_news_do_not(thread):
    def count():
        yield 1
        yield STEP
        yield 2

    assert [item async for item in thread.run(count)] == [1, 2]


async def test_every_job_runs_on_one_and_the_same_thread(thread):
    names = {await thread.call(lambda: threading.current_thread().name) for _ in range(3)}
    assert names == {"mirza-mlx"}


async def test_the_voice_gets_its_turn_between_the_tokens_of_an_answer(thread):
    order, voice_waits, third = [], threading.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def answer():
        for index in range(6):
            order.append(f"token {index}")
            if index == 2:
                loop.call_soon_threadsafe(third.set)
                voice_waits.wait(5)  # the voice's job is in line before the next token
            yield index

    def voice():
        for index in range(2):
            order.append(f"sound {index}")
            yield index

    async def read(make, priority):
        return [item async for item in thread.run(make, priority=priority)]

    answering = asyncio.create_task(read(answer, Priority.ANSWER))
    await third.wait()
    speaking = asyncio.create_task(read(voice, Priority.VOICE))
    await asyncio.sleep(0)
    voice_waits.set()
    await asyncio.gather(answering, speaking)

    assert order == ["token 0", "token 1", "token 2", "sound 0", "sound 1", "token 3", "token 4", "token 5"]


async def test_a_job_waits_for_a_reader_that_is_slow(thread):
    made = 0

    def quick():
        nonlocal made
        while made < 100:
            made += 1
            yield made

    async with aclosing(thread.run(quick, ahead=3)) as items:
        assert await anext(items) == 1
        await thread.call(lambda: None, priority=Priority.IDLE)  # nothing more urgent is left to do
        assert made <= 5
        assert [item async for item in items] == list(range(2, 101))


async def test_a_reader_that_leaves_ends_its_job_within_a_step_and_runs_its_finally(thread):
    steps, tidied = 0, False

    def endless():
        nonlocal steps, tidied
        try:
            while True:
                steps += 1
                yield STEP if steps > 1 else steps
        finally:
            tidied = True

    stream = thread.run(endless)
    await anext(stream)
    await stream.aclose()
    assert tidied
    seen = steps
    await thread.call(lambda: None)
    assert steps == seen


async def test_cancelling_the_task_that_reads_ends_the_job(thread):
    began, tidied = threading.Event(), threading.Event()

    def endless():
        began.set()
        try:
            while True:
                yield STEP
        finally:
            tidied.set()

    async def read():
        async for _ in thread.run(endless):
            pass

    task = asyncio.create_task(read())
    await asyncio.to_thread(began.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert tidied.is_set()


async def test_an_error_reaches_the_reader_and_the_thread_lives_on(thread):
    def fails():
        yield 1
        raise ModelError("It broke.")

    items = []
    with pytest.raises(ModelError, match="It broke"):
        async for item in thread.run(fails):
            items.append(item)
    assert items == [1]
    assert await thread.call(lambda: "still here") == "still here"


async def test_closing_ends_what_runs_and_refuses_what_comes():
    thread, tidied = MlxThread(), threading.Event()

    def endless():
        try:
            while True:
                yield STEP
        finally:
            tidied.set()

    async def read():
        async for _ in thread.run(endless):
            pass

    task = asyncio.create_task(read())
    await thread.call(lambda: None, priority=Priority.VOICE)
    await asyncio.to_thread(thread.close)
    with pytest.raises(ModelError, match="closed"):
        await task
    assert tidied.is_set()
    with pytest.raises(ModelError, match="closed"):
        await thread.call(lambda: None)


async def test_a_call_that_is_cancelled_while_it_waits_never_runs(thread):
    began, gate, ran = threading.Event(), threading.Event(), False

    def late():
        nonlocal ran
        ran = True

    busy = asyncio.create_task(thread.call(lambda: began.set() or gate.wait(60)))
    await asyncio.to_thread(began.wait)
    waiting = asyncio.create_task(thread.call(late))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait([waiting])
    gate.set()
    await busy
    assert not ran


async def test_a_call_that_never_began_does_not_wait_for_the_one_that_runs(thread):
    began, gate = threading.Event(), threading.Event()
    busy = asyncio.create_task(thread.call(lambda: began.set() or gate.wait(60)))
    await asyncio.to_thread(began.wait)
    waiting = asyncio.create_task(thread.call(lambda: None))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait([waiting])
    assert not busy.done()
    gate.set()
    await busy


def test_a_fast_blas_is_loaded_before_mlx_whoever_comes_first():
    """Symbols that are loaded first win: a model that imports MLX on another thread first would be 10 times slower."""
    program = """
import asyncio
from mirza.llm.mlx.qwen import MlxQwenLlm
from mirza.mlx_thread import MlxThread
from mirza.settings import LlmSettings

async def main():
    thread = MlxThread()
    llm = MlxQwenLlm("tests/fixtures/tiny-qwen35", LlmSettings(mtp="off"), thread=thread)
    await llm.load("Be kind.")
    print(thread.blas)

asyncio.run(main())
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    assert result.stdout.strip() in {"mkl", "openblas"} or sys.platform != "linux"


@pytest.mark.parametrize("bench", ["engine", "exactness", "growth"])
def test_a_benchmark_loads_the_fast_blas_before_mlx_too(bench: str):
    """Else it would measure another library: 5 to 30 times slower, and nobody would know."""
    command = [sys.executable, "-m", "mirza", "bench", bench, "--model", "/nowhere"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert result.returncode != 0
    assert "nowhere" in result.stderr
    assert "MLX was imported before" not in result.stderr
