"""The full-screen console: one conversation, typed or spoken, with its thoughts folded and its costs in one line.

The session runs beside the screen, in a task of its own: the screen is there at once, and what is typed while the model
loads is said when it is ready. Events are gathered and shown thirty times a second, however fast they come.
"""

from __future__ import annotations

import asyncio
import difflib
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import ClassVar

from rich.text import Text
from textual.app import App, ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.theme import Theme

from mirza.console.commands import BUDGETS, COMMANDS, Reply, completions, execute, parse
from mirza.console.script import Asked, Ended, Listening, Note, Said, Script, Shown, Thought, Trouble, Used
from mirza.console.session import Session
from mirza.console.show import printable
from mirza.console.status import Status, live_line, status_line
from mirza.console.style import CSS
from mirza.console.theme import keep_theme, terminals_own
from mirza.console.transcript import Transcript, entries_of
from mirza.console.widgets import Line, Prompt
from mirza.errors import MirzaError
from mirza.events import Event, State, TurnMeasured
from mirza.llm.base import ThinkingBudget

FRAME_S = 1 / 30
LEAVE_ON = {signal.SIGTERM: 143, signal.SIGHUP: 129}
"""Polite ways to end a program, and the exit status that tells of each."""


class MirzaApp(App[int]):
    """The screen. It owns no conversation; it shows one and passes on what is typed."""

    CSS = CSS
    TITLE = "Mirza"
    ENABLE_COMMAND_PALETTE = True
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (60, "-wide")]  # noqa: RUF012 - Textual declares it as an instance's
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "interrupt", "Stop", show=False),
        Binding("ctrl+c", "stop_or_copy", "Stop or copy", priority=True, show=False),
        Binding("ctrl+d", "leave_or_delete", "Leave", priority=True, show=False),
        Binding("ctrl+q", "leave", "Leave", priority=True, show=False),
        Binding("ctrl+t", "thoughts", "Thoughts", show=False),
        Binding("f2", "mute", "Mute", show=False),
        Binding("f3", "talk", "Push to talk: begin, then send", show=False),
        Binding("f7", "think(-1)", "Think less", priority=True, show=False),
        Binding("f8", "think(1)", "Think more", priority=True, show=False),
        Binding("pageup", "page(-1)", "Scroll up", priority=True, show=False),
        Binding("pagedown", "page(1)", "Scroll down", priority=True, show=False),
    ]

    def __init__(self, session: Session, *, keep_theme: Callable[[str], str] | None = None) -> None:
        # Asked for no colours, Textual 8 paints greys over the terminal's own, unless it is told so now.
        super().__init__(ansi_color="NO_COLOR" in os.environ)
        self.session = session
        self._keep_theme = keep_theme
        self._keep_theme = keep_theme
        self._terminals_own = terminals_own(no_color=self.no_color)
        self.theme = self._terminals_own
        self._transcript, self._prompt = Transcript(), Prompt()
        self._live, self._status = Line(id="live"), Line(id="status")
        self._script = Script()
        self._shown: deque[Shown] = deque()
        self._lines: asyncio.Queue[str] = asyncio.Queue()
        self._waiting = 0
        """Lines that were sent and are not being answered yet."""
        self.mounted, self.ready = asyncio.Event(), asyncio.Event()
        """There is a screen; there is a conversation."""
        self._last: TurnMeasured | None = None
        self._loading = "loading …"
        self._heard = ""
        self._thoughts_open = False
        if not self.no_color:
            self._wish_theme(session.settings.console.theme)
        self._theme_kept = self.theme
        session.listen(self._happened)
        session.on_progress = self.loading

    def compose(self) -> ComposeResult:
        yield from (self._transcript, self._live, self._prompt, self._status)

    async def on_mount(self) -> None:
        self._prompt.focus()
        await self._transcript.replace(entries_of(self.session.messages))
        self.set_interval(FRAME_S, self._frame)
        self.run_worker(self._answer_lines(), group="lines")
        self.theme_changed_signal.subscribe(self, self._theme_changed)
        self._show_status()
        self.mounted.set()

    def loaded(self, typed_before: list[str]) -> None:
        """The session is ready: what was typed meanwhile is said."""
        self._loading = ""
        self._prompt.remember(typed_before)
        self.ready.set()

    def loading(self, what: str, share: float) -> None:
        """How far loading is, 0 .. 1."""
        self._loading = f"{what} {share:.0%}"

    # --- what happens

    def _happened(self, event: Event) -> None:
        """Called by the session: notes it for the next frame."""
        self._shown.extend(self._script.push(event))
        if isinstance(event, TurnMeasured):
            self._last = event

    async def _frame(self) -> None:
        while self._shown:
            await self._show(self._shown.popleft())
        self._show_live()
        self._show_status()

    async def _show(self, part: Shown) -> None:
        transcript = self._transcript
        match part:
            case Asked():
                await transcript.end_reply("", interrupted=True)
                await transcript.add(part)
                await transcript.begin_reply()
            case Thought(text) if transcript.current is not None:
                more = [text, *self._following(Thought)]
                transcript.current.think("".join(more), len(more))
            case Said(text) if transcript.current is not None:
                await transcript.current.say("".join([text, *self._following(Said)]))
            case Used(name, text, result) if transcript.current is not None:
                transcript.current.use(f"{name} {'→' if result else '←'} {text}")
            case Ended(said, interrupted):
                await transcript.end_reply(said, interrupted=interrupted)
            case Trouble() | Note():
                await transcript.add(part)
            case Listening(text):
                self._heard = text
            case _:
                pass

    def _following(self, kind: type[Thought | Said]) -> Iterable[str]:
        """The pieces of the same kind that came within the same frame."""
        while self._shown and isinstance(part := self._shown[0], kind):
            self._shown.popleft()
            yield part.text

    # --- what is typed

    def on_prompt_submitted(self, message: Prompt.Submitted) -> None:
        command = parse(message.text)
        if command is not None:
            self.run_worker(self._command(*command), group="commands")
            return
        if self.session.answering or self._waiting:
            self.action_interrupt()
        self._waiting += 1
        self._lines.put_nowait(message.text.strip())

    async def _answer_lines(self) -> None:
        """Says one line after another; the next one interrupts the last."""
        await self.ready.wait()
        while True:
            line = await self._lines.get()
            self._waiting -= 1
            try:
                await self.session.say(line)
            except MirzaError as error:
                self._shown.append(Trouble(error.what, error.do))

    async def _command(self, name: str, argument: str) -> None:
        await self.ready.wait()
        try:
            reply = await execute(self.session, name, argument)
        except MirzaError as error:
            self._shown.append(Trouble(error.what, error.do))
            return
        await self._do(reply)

    async def _do(self, reply: Reply) -> None:
        if reply.leave:
            self.exit(0)
            return
        if reply.redraw:
            self._shown.clear()
            await self._transcript.replace(entries_of(self.session.messages))
        if reply.text:
            self._shown.append(Note(reply.text))
        if reply.say:
            self._waiting += 1
            self._lines.put_nowait(reply.say)

    # --- keys

    def action_interrupt(self) -> None:
        """Stops the answer."""
        if self.ready.is_set():
            self.run_worker(self.session.interrupt(), group="interrupt")

    def action_stop_or_copy(self) -> None:
        """Copies what is selected; else stops the answer; else clears the line."""
        selected = self._prompt.selected_text or self.screen.get_selected_text()
        if selected:
            self.copy_to_clipboard(selected)
        elif self.session.answering:
            self.action_interrupt()
        elif self._prompt.text:
            self._prompt.clear()
        else:
            self.notify("Ctrl-D leaves.", timeout=2)

    def action_leave(self) -> None:
        self.exit(0)

    def action_leave_or_delete(self) -> None:
        """Leaves where nothing is typed; else deletes a character, as in a shell."""
        if self._prompt.text:
            self._prompt.action_delete_right()
        else:
            self.exit(0)

    def action_thoughts(self) -> None:
        """Unfolds all thoughts, or folds them."""
        self._thoughts_open = not self._thoughts_open
        self._transcript.set_open(self._thoughts_open)

    def action_mute(self) -> None:
        self.run_worker(self._command("mute", ""), group="commands")

    def action_talk(self) -> None:
        """Push-to-talk: the same key begins and ends."""
        if self.ready.is_set():
            self.run_worker(self._talk(), group="talk")

    async def _talk(self) -> None:
        try:
            await self.session.press_to_talk()
        except MirzaError as error:
            self._shown.append(Trouble(error.what, error.do))

    def action_think(self, step: int) -> None:
        """One step more, or less, of thinking."""
        if self.ready.is_set():
            self.run_worker(self.session.set_thinking(next_budget(self.session.thinking, step)), group="think")

    def action_page(self, direction: int) -> None:
        if direction < 0:
            self._transcript.scroll_page_up(animate=False)
        else:
            self._transcript.scroll_page_down(animate=False)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The command palette: every command, and the keys."""
        for command in COMMANDS:
            if command.name != "quit":
                yield SystemCommand(f"/{command.name}", command.summary, lambda name=command.name: self._chosen(name))
        yield SystemCommand("Thoughts", "Unfold all thoughts, or fold them (Ctrl-T)", self.action_thoughts)
        yield SystemCommand("Think more", "One step more thinking (F8)", lambda: self.action_think(1))
        yield SystemCommand("Think less", "One step less thinking (F7)", lambda: self.action_think(-1))
        yield SystemCommand("Talk", "Push to talk: begin, then send (F3)", self.action_talk)
        yield SystemCommand("Theme", "Other colours, kept for next time", self.action_change_theme)
        yield SystemCommand("Keys", "Show all keys", self.action_show_help_panel)

    def _chosen(self, name: str) -> None:
        """A command from the palette: run, or put in the line if it must be told more."""
        command = next(command for command in COMMANDS if command.name == name)
        if command.argument:
            self._prompt.text = f"/{name} "
            self._prompt.move_cursor(self._prompt.document.end)
            self._prompt.focus()
        else:
            self.run_worker(self._command(name, ""), group="commands")

    # --- colours

    def _wish_theme(self, name: str) -> None:
        """Takes the theme of the settings. One that is not there is told."""
        if name in self.available_themes:
            self.theme = name
        elif name:
            near = difflib.get_close_matches(name, self.available_themes, n=1)
            hint = f"Did you mean {near[0]}?" if near else "Ctrl-P and `Theme` show those there are."
            self._shown.append(Trouble(f"console.theme is {name!r}, which is no theme.", hint))

    def _theme_changed(self, theme: Theme) -> None:
        """Keeps the theme that was chosen; the terminal's own is kept as none."""
        if self._keep_theme is None or theme.name == self._theme_kept:
            return
        self._theme_kept = theme.name
        try:
            notice = self._keep_theme("" if theme.name == self._terminals_own else theme.name)
        except MirzaError as error:
            self._shown.append(Trouble(error.what, error.do))
            return
        if notice:
            self._shown.append(Note(notice))

    # --- lines that change

    def _show_live(self) -> None:
        text = self._live_text()
        self._live.set_class(not text, "hidden")
        self._live.show(text)

    def _live_text(self) -> Text:
        typed = self._prompt.text
        if self._loading and (self.session.state is State.LOADING or not self.ready.is_set()):
            return Text(printable(self._loading))
        if typed.startswith("/") and (options := completions(typed)):
            return Text("  ".join(option.strip() for option in options), no_wrap=True, overflow="ellipsis")
        if not self.session.has_sound:
            return Text("")
        return live_line(self.session, self._heard)

    def _show_status(self) -> None:
        settings = self.session.settings
        status = Status(
            self.session.state,
            self.session.model,
            str(self.session.thinking),
            settings.llm.context_tokens,
            muted=self.session.muted,
            answering=self.session.answering and self._transcript.saying and not self.session.has_sound,
            last=self._last,
        )
        self._status.show(status_line(status, self._status.size.width))


def next_budget(budget: ThinkingBudget, step: int) -> ThinkingBudget:
    """The next step up or down from a budget; one in seconds goes to the nearest end."""
    steps = [ThinkingBudget.parse(text).tokens for text in BUDGETS]
    tokens = budget.tokens
    if step > 0:
        return ThinkingBudget(next((known for known in steps if known > tokens), steps[-1]))
    return ThinkingBudget(next((known for known in reversed(steps) if known < tokens), 0))


async def run_full_screen(session: Session) -> int:
    """Shows the session, which is not loaded yet, until the user leaves; returns the exit status.

    Raises:
        MirzaError: the conversation could not begin.
    """
    for variable in ("COLUMNS", "LINES"):  # Textual 8 believes them before the terminal, and would not see a resize
        os.environ.pop(variable, None)
    app, left = MirzaApp(session, keep_theme=keep_theme), asyncio.Event()
    loop = asyncio.get_running_loop()
    for number, status in LEAVE_ON.items():
        loop.add_signal_handler(number, app.exit, status)
    loop.add_signal_handler(signal.SIGINT, app.action_stop_or_copy)
    living = asyncio.create_task(live_loop(session, app, left))
    try:
        status = await app.run_async()
        left.set()
        if not app.ready.is_set():  # the user left while it was loading
            living.cancel()
        with suppress(asyncio.CancelledError):
            await living
    finally:
        living.cancel()
        for number in (signal.SIGINT, *LEAVE_ON):
            loop.remove_signal_handler(number)
    return status or 0


async def live_loop(session: Session, app: MirzaApp, left: asyncio.Event) -> None:
    """The conversation's life, from when there is a screen until the user has left."""
    await app.mounted.wait()
    try:
        async with session:
            app.loaded(await session.kept.typed_before())
            await left.wait()
    finally:
        app.exit(1)  # does nothing if the user has left already
