"""Mirza's engine and its peers, as contestants: in this process, and as servers over HTTP on this machine."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportMissingTypeStubs=false
# pyright: reportUnknownArgumentType=false
from __future__ import annotations

import asyncio
import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import aclosing, closing
from pathlib import Path
from typing import Any, cast

from mirza.bench.contest import ANSWER_TOKENS, Asked
from mirza.errors import ServerError
from mirza.events import SpeechDelta, ThinkingDelta
from mirza.llm.base import Message, ThinkingBudget
from mirza.llm.mlx.gated_delta_cuda import without_kernel
from mirza.llm.mlx.qwen import MlxQwenLlm
from mirza.mlx_thread import MlxThread
from mirza.settings import LlmSettings

SNAPSHOT_FOLDER = "mirza-bench-snapshots-"
START_S = 180.0
GUARD_TOKENS = {True: 2, False: 4}
"""What the template's tail leaves behind with and without thinking: with it set, mlx-vlm's cache fits at all."""


class Mirza:
    """`MlxQwenLlm`, as the pipeline uses it."""

    def __init__(self, folder: Path, mtp: bool) -> None:
        self.name = "mirza, MTP" if mtp else "mirza"
        self._folder = folder
        self._settings = LlmSettings(
            mtp="on" if mtp else "off", temperature=0.0, max_tokens=ANSWER_TOKENS, context_tokens=16384
        )
        self._snapshots = Path(tempfile.mkdtemp(prefix=SNAPSHOT_FOLDER))
        self._runner = asyncio.Runner()
        self._thread = MlxThread()
        self._llm = self._runner.run(self._load())

    async def _load(self) -> MlxQwenLlm:
        llm = MlxQwenLlm(str(self._folder), self._settings, thread=self._thread, snapshot_dir=self._snapshots)
        await llm.load()
        return llm

    def ask(self, messages: Sequence[Message], budget: int, cut_after: int | None = None) -> Asked:
        return self._runner.run(self._ask(messages, budget, cut_after))

    async def _ask(self, messages: Sequence[Message], budget: int, cut_after: int | None) -> Asked:
        clock = _Clock()
        async with aclosing(self._llm.stream(messages, thinking=ThinkingBudget(budget))) as events:
            async for event in events:
                match event:
                    case ThinkingDelta(text):
                        clock.thought(text)
                    case SpeechDelta(text):
                        clock.spoken(text)
                    case _:
                        pass
                if clock.pieces == cut_after:
                    break
        stats = self._llm.stats
        return clock.asked(stats.prompt_tokens, stats.reused_tokens)

    def between_turns(self, heard: str | None) -> None:
        self._runner.run(self._llm.settle() if heard is None else self._llm.rewind(heard))

    def restart(self) -> None:
        self._runner.run(self._llm.save_conversation("bench"))
        self._runner.run(self._llm.unload())
        self._llm = self._runner.run(self._load())
        self._runner.run(self._llm.load_conversation("bench"))

    def close(self) -> None:
        self._runner.run(self._llm.unload())
        self._thread.close()
        self._runner.close()
        shutil.rmtree(self._snapshots, ignore_errors=True)


class StreamGenerate:
    """mlx-vlm's `stream_generate` in this process, with its prefix cache set up so that it fits, and on disk."""

    def __init__(self, folder: Path, mtp: bool) -> None:
        from mlx_vlm.speculative.drafters import load_drafter
        from mlx_vlm.utils import load

        self.name = f"mlx_vlm stream_generate{', MTP' if mtp else ''}"
        self._model, self._processor = cast(tuple[Any, Any], load(str(folder)))
        self._mtp: dict[str, Any] = {}
        if mtp:
            self._mtp = {"draft_model": load_drafter(str(folder))[0], "draft_kind": "mtp"}
        self._disk = Path(tempfile.mkdtemp(prefix=SNAPSHOT_FOLDER))
        self._managers: dict[bool, Any] = {}

    def _manager(self, thinking: bool) -> Any:
        from mlx_vlm.apc import APCManager, DiskBlockStore

        if thinking not in self._managers:
            disk = DiskBlockStore(self._disk / str(thinking), namespace="bench", max_bytes=1 << 30)
            overrides = {"checkpoint_guard_tokens": GUARD_TOKENS[thinking], "checkpoint_entries": 8}
            self._managers[thinking] = APCManager(disk=disk, overrides=overrides)
        return self._managers[thinking]

    def ask(self, messages: Sequence[Message], budget: int, cut_after: int | None = None) -> Asked:
        from mlx_vlm.generate.dispatch import stream_generate
        from mlx_vlm.prompt_utils import apply_chat_template

        clock = _Clock(thinking=budget > 0)
        rendered = apply_chat_template(self._processor, self._model.config, _rows(messages), enable_thinking=budget > 0)
        prompt = cast(str, rendered)
        last: Any = None
        options: Any = {**self._mtp, "max_tokens": ANSWER_TOKENS + budget, "temperature": 0.0}
        if budget:
            options |= {"enable_thinking": True, "thinking_budget": budget}
        manager = self._manager(budget > 0)
        results = stream_generate(self._model, self._processor, prompt, apc_manager=manager, **options)
        with without_kernel(), closing(results):
            for last in results:
                clock.token(last.text)
                if clock.pieces == cut_after:
                    break
        return clock.asked(last.prompt_tokens, last.cached_tokens)

    def between_turns(self, heard: str | None) -> None:
        pass

    def restart(self) -> None:
        for manager in self._managers.values():
            manager.close()
        self._managers.clear()

    def close(self) -> None:
        self.restart()
        shutil.rmtree(self._disk, ignore_errors=True)


class Server:
    """An OpenAI-compatible server of a peer, in a process of its own, asked over HTTP on this machine."""

    def __init__(self, folder: Path, module: str, *, options: Sequence[str] = (), apc: bool = False) -> None:
        self.name = module + ("".join(f" {option}" for option in options if option.startswith("--")))
        self._folder, self._module, self._options, self._apc = folder, module, options, apc
        self._disk = Path(tempfile.mkdtemp(prefix=SNAPSHOT_FOLDER))
        self._log = self._disk / "server.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._port = 0
        self._start()

    def _start(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = int(free.getsockname()[1])
        start = (
            "import runpy, sys; from mirza.blas import ensure_fast_blas; ensure_fast_blas(); "
            "sys.argv = sys.argv[1:]; runpy.run_module(sys.argv[0], run_name='__main__')"
        )
        address = ["--model", str(self._folder), "--host", "127.0.0.1", "--port", str(self._port)]
        environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
        if self._apc:
            environment |= {"APC_ENABLED": "1", "APC_CHECKPOINT_GUARD_TOKENS": "4", "APC_CHECKPOINT_ENTRIES": "8"}
            environment |= {"APC_DISK_PATH": str(self._disk)}
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-W", "ignore", "-c", start, self._module, *address, *self._options],
                env=environment,
                stdout=log,
                stderr=log,
            )
        self._await_start()

    def _await_start(self) -> None:
        end = time.monotonic() + START_S
        while time.monotonic() < end:
            if self._process is not None and self._process.poll() is not None:
                break
            try:
                # Both answer this only once the model is there.
                self.ask([Message("user", "a")], 0)
                return
            except (OSError, http.client.HTTPException, ServerError):
                time.sleep(0.3)
        last = self._last_words()
        self.close()
        raise ServerError(f"{self.name} did not start: {last}.", "Leave servers out with --no-servers.")

    def _last_words(self) -> str:
        """Why it ended, or that it has not."""
        if self._process is None or self._process.poll() is None:
            return f"it did not answer within {START_S:g} s"
        lines = self._log.read_text("utf-8", errors="replace").split("\n")
        said = [line.strip() for line in lines if line.strip()]
        return said[-1].rstrip(".") if said else f"it ended with {self._process.returncode}"

    def ask(self, messages: Sequence[Message], budget: int, cut_after: int | None = None) -> Asked:
        body = {
            "model": str(self._folder),
            "messages": _rows(messages),
            "max_tokens": ANSWER_TOKENS + budget,
            "temperature": 0.0,
            "stream": True,
            "stream_options": {"include_usage": True},
            "enable_thinking": budget > 0,
            "chat_template_kwargs": {"enable_thinking": budget > 0},
        }
        if budget:
            body["thinking_budget"] = budget
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=120)
        usage: dict[str, Any] = {}
        clock = _Clock()
        try:
            headers = {"Content-Type": "application/json"}
            connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
            response = connection.getresponse()
            if response.status != 200:
                raise ServerError(f"{self.name} answered {response.status}.", "Leave servers out with --no-servers.")
            for chunk in _chunks(response):
                usage = chunk.get("usage") or usage
                for choice in chunk.get("choices") or []:
                    delta = choice.get("delta") or {}
                    clock.thought(delta.get("reasoning") or "")
                    clock.spoken(delta.get("content") or "")
                if clock.pieces == cut_after:
                    break
        finally:
            connection.close()
        details = usage.get("prompt_tokens_details") or {}
        return clock.asked(usage.get("prompt_tokens"), details.get("cached_tokens"))

    def between_turns(self, heard: str | None) -> None:
        pass

    def restart(self) -> None:
        self._stop()
        self._start()

    def close(self) -> None:
        self._stop()
        shutil.rmtree(self._disk, ignore_errors=True)

    def _stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(timeout=15)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None


class _Clock:
    """When the first piece of thought or speech came, on the clock of the one who asked."""

    def __init__(self, thinking: bool = False) -> None:
        self._thinking = thinking
        self._start = time.perf_counter()
        self._first = self._speech = self._last = 0.0
        self._text = ""
        self.pieces = 0
        """Pieces of the answer so far."""

    def thought(self, text: str) -> None:
        if text:
            self._tick()

    def spoken(self, text: str) -> None:
        if text:
            self._tick()
            self._speech = self._speech or self._last
            self._text += text
            self.pieces += 1

    def token(self, text: str) -> None:
        """A piece in which the thought is not told apart from the answer."""
        self._tick()
        if not self._thinking:
            self.spoken(text)
        elif "</think>" in text:
            self._thinking = False
            self.spoken(text.partition("</think>")[2].strip())

    def _tick(self) -> None:
        self._last = time.perf_counter()
        self._first = self._first or self._last

    def asked(self, prompt_tokens: int | None, reused_tokens: int | None) -> Asked:
        first, speech, last = (
            moment - self._start if moment else 0.0 for moment in (self._first, self._speech, self._last)
        )
        return Asked(self._text, first, speech, last, prompt_tokens, reused_tokens)


def _chunks(response: http.client.HTTPResponse) -> Iterator[dict[str, Any]]:
    for line in response:
        payload = line.strip().removeprefix(b"data: ")
        if payload.startswith(b"{"):
            yield cast(dict[str, Any], json.loads(payload))


def _rows(messages: Sequence[Message]) -> list[dict[str, str]]:
    return [{"role": message.role, "content": message.content} for message in messages]
