"""The commands of both consoles, as one table: what they are called, what they take, and what they do.

A line is a command if it begins with a slash and a word: `/think 128`. A space in front makes it something to say.
"""

from __future__ import annotations

import asyncio
import difflib
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mirza.console.export import export
from mirza.console.show import statistics
from mirza.errors import MirzaError, StorageError
from mirza.llm.base import ThinkingBudget

if TYPE_CHECKING:
    from mirza.console.session import Session

BUDGETS = ("off", "128", "256", "512", "1024", "2048", "4096")
"""Steps of the keys for more and less thinking."""


KEYS = (
    "Full screen: Esc stops the answer, Ctrl-T unfolds thoughts, F2 mutes, F7 and F8 think less and more.",
    "Ctrl-P there lists all commands and keys, and the themes.",
    "Line by line: Ctrl-C stops the answer, Alt-Enter breaks the line.",
    "Push-to-talk (turns.push_to_talk): F3, or Enter in an empty line, begins to listen; the same again sends.",
)


class CommandError(MirzaError):
    """A command that does not exist, or was given something it does not take."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a command has to say. `leave` ends the program, `redraw` says that the messages are now others, and `say` is
    what is said next in the user's name."""

    text: str = ""
    leave: bool = False
    redraw: bool = False
    say: str = ""


@dataclass(frozen=True, slots=True)
class Command:
    """One command. `argument` is what it takes, as the help shows it; `choices` completes it."""

    name: str
    argument: str
    summary: str
    run: Callable[[Session, str], Awaitable[Reply]]
    choices: Sequence[str] = ()
    needed: bool = False
    """Whether the argument must be given."""


def parse(line: str) -> tuple[str, str] | None:
    """The command's name and its argument, or `None` if the line is something to say."""
    match = re.fullmatch(r"/([A-Za-z?]\w*)(?:\s+(.*))?", line.rstrip(), re.DOTALL)
    return (match[1].lower(), (match[2] or "").strip()) if match else None


async def execute(session: Session, name: str, argument: str) -> Reply:
    """Runs a command.

    Raises:
        MirzaError: there is none of that name, or it could not do it.
    """
    command = find(name)
    if argument and not command.argument:
        raise CommandError(f"/{command.name} takes nothing after it.", f"Type /{command.name} alone.")
    if command.needed and not argument:
        raise CommandError(f"/{command.name} needs {command.argument}.", "/help lists the commands.")
    return await command.run(session, argument)


def find(name: str) -> Command:
    """The command of that name.

    Raises:
        CommandError: there is none; the nearest one is suggested.
    """
    names = [command.name for command in COMMANDS]
    if name in names:
        return COMMANDS[names.index(name)]
    beginnings = [known for known in names if known.startswith(name)]
    near = beginnings or difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"Did you mean {' or '.join('/' + known for known in near)}?" if near else "/help lists the commands."
    raise CommandError(f"There is no /{name}.", hint)


def completions(line: str) -> list[str]:
    """Whole lines that `line` may become: names of commands, or what a command takes."""
    if not line.startswith("/"):
        return []
    name, space, argument = line[1:].partition(" ")
    if not space:
        return [f"/{command.name}{' ' if command.argument else ''}" for command in _beginning(name.lower())]
    choices = [choice for command in COMMANDS if command.name == name.lower() for choice in command.choices]
    return [f"/{name} {choice}" for choice in choices if choice.startswith(argument.lstrip().lower())]


def _beginning(name: str) -> list[Command]:
    return [command for command in COMMANDS if command.name.startswith(name)]


# --- what they do, in the order of the table


async def _help(session: Session, argument: str) -> Reply:
    width = max(len(command.name) + len(command.argument) for command in COMMANDS) + 3
    lines = [f"{f'/{command.name} {command.argument}':{width}}{command.summary}" for command in COMMANDS]
    return Reply("\n".join([*lines, "", *KEYS]))


async def _think(session: Session, argument: str) -> Reply:
    if argument:
        await session.set_thinking(ThinkingBudget.parse(argument))
        return Reply(f"Thinking: {session.thinking}.")
    return Reply(f"Thinking: {session.thinking}. Change it with a number of tokens, seconds like 1.5s, or off.")


async def _voice(session: Session, argument: str) -> Reply:
    if argument:
        await session.set_voice(argument)
        return Reply(f"The voice is now {argument}.")
    name = session.settings.tts.voice or "the language's own"
    there_are = f"There are: {', '.join(session.voices)}." if session.voices else "Nothing is spoken here."
    return Reply(f"The voice is {name}. {there_are}")


async def _model(session: Session, argument: str) -> Reply:
    if not argument:
        return Reply(f"The model is {session.model}. `/model NAME` changes it; `mirza models` lists them.")
    await session.set_model(argument)
    return Reply(f"The model is now {session.model}.")


async def _mute(session: Session, argument: str) -> Reply:
    if not session.has_sound:
        raise CommandError("There is no microphone in this conversation.", "Start with `mirza chat --sound` for one.")
    session.set_muted(not session.muted)
    return Reply("The microphone is off; /mute turns it on again." if session.muted else "The microphone is on.")


async def _reset(session: Session, argument: str) -> Reply:
    number = session.number
    await session.reset()
    before = f" What was said before is kept as conversation {number}." if number is not None else ""
    return Reply(f"A new conversation.{before}", redraw=True)


async def _undo(session: Session, argument: str) -> Reply:
    taken = await session.undo()
    return Reply(f"Taken back: {taken}" if taken else "There is nothing to take back.", redraw=bool(taken))


async def _retry(session: Session, argument: str) -> Reply:
    question = await session.undo()
    if not question:
        raise CommandError("There is nothing to ask again.", "Say something first.")
    return Reply(redraw=True, say=question)


async def _save(session: Session, argument: str) -> Reply:
    number = await session.save(argument)
    return Reply(f"Kept as conversation {number}{f', {argument}' if argument else ''}.")


async def _load(session: Session, argument: str) -> Reply:
    await session.load(_number(argument))
    return Reply(f"Conversation {session.number}: {len(session.messages)} messages.", redraw=True)


async def _sessions(session: Session, argument: str) -> Reply:
    if argument:
        found = await session.kept.search(argument)
        lines = [f"{hit.conversation:>5}  {' '.join(hit.excerpt.split())}" for hit in found]
        return Reply("\n".join(lines) or f"Nothing with {argument!r} was said.")
    listed = await session.kept.listed()
    lines = [f"{line.id:>5}  {line.changed_at.astimezone():%d %b %H:%M}  {line.title}" for line in listed]
    return Reply("\n".join(lines) or "No conversation is kept yet.")


async def _export(session: Session, argument: str) -> Reply:
    if not session.messages:
        raise CommandError("There is nothing to export yet.", "Say something first.")
    title, messages = await session.kept.title(), session.messages
    file = Path(argument or f"mirza-{session.number or 'conversation'}.md")
    await asyncio.to_thread(export, messages, title, file)
    return Reply(f"Written to {file}.")


async def _delete(session: Session, argument: str) -> Reply:
    number = _number(argument)
    here = number == session.number
    await session.delete(number)
    return Reply(f"Conversation {number} is deleted.", redraw=here)


async def _stats(session: Session, argument: str) -> Reply:
    return Reply(statistics(list(session.turns)))


async def _leave(session: Session, argument: str) -> Reply:
    return Reply(leave=True)


def _number(argument: str) -> int:
    if not argument.isdecimal():
        raise StorageError(f"{argument!r} is no conversation's number.", "/sessions lists them.")
    return int(argument)


COMMANDS = (
    Command("help", "", "this list", _help),
    Command("think", "[N|off|Ns]", "how much to think before speaking: tokens, seconds, or off", _think, BUDGETS),
    Command("voice", "[NAME]", "which voice speaks", _voice),
    Command("model", "[NAME]", "which model answers", _model),
    Command("mute", "", "the microphone off, or on again", _mute),
    Command("reset", "", "begin a new conversation", _reset),
    Command("undo", "", "take the last exchange back", _undo),
    Command("retry", "", "ask the last question again", _retry),
    Command("save", "[TITLE]", "keep this conversation, under a title", _save),
    Command("load", "NUMBER", "go on with a kept conversation", _load, needed=True),
    Command("sessions", "[WORDS]", "kept conversations, or those where the words were said", _sessions),
    Command("delete", "NUMBER", "delete a kept conversation for good", _delete, needed=True),
    Command("export", "[FILE]", "write this conversation to a .md or .json file", _export),
    Command("stats", "", "tokens and times of the last turn", _stats),
    Command("exit", "", "leave", _leave),
    Command("quit", "", "leave", _leave),
)
