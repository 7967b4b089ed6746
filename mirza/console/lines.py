"""Where typed lines come from: a terminal with line editing, or a pipe, or a terminal that can do nothing."""

from __future__ import annotations

import asyncio
import codecs
import os
import queue
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from typing import Protocol

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.patch_stdout import patch_stdout
from prompt_toolkit.shortcuts import CompleteStyle

from mirza.console.commands import completions

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
        line = await asyncio.shield(asked)
        self._asked = None
        return line

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


class TerminalLines:
    """Lines typed at a terminal, with editing, history and completion; a paste of several lines is one."""

    def __init__(self, history: Sequence[str] = (), *, events_print: bool = False) -> None:
        self._events_print = events_print
        """Whether something may be printed while the prompt waits: a spoken turn."""
        self._prompt: PromptSession[str] = PromptSession(
            PROMPT,
            history=InMemoryHistory(history),
            completer=_Commands(),
            complete_while_typing=False,
            complete_style=CompleteStyle.READLINE_LIKE,
            reserve_space_for_menu=0,
            key_bindings=_keys(),
            enable_suspend=True,
            prompt_continuation="  ",
        )

    async def read(self) -> str | None:
        try:
            with patch_stdout(raw=True) if self._events_print else nullcontext():
                return await self._prompt.prompt_async(handle_sigint=False)
        except KeyboardInterrupt as key:
            raise LineInterrupted from key
        except EOFError:
            return None


class _Commands(Completer):
    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        line = document.text_before_cursor
        for text in completions(line):
            yield Completion(text, start_position=-len(line))


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("escape", "enter")  # Alt-Enter
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return keys
