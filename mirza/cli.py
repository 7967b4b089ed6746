"""The `mirza` command: finds the subcommand, and imports nothing else until it runs.

Each command is a module with `add_arguments(parser)` and `run(args) -> int`; only the chosen one is imported, so
`mirza --help` answers at once and the text console runs where no audio library is installed.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import io
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mirza import __version__
from mirza.errors import MirzaError

FAILED, USAGE, INTERRUPTED = 1, 2, 130
"""Exit statuses: something went wrong; the command was not understood; Ctrl-C."""


@dataclass(frozen=True, slots=True)
class Command:
    """A subcommand: the module that holds it, and its line in the help."""

    name: str
    module: str
    summary: str


COMMANDS = (
    Command("talk", "mirza.talk", "talk with Mirza: live, or from recordings"),
    Command("chat", "mirza.console.chat", "the same conversation by keyboard (what `mirza` alone does)"),
    Command("demo", "mirza.demo", "see it at work in seconds: no model, no microphone"),
    Command("say", "mirza.say", "speak a text aloud, or into a file"),
    Command("models", "mirza.models.command", "list, fetch and remove models"),
    Command("doctor", "mirza.doctor", "what works here, what is missing, and the command that mends it"),
    Command("settings", "mirza.settings_command", "show, explain and change settings"),
    Command("bench", "mirza.bench", "measure it: engine, exactness, talk, text, pipeline, soak, console, all, compare"),
)

BENCHMARKS = (
    Command("engine", "mirza.bench.engine", "the language model: prefill, first token, decoding, memory"),
    Command("exactness", "mirza.bench.exactness", "the same greedy tokens, whatever is switched on"),
    Command("talk", "mirza.bench.talk", "spoken turns on real models: latency, and how much is understood"),
    Command("text", "mirza.bench.text", "sentences and spoken forms"),
    Command("pipeline", "mirza.bench.pipeline", "Mirza's own cost in a turn, the models replaced by doubles"),
    Command("console", "mirza.bench.console", "a conversation of 2,000 turns on the screen: opened and scrolled"),
    Command("soak", "mirza.bench.soak", "a thousand turns: does anything creep up?"),
    Command("growth", "mirza.bench.growth", "how cost grows with context, turns and system prompt"),
    Command("all", "mirza.bench.everything", "all of these, into one report"),
    Command("compare", "mirza.bench.compare", "two reports, side by side"),
)

DEFAULT = "chat"

EPILOG = """\
Every setting can be given as --set NAME=VALUE, e.g. --set llm.thinking_budget=128; `mirza settings` lists them.
`mirza COMMAND --help` tells more about a command. Start with `mirza demo`.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")  # whatever the locale says: answers hold any script
    arguments = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in arguments
    try:
        status = _run(arguments)
        sys.stdout.flush()
    except MirzaError as error:
        if debug:
            raise
        print(f"mirza: {error}", file=sys.stderr)
        return FAILED
    except ExceptionGroup as group:  # from tasks that ran side by side
        ours, others = group.split(MirzaError)
        if debug or ours is None or others is not None:
            raise
        for error in _leaves(ours):
            print(f"mirza: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        if debug:
            raise
        return INTERRUPTED
    except BrokenPipeError:
        # The reader left (`mirza ... | head`). What Python still holds for stdout goes nowhere, and quietly.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    return status


def _run(arguments: list[str]) -> int:
    before, name, after = split(arguments)
    if name is None and not after and {"-h", "--help", "--version"} & {*before}:
        _listing("mirza", COMMANDS).parse_args(before)
    prog, commands = "mirza", COMMANDS
    if name == "bench":
        prog, commands = "mirza bench", BENCHMARKS
        more, name, after = split(after)
        before += more
        if name is None:  # nothing was chosen: say what there is
            _listing(prog, BENCHMARKS).parse_args([*before, "--help"])
    command = next((command for command in commands if command.name == (name or DEFAULT)), None)
    if command is None:
        return _unknown(prog, str(name), commands)
    module = importlib.import_module(command.module)
    parser = argparse.ArgumentParser(
        prog=f"{prog} {command.name}",
        description=_sentence(command.summary),
        parents=[common_options()],
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    module.add_arguments(parser)
    return module.run(parser.parse_args(before + after))


def split(arguments: Sequence[str]) -> tuple[list[str], str | None, list[str]]:
    """Finds the command: what stands before it, its name if there is one, and what follows.

    Options that every command takes may stand on either side of it. Any other option means that the command was left
    out: `mirza --plain` is `mirza chat --plain`.
    """
    takes_value = {"--set", "--profile"}
    i = 0
    while i < len(arguments):
        word = arguments[i]
        if word in takes_value:
            i += 2
        elif word.partition("=")[0] in takes_value or word in {"--debug", "-h", "--help", "--version"}:
            i += 1
        elif word.startswith("-"):
            break
        else:
            return list(arguments[:i]), word, list(arguments[i + 1 :])
    return list(arguments[:i]), None, list(arguments[i:])


def common_options() -> argparse.ArgumentParser:
    """What every command takes: `set` (a list of NAME=VALUE), `profile` and `debug`."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    group = parser.add_argument_group("options of every command")
    group.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="change a setting for this run")
    group.add_argument("--profile", default="", metavar="NAME", help="use a profile, e.g. quick or french")
    group.add_argument("--debug", action="store_true", help="show the traceback when something goes wrong")
    return parser


def _leaves(group: BaseExceptionGroup[MirzaError]) -> Iterator[MirzaError]:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _leaves(error)
        else:
            yield error


def _listing(prog: str, commands: Sequence[Command]) -> argparse.ArgumentParser:
    """A parser that only knows how to show the commands."""
    width = max(len(command.name) for command in commands)
    lines = "\n".join(f"  {command.name:{width}}  {command.summary}" for command in commands)
    parser = argparse.ArgumentParser(
        prog=prog,
        usage=f"{prog} [OPTIONS] COMMAND [OPTIONS OF THE COMMAND]",
        description=f"A private voice assistant that runs on your own computer.\n\ncommands:\n{lines}",
        epilog=EPILOG,
        parents=[common_options()],
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"mirza {__version__}")
    return parser


def _unknown(prog: str, name: str, commands: Sequence[Command]) -> int:
    names = [command.name for command in commands]
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"Did you mean `{prog} {near[0]}`?" if near else f"There are: {', '.join(names)}."
    print(f"mirza: There is no `{prog} {name}`. {hint}", file=sys.stderr)
    return USAGE


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
