"""Where typed lines come from: `PipeLines` here, or `TerminalLines` where there is a terminal that can edit them."""

from __future__ import annotations

import asyncio
import codecs
import os
import queue
import threading
from collections.abc import Iterator
from typing import Protocol

PROMPT = "> "
READ_BYTES = 65536


class LineInterrupted(Exception):
    """Ctrl-C at the prompt: the line is given up, the program is not."""


class Lines(Protocol):
    """A source of what the user types, one turn at a time."""

    async def read(self) -> str | None:
        """The next line, which holds line breaks if it was pasted so; `None` at the end.

        Raises:
            LineInterrupted: the user gave the line up.
        """
        ...


class PipeLines:
    """Lines of standard input, for a pipe, a file, or a terminal without cursor keys.

    A thread reads, because a file cannot be waited for; it reads the descriptor itself, because a Python stream that
    another thread reads cannot be closed when the program ends. What is not UTF-8 becomes U+FFFD.
    """

    def __init__(self, descriptor: int = 0, *, prompt: str = "") -> None:
        self._descriptor, self._prompt = descriptor, prompt
        self._wanted: queue.SimpleQueue[asyncio.Future[str | None]] = queue.SimpleQueue()
        self._asked: asyncio.Future[str | None] | None = None
        self._thread = threading.Thread(target=self._serve, name="mirza-lines", daemon=True)

    async def read(self) -> str | None:
        if not self._thread.is_alive():
            self._thread.start()
        if self._prompt:
            print(self._prompt, end="", flush=True)
        asked = self._asked
        if asked is None:  # else the thread is waiting already, for a line that was given up
            asked = self._asked = asyncio.get_running_loop().create_future()
            self._wanted.put(asked)
        try:
            line = await asyncio.shield(asked)
        except asyncio.CancelledError:
            self._end_line()
            raise
        self._asked = None
        if line is None:
            self._end_line()
        return line

    def _end_line(self) -> None:
        """After a prompt that got no line, what is printed next begins on a line of its own."""
        if self._prompt:
            print(flush=True)

    def _serve(self) -> None:
        lines = _lines(self._descriptor)
        while True:
            asked = self._wanted.get()
            line = next(lines, None)
            try:
                asked.get_loop().call_soon_threadsafe(_answer, asked, line)
            except RuntimeError:  # the loop is closed: the program ends
                return


def _lines(descriptor: int) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    text = ""
    while data := os.read(descriptor, READ_BYTES):
        head, newline, rest = (text + decoder.decode(data)).rpartition("\n")
        if newline:
            yield from (line.removesuffix("\r") for line in head.split("\n"))
        text = rest
    text += decoder.decode(b"", final=True)
    if text:
        yield text


def _answer(asked: asyncio.Future[str | None], line: str | None) -> None:
    if not asked.done():
        asked.set_result(line)
