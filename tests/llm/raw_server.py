"""A server of a few lines that sends exactly what a test wants: chat chunks, junk, silence, or a broken connection."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field

from mirza.events import LlmEvent, SpeechDelta, ThinkingDelta, ToolCall
from mirza.llm.base import Message, ThinkingBudget, Tool
from mirza.llm.openai import OpenAiLlm
from mirza.settings import LlmSettings, OpenAiSettings

STALL, HANG_UP = object(), object()
"""Steps of a script: say nothing more and keep the connection; cut it."""

Script = Sequence[object]


def delta(**fields: object) -> dict[str, object]:
    """One chunk of a chat."""
    return {
        "id": "x",
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": fields, "finish_reason": None}],
    }


def done(reason: str = "stop") -> dict[str, object]:
    return {"id": "x", "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}


def usage(prompt: int, completion: int, **more: object) -> dict[str, object]:
    counts = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    return {"id": "x", "choices": [], "usage": counts | more}


def words(*texts: str, field: str = "content") -> list[dict[str, object]]:
    return [delta(**{field: text}) for text in texts]


@dataclass
class RawServer:
    """Answers each chat with the next script, or with what `answer` makes of the request."""

    scripts: list[Script] = field(default_factory=list)
    answer: Callable[[Mapping[str, object]], Script] | None = None
    models: Sequence[str] = ("tiny",)
    requests: list[dict[str, object]] = field(default_factory=list)
    headers: list[str] = field(default_factory=list)
    connections: int = 0
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a reader leaves a stalled answer."""
    address: str = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                await self.handle(head.decode(), reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def handle(self, head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.headers.append(head)
        if head.startswith("GET"):
            body = json.dumps({"object": "list", "data": [{"id": name, "object": "model"} for name in self.models]})
            writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n".encode())
            writer.write(f"Content-Type: application/json\r\n\r\n{body}".encode())
            return
        length = int(
            next(line for line in head.splitlines() if line.lower().startswith("content-length")).split(":")[1]
        )
        request = json.loads(await reader.readexactly(length))
        self.requests.append(request)
        self.asked.set()
        script = self.answer(request) if self.answer else self.scripts.pop(0)
        if isinstance(script[0], int):
            body = json.dumps({"error": {"message": str(script[1])}})
            writer.write(f"HTTP/1.1 {script[0]} No\r\nContent-Length: {len(body)}\r\n".encode())
            writer.write(f"Content-Type: application/json\r\n\r\n{body}".encode())
            return
        await self.stream(script, reader, writer)

    async def stream(self, script: Script, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        for step in script:
            if step is STALL:
                await reader.read(1)  # until the other side leaves
                self.left.set()
                raise ConnectionError
            if step is HANG_UP:
                raise ConnectionError
            line = step if isinstance(step, bytes) else b"data: " + json.dumps(step).encode() + b"\n\n"
            writer.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
            await writer.drain()
        line = b"data: [DONE]\n\n"
        writer.write(f"{len(line):x}\r\n".encode() + line + b"\r\n0\r\n\r\n")
        await writer.drain()


@asynccontextmanager
async def raw_server(*scripts: Script, **fields: object) -> AsyncIterator[RawServer]:
    """A server on loopback that answers its chats with `scripts`, one after the other."""
    raw = RawServer(list(scripts), **fields)
    open_connections: set[asyncio.Task[None]] = set()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        open_connections.add(asyncio.create_task(raw.serve(reader, writer)))

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    raw.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield raw
    finally:
        server.close()
        for connection in open_connections:
            connection.cancel()
        await asyncio.gather(*open_connections, return_exceptions=True)


def llm_at(server: RawServer, *, timeout_s: float = 20.0, **settings: object) -> OpenAiLlm:
    """The engine under test, pointed at `server`. It has not been loaded: no question was asked yet."""
    return OpenAiLlm(
        OpenAiSettings(base_url=server.address, model="tiny", timeout_s=timeout_s), LlmSettings.model_validate(settings)
    )


# --- what the tests ask, and what they read of an answer --------------------------------------------------------------

ASK = (Message("system", "Be brief."), Message("user", "Hello?"))


async def run(llm: OpenAiLlm, *, thinking: int = 0, tools: tuple[Tool, ...] = ()) -> list[LlmEvent]:
    async with aclosing(llm.stream(ASK, tools=tools, thinking=ThinkingBudget(thinking))) as stream:
        return [event async for event in stream]


def thought(events: list[LlmEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, ThinkingDelta))


def speech(events: list[LlmEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, SpeechDelta))


def calls(events: list[LlmEvent]) -> list[ToolCall]:
    return [event for event in events if isinstance(event, ToolCall)]
