"""The line-based console: for a pipe, a terminal that can do little, a screen reader, or by choice (`--plain`)."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Protocol, Self, TextIO

from mirza.console.commands import execute, parse
from mirza.console.lines import LineInterrupted, Lines
from mirza.console.script import Asked, Ended, Note, Said, Script, Shown, Thought, Trouble, Used
from mirza.console.session import Session
from mirza.console.show import printable, statistics
from mirza.errors import MirzaError
from mirza.events import Event, TurnMeasured
from mirza.metrics import turn_object

LEAVE_ON = (signal.SIGTERM, signal.SIGHUP)
DIM, PLAIN = "\x1b[2m", "\x1b[0m"


@dataclass(frozen=True, slots=True)
class PlainOptions:
    """How the line-based console behaves."""

    interactive: bool
    """A person sits there: Ctrl-C at the prompt only gives the line up, and there are hints."""
    stats: bool = False
    thoughts: bool = False
    """Show what is thought, apart from the answer."""
    color: bool = False


class Printer(Protocol):
    """Shows a conversation on standard output."""

    failed: bool
    """Whether anything went wrong."""

    def show(self, part: Shown) -> None: ...
    def measured(self, turn: TurnMeasured, session: Session) -> None: ...
    def reply(self, line: str, text: str) -> None: ...


async def converse(session: Session, lines: Lines, printer: Printer, options: PlainOptions) -> int:
    """Answers line after line until the end of input; returns the exit status.

    The session is loaded already; `follow` has connected the printer with it.
    """
    if options.interactive:
        printer.show(Note(_greeting(session)))
    with _Interrupts(session, options) as interrupts:
        while True:
            try:
                line = await interrupts.while_waiting(lines.read())
            except LineInterrupted:
                if options.interactive:
                    print("Ctrl-D leaves.", file=sys.stderr)
                continue
            if line is None or not await _take(session, line, printer):
                break
    return 1 if printer.failed and not options.interactive else 0


def follow(session: Session, printer: Printer) -> None:
    """Shows what happens in the session on the printer."""
    script = Script()

    def listener(event: Event) -> None:
        for part in script.push(event):
            printer.show(part)
        if isinstance(event, TurnMeasured):
            printer.measured(event, session)

    session.listen(listener)


def _greeting(session: Session) -> str:
    going_on = f"Conversation {session.number}, {len(session.messages)} messages. " if session.messages else ""
    return f"{going_on}/help lists the commands. Ctrl-C stops an answer, Ctrl-D leaves."


async def _take(session: Session, line: str, printer: Printer) -> bool:
    """Does what a line says; `False` means leave."""
    try:
        match parse(line):
            case (name, argument):
                reply = await execute(session, name, argument)
                if reply.text:
                    printer.reply(line, reply.text)
                if reply.say:
                    await session.say(reply.say)
                return not reply.leave
            case None if line.strip():
                await session.say(line.strip())
            case None if session.has_sound and session.settings.turns.push_to_talk:
                await session.press_to_talk()
                printer.show(Note("listening: press Enter again to send" if session.talking else "sent"))
            case None:
                pass
    except MirzaError as error:
        printer.show(Trouble(error.what, error.do))
    return True


class TextPrinter:
    """Answers on standard output; everything about them on standard error."""

    def __init__(self, options: PlainOptions, out: TextIO | None = None, log: TextIO | None = None) -> None:
        self.failed = False
        self._options = options
        self._out, self._log = out or sys.stdout, log or sys.stderr
        self._open = False
        """Whether a line of an answer or a thought was begun and not ended."""
        self._thinking = False

    def show(self, part: Shown) -> None:
        match part:
            case Asked(text, typed):
                self._thinking = False
                if not typed:
                    self._line(f"You: {text}")
            case Thought(text):
                self._thought(text)
            case Said(text):
                if self._thinking:
                    self._end_line()
                    self._thinking = False
                self._write(text)
            case Used(name, text, result):
                self._note(f"{name} {'→' if result else '←'} {text}")
            case Ended(interrupted=interrupted):
                self._thinking = False
                if interrupted and self._options.interactive:
                    self._write(self._dim(" [stopped]"))
                self._end_line()
            case Trouble(what, do):
                self.failed = True
                self._note(f"mirza: {what} {do}".rstrip())
            case Note(text):
                self._note(text)
            case _:
                pass

    def measured(self, turn: TurnMeasured, session: Session) -> None:
        if self._options.stats:
            self._note(statistics([*session.turns, turn]))

    def reply(self, line: str, text: str) -> None:
        self._line(text)

    def _thought(self, text: str) -> None:
        if not self._thinking:
            self._thinking = True
            if self._options.thoughts or self._options.interactive:
                self._end_line()
                print(self._dim("thinking …"), file=self._log, flush=True)
        if self._options.thoughts:
            print(self._dim(printable(text)), end="", file=self._log, flush=True)
            self._open = True

    def _write(self, text: str) -> None:
        if text:
            print(printable(text) if not text.startswith(DIM) else text, end="", file=self._out, flush=True)
            self._open = not text.endswith("\n")

    def _line(self, text: str) -> None:
        self._end_line()
        print(printable(text), file=self._out, flush=True)

    def _note(self, text: str) -> None:
        self._end_line()
        print(self._dim(printable(text)), file=self._log, flush=True)

    def _end_line(self) -> None:
        if self._open:
            print(file=self._out, flush=True)
            self._open = False

    def _dim(self, text: str) -> str:
        return f"{DIM}{text}{PLAIN}" if self._options.color else text


class LoadingLine:
    """Says what is being loaded, once each: no percentages, which a screen reader would read one by one."""

    def __init__(self, log: TextIO) -> None:
        self._log, self._said = log, ""

    def __call__(self, what: str, share: float) -> None:
        if what != self._said and share < 1:
            self._said = what
            print(f"{printable(what)} …", file=self._log, flush=True)


class JsonPrinter:
    """One object a line on standard output, and nothing else there."""

    def __init__(self, options: PlainOptions, out: TextIO | None = None) -> None:
        self.failed = False
        self._options, self._out = options, out or sys.stdout
        self._thought = ""

    def show(self, part: Shown) -> None:
        match part:
            case Asked():
                self._thought = ""
            case Thought(text):
                self._thought += text
            case Trouble(what, do):
                self.failed = True
                self._print({"error": what, "do": do})
            case Note(text):
                self._print({"notice": text})
            case _:
                pass

    def measured(self, turn: TurnMeasured, session: Session) -> None:
        more = {"thought": self._thought} if self._options.thoughts else {}
        self._print(turn_object(turn) | more)

    def reply(self, line: str, text: str) -> None:
        self._print({"command": line.strip(), "reply": text})

    def _print(self, row: dict[str, object]) -> None:
        print(json.dumps(row, ensure_ascii=False), file=self._out, flush=True)


class _Interrupts:
    """What Ctrl-C, and a polite kill, do while the console runs."""

    def __init__(self, session: Session, options: PlainOptions) -> None:
        self._session, self._options = session, options
        self._reading: asyncio.Future[str | None] | None = None
        self._stopping: asyncio.Task[None] | None = None
        self._main = asyncio.current_task()
        self._loop = asyncio.get_running_loop()

    def __enter__(self) -> Self:
        self._loop.add_signal_handler(signal.SIGINT, self._interrupt)
        for number in LEAVE_ON:  # as an exception, so that the terminal is put back and the conversation closed
            self._loop.add_signal_handler(number, self._leave)
        return self

    def __exit__(self, *_: object) -> None:
        for number in (signal.SIGINT, *LEAVE_ON):
            self._loop.remove_signal_handler(number)

    async def while_waiting(self, read: Coroutine[Any, Any, str | None]) -> str | None:
        """Reads a line; Ctrl-C gives it up.

        Raises:
            LineInterrupted: it was given up.
        """
        self._reading = asyncio.create_task(read)
        try:
            return await self._reading
        except asyncio.CancelledError:
            if self._reading.cancelled() and self._main is not None and not self._main.cancelling():
                raise LineInterrupted from None
            self._reading.cancel()
            raise
        finally:
            self._reading = None

    def _interrupt(self) -> None:
        if self._session.answering:
            self._stopping = asyncio.create_task(self._session.interrupt())
        elif not self._options.interactive:
            self._leave()
        elif self._reading is not None:
            self._reading.cancel()

    def _leave(self) -> None:
        if self._main is not None:
            self._main.cancel()
