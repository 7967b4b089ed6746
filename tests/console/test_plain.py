"""Line by line: what goes to standard output, what to standard error, and what comes out of pipes of any kind."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from mirza.cli import main
from mirza.console.lines import PipeLines
from mirza.console.plain import JsonPrinter, PlainOptions, TextPrinter, converse, follow
from mirza.console.script import Asked, Ended, Said, Thought
from mirza.console.show import printable
from mirza.errors import ServerError
from mirza.llm.scripted import Reply
from tests.console.scenes import session_in
from tests.console.terminal import CHAT, PROJECT


class TypedLines:
    """Lines that were typed beforehand."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)

    async def read(self) -> str | None:
        return next(self._lines, None)


async def talk(
    folder: Path, *lines: str, replies: Iterable[Reply] = (), as_json: bool = False, think: str = "off", **options: bool
) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of a conversation."""
    out, log = io.StringIO(), io.StringIO()
    plain = PlainOptions(**{"interactive": False, **options})
    printer = JsonPrinter(plain, out) if as_json else TextPrinter(plain, out, log)
    session = session_in(folder, list(replies), thought="hm " * 9, llm={"thinking_budget": think})
    follow(session, printer)
    async with session:
        status = await converse(session, TypedLines(lines), printer, plain)
    return status, out.getvalue(), log.getvalue()


async def test_a_pipe_gets_the_answers_and_nothing_else(tmp_path: Path):
    status, out, log = await talk(tmp_path, "one", "", "  ", "two", think="5")
    assert (status, out, log) == (0, "You said: one\nYou said: two\n", "")


async def test_commands_answer_on_standard_output_and_leave(tmp_path: Path):
    status, out, _ = await talk(tmp_path, "/think 7", "/quit", "never said")
    assert (status, out) == (0, "Thinking: 7 tokens.\n")


async def test_a_failure_goes_to_standard_error_and_into_the_status(tmp_path: Path):
    gone = ServerError("The server is gone.", "Start it.")
    status, out, log = await talk(tmp_path, "one", "two", "/rest", replies=[gone, "Fine."])
    assert status == 1
    assert out == "Fine.\n"
    assert log.splitlines() == [
        "mirza: The server is gone. Start it.",
        "mirza: There is no /rest. Did you mean /reset?",
    ]


async def test_thoughts_are_shown_on_request_and_never_in_the_answer(tmp_path: Path):
    _, out, log = await talk(tmp_path, "why?", replies=["Because."], think="3", thoughts=True)
    assert out.strip() == "Because."
    assert log == "thinking …\nhm hm hm "


async def test_stats_follow_each_answer_on_standard_error(tmp_path: Path):
    _, out, log = await talk(tmp_path, "one", "two", stats=True)
    assert out == "You said: one\nYou said: two\n"
    assert log.count("tokens    ") == 2
    assert "in all    2 turns" in log


async def test_json_prints_one_object_a_line(tmp_path: Path):
    gone = ServerError("The server is gone.", "Start it.")
    _, out, log = await talk(
        tmp_path, "un café ?", "/think 2", "two", replies=["Oui.", gone], as_json=True, think="4", thoughts=True
    )
    first, command, error, second = map(json.loads, out.splitlines())
    assert log == ""
    assert (first["heard"], first["said"], first["thinking_tokens"], first["speech_tokens"]) == (
        "un café ?",
        "Oui.",
        4,
        1,
    )
    assert first["thought"] == "hm hm hm hm "
    assert first["model"] == "scripted"
    assert command == {"command": "/think 2", "reply": "Thinking: 2 tokens."}
    assert error == {"error": "The server is gone.", "do": "Start it."}
    assert (second["heard"], second["said"]) == ("two", "")


def test_an_answer_cannot_drive_the_terminal():
    out = io.StringIO()
    printer = TextPrinter(PlainOptions(interactive=True, color=True), out, io.StringIO())
    for part in (
        Asked("x", typed=True),
        Thought("\x1b[2J"),
        Said("a\x1b]52;c;aGk=\x07"),
        Said("b\r\nc\x9b"),
        Ended("", True),
    ):
        printer.show(part)
    assert out.getvalue() == "a␛]52;c;aGk=␇b\nc\ufffd\x1b[2m [stopped]\x1b[0m\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("é天😀\n\t", "é天😀\n\t"),
        ("a\x00b\x7f", "a␀b␡"),
        ("\ud83d\ude00", "😀"),
        ("\ud83d!", "\ufffd!"),
    ],
)
def test_printable(text: str, shown: str):
    assert printable(text) == shown


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"one\ntwo\n", ["one", "two"]),
        (b"one\r\ntwo", ["one", "two"]),
        (b"caf\xc3\xa9\xff\n\xf0\x9f\x98", ["café\ufffd", "\ufffd"]),
        (b"a\n\nb", ["a", "", "b"]),
        (b"x" * 200_000 + b"\ny", ["x" * 200_000, "y"]),
    ],
)
async def test_a_pipe_is_read_line_by_line_whatever_is_in_it(tmp_path: Path, data: bytes, lines: list[str]):
    file = tmp_path / "input"
    file.write_bytes(data)
    descriptor = os.open(file, os.O_RDONLY)
    source = PipeLines(descriptor)
    read: list[str] = []
    while (line := await source.read()) is not None:
        read.append(line)
    os.close(descriptor)
    assert read == lines
    assert await source.read() is None


def chat(folder: Path, *arguments: str, given: bytes, **environment: str) -> subprocess.CompletedProcess[bytes]:
    variables = {**os.environ, "MIRZA_PATHS__DATA": str(folder), "PYTHONPATH": str(PROJECT), **environment}
    command = [sys.executable, str(CHAT), *arguments]
    return subprocess.run(command, input=given, capture_output=True, env=variables, check=False)


def test_any_locale_and_any_bytes(tmp_path: Path):
    bare = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "TERM": ""}
    done = chat(
        tmp_path, "--system", "Привет", given="天气\xff\x00 ok\n".encode("latin-1", "replace") + "😀".encode(), **bare
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode().splitlines()[-1] == "You said: 😀"


def test_a_flag_that_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setenv("MIRZA_PATHS__DATA", str(tmp_path))
    assert main(["chat", "--think", "lots"]) == 1
    assert "lots" in capsys.readouterr().err


def test_a_reader_that_leaves(tmp_path: Path):
    reader, writer = os.pipe()
    os.close(reader)
    variables = {**os.environ, "MIRZA_PATHS__DATA": str(tmp_path), "PYTHONPATH": str(PROJECT)}
    done = subprocess.run(
        [sys.executable, str(CHAT)], input=b"hi\n", stdout=writer, stderr=subprocess.PIPE, env=variables, check=False
    )
    os.close(writer)
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr


WITHOUT_AUDIO = """
import sys
sys.modules["sounddevice"] = None  # what an import finds where PortAudio's package is not installed
from mirza.cli import main
status = main(["chat", "--json", "--set", "llm.engine=scripted"])
assert not {"mlx", "mlx.core", "onnxruntime", "textual", "prompt_toolkit"} & {*sys.modules}, "more than a pipe needs"
sys.exit(status)
"""


def test_the_whole_command_runs_without_an_audio_library_and_imports_no_engine(tmp_path: Path):
    variables = {**os.environ, "MIRZA_PATHS__DATA": str(tmp_path), "PYTHONPATH": str(PROJECT)}
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_AUDIO], input=b"hello\n", capture_output=True, env=variables, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    assert json.loads(done.stdout)["said"] == "You said: hello"
