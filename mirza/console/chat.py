"""The `mirza chat` command: what it takes, and which console it opens."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mirza.console.session import Build, Session
    from mirza.history import History
    from mirza.llm.base import OnProgress
    from mirza.pipeline import Conversation
    from mirza.settings import SettingsTree

NO_NUMBER = -1
"""`--resume` without a number: the last conversation."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `mirza chat` takes."""
    parser.add_argument("--plain", action="store_true", help="line by line, without the full screen")
    parser.add_argument("--json", action="store_true", help="one JSON object a line and nothing else; implies --plain")
    parser.add_argument(
        "--resume", nargs="?", type=int, const=NO_NUMBER, metavar="NUMBER", help="go on with a kept conversation"
    )
    parser.add_argument("--sound", action="store_true", help="listen and speak as well")
    parser.add_argument("--stats", action="store_true", help="after each answer, its tokens and times")
    parser.add_argument(
        "--think",
        nargs="?",
        const="on",
        metavar="BUDGET",
        help="think before speaking: tokens, seconds like 2s, or off",
    )
    parser.add_argument("--thoughts", action="store_true", help="show what is thought, apart from the answer")
    parser.add_argument("--system", metavar="TEXT", help="the system prompt")
    parser.add_argument("-n", type=int, metavar="TOKENS", dest="max_tokens", help="tokens of an answer at most")
    parser.add_argument("--no-save", action="store_true", help="keep nothing of this conversation on disk")


def run(args: argparse.Namespace) -> int:
    """Holds the conversation; returns the exit status."""
    from mirza.console.session import Session
    from mirza.folders import conversations_file
    from mirza.log import log_event, set_up
    from mirza.settings_sources import settings_of

    settings = settings_of(
        args,
        {
            "llm.thinking_budget": args.think,
            "llm.system": args.system,
            "llm.max_tokens": args.max_tokens,
            "conversation.save": False if args.no_save else None,
        },
    ).tree
    session = Session(settings, builder(sound=args.sound), conversations_file(settings.paths))
    full_screen = not (args.plain or args.json) and full_screen_is_possible()
    set_up(settings.log, settings.paths, console=not full_screen)
    session.listen(partial(log_event, transcripts=settings.log.transcripts))
    try:
        return asyncio.run(_chat(session, args, full_screen=full_screen))
    except asyncio.CancelledError:  # a polite kill: everything is closed and the terminal is as it was
        return 143


async def _chat(session: Session, args: argparse.Namespace, *, full_screen: bool) -> int:
    if args.resume is not None:
        await session.resume(None if args.resume == NO_NUMBER else args.resume)
    if not full_screen:
        return await _plain(session, args)
    from mirza.console.tui import run_full_screen

    return await run_full_screen(session)


async def _plain(session: Session, args: argparse.Namespace) -> int:
    from mirza.console.lines import PROMPT, PipeLines
    from mirza.console.plain import JsonPrinter, LoadingLine, PlainOptions, TextPrinter, converse, follow

    at_terminal = sys.stdin.isatty() and sys.stdout.isatty() and not args.json
    color = at_terminal and "NO_COLOR" not in os.environ and not terminal_is_dumb()
    options = PlainOptions(interactive=at_terminal, stats=args.stats, thoughts=args.thoughts, color=color)
    printer = JsonPrinter(options) if args.json else TextPrinter(options)
    follow(session, printer)
    if at_terminal:
        session.on_progress = LoadingLine(sys.stderr)
    async with session:
        if at_terminal and not terminal_is_dumb():
            from mirza.console.editing import TerminalLines

            lines = TerminalLines(await session.kept.typed_before(), events_print=session.has_sound)
        else:
            lines = PipeLines(prompt=PROMPT if at_terminal else "")
        return await converse(session, lines, printer, options)


def full_screen_is_possible() -> bool:
    """Whether both ends are a terminal that can place text."""
    return sys.stdin.isatty() and sys.stdout.isatty() and not terminal_is_dumb()


def terminal_is_dumb() -> bool:
    """Whether the terminal says of itself that it can only write lines."""
    return os.environ.get("TERM", "dumb") in {"dumb", "unknown", ""}


def builder(*, sound: bool) -> Build:
    """How the session makes its conversation: with a microphone and a loudspeaker, or without."""
    from mirza.build import build_conversation

    def build(settings: SettingsTree, history: History, on_progress: OnProgress) -> Conversation:
        return build_conversation(settings, history=history, sound=sound, on_progress=on_progress)

    return build
