"""Lines typed at a terminal, with editing, history and completion. `docs/decisions` says why not with readline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import nullcontext

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.patch_stdout import patch_stdout
from prompt_toolkit.shortcuts import CompleteStyle

from mirza.console.commands import completions
from mirza.console.lines import PROMPT, LineInterrupted


class TerminalLines:
    """What the user types at a terminal; a paste of several lines is one turn."""

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
