"""The `mirza` command: quick to answer, lazy to import, and plain about mistakes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from mirza import cli
from mirza.errors import NoDevice
from mirza.folders import PROJECT

HEAVY = {"mlx", "mlx_lm", "mlx_vlm", "numpy", "onnxruntime", "openai", "pydantic", "rich", "sounddevice", "textual"}


def mirza(*arguments: str, env: dict[str, str] | None = None, **options: object) -> subprocess.CompletedProcess[str]:
    """Runs the command as a person would, with none of their settings."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("MIRZA_")}
    return subprocess.run(
        [sys.executable, "-m", "mirza", *arguments],
        env=variables | (env or {}),
        cwd=PROJECT,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
        **options,
    )


def imported_by(*arguments: str) -> set[str]:
    """The top-level packages that `mirza ARGUMENTS` imports."""
    code = (
        "import sys\nbefore = set(sys.modules)\nfrom mirza.cli import main\n"
        f"try:\n    main({list(arguments)!r})\nexcept SystemExit:\n    pass\n"
        "print('\\n\\n' + '\\n'.join({name.partition('.')[0] for name in set(sys.modules) - before}))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True)
    return set(done.stdout.rpartition("\n\n")[2].splitlines())


class OneCommand:
    """A subcommand that does what a test wants."""

    def __init__(self, run) -> None:
        self.run = run

    def add_arguments(self, parser) -> None:
        parser.add_argument("--json", action="store_true")
        parser.add_argument("words", nargs="*")


@pytest.fixture
def command(monkeypatch):
    """Stands in for every command; returns what it was run with."""
    seen: list[tuple[str, object]] = []

    def use(run=lambda args: 0):
        def imported(name: str) -> OneCommand:
            return OneCommand(lambda args: seen.append((name, args)) or run(args))

        monkeypatch.setattr(cli, "importlib", SimpleNamespace(import_module=imported))
        return seen

    return use


# --- quick and light -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["bench"], ["tlak"], ["talk", "--help"]])
def test_help_imports_nothing_heavy(arguments):
    assert not imported_by(*arguments) & HEAVY


def test_the_general_help_imports_only_the_standard_library_and_mirza():
    assert imported_by("--help") <= set(sys.stdlib_module_names) | {"mirza"}


def test_the_help_names_every_command():
    done = mirza("--help")

    assert done.returncode == 0
    assert all(f"  {command.name} " in done.stdout for command in cli.COMMANDS)


def test_every_command_is_a_module_that_can_be_imported_and_asked_for_help():
    for command in (*cli.COMMANDS, *cli.BENCHMARKS):
        if command.name == "bench":
            continue
        words = ["bench", command.name] if command in cli.BENCHMARKS else [command.name]
        with pytest.raises(SystemExit) as done:
            cli.main([*words, "--help"])
        assert done.value.code == 0, command


def test_the_text_console_needs_no_audio_library(tmp_path):
    """`sounddevice` cannot be imported here, as on a machine without PortAudio."""
    (tmp_path / "sounddevice.py").write_text("raise OSError('PortAudio library not found')\n")

    done = mirza(
        *("chat", "--plain", "--json", "--set", "llm.engine=scripted", "--set", f"paths.data={tmp_path / 'data'}"),
        env={"PYTHONPATH": str(tmp_path), "HOME": str(tmp_path)},
        input="hello there\n",
    )

    assert done.returncode == 0, done.stderr
    assert any("hello there" in str(json.loads(line)) for line in done.stdout.splitlines())


# --- which command ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "module"),
    [
        ([], "mirza.console.chat"),
        (["--json"], "mirza.console.chat"),
        (["talk"], "mirza.talk"),
        (["--profile", "quick", "talk", "--json"], "mirza.talk"),
        (["--set=llm.seed=1", "--debug", "say", "hello"], "mirza.say"),
        (["bench", "engine"], "mirza.bench.engine"),
        (["--debug", "bench", "--profile", "quick", "all"], "mirza.bench.everything"),
    ],
)
def test_options_of_every_command_may_stand_before_it_or_after_it(arguments, module, command):
    seen = command()

    assert cli.main(arguments) == 0
    assert [name for name, _ in seen] == [module]


def test_common_options_reach_the_command_from_both_sides(command):
    seen = command()

    cli.main(["--set", "llm.seed=1", "say", "--set", "llm.top_k=2", "--profile", "quick", "hello"])

    _, args = seen[0]
    assert (args.set, args.profile, args.words) == (["llm.seed=1", "llm.top_k=2"], "quick", ["hello"])


def test_a_command_that_does_not_exist_names_the_nearest():
    done = mirza("tlak")

    assert (done.returncode, done.stdout) == (cli.USAGE, "")
    assert "mirza talk" in done.stderr


# --- mistakes, and other ends ----------------------------------------------------------------------------------------


def test_an_error_is_its_sentence_and_no_traceback(command, capsys):
    def fail(args):
        raise NoDevice("There is no microphone.", "Plug one in.")

    command(fail)

    assert cli.main(["talk"]) == cli.FAILED
    out, err = capsys.readouterr()
    assert (out, err) == ("", "mirza: There is no microphone. Plug one in.\n")


def test_errors_of_tasks_that_ran_side_by_side_are_their_sentences(command, capsys):
    def fail(args):
        inner = ExceptionGroup("tasks", [NoDevice("There is no microphone.")])
        raise ExceptionGroup("tasks", [inner, NoDevice("There is no loudspeaker.")])

    command(fail)

    assert cli.main(["talk"]) == cli.FAILED
    assert capsys.readouterr().err == "mirza: There is no microphone.\nmirza: There is no loudspeaker.\n"


def test_a_fault_of_mirzas_own_is_not_hidden_among_errors(command):
    def fail(args):
        raise ExceptionGroup("tasks", [NoDevice("There is no microphone."), ZeroDivisionError()])

    command(fail)

    with pytest.raises(ExceptionGroup):
        cli.main(["talk"])


def test_with_debug_the_traceback_is_there(command):
    def fail(args):
        raise NoDevice("There is no microphone.")

    command(fail)

    with pytest.raises(NoDevice):
        cli.main(["talk", "--debug"])


def test_ctrl_c_ends_with_its_own_status(command):
    def interrupt(args):
        raise KeyboardInterrupt

    command(interrupt)

    assert cli.main(["talk"]) == cli.INTERRUPTED


def test_a_wrong_option_is_a_usage_error(command):
    command()

    with pytest.raises(SystemExit) as done:
        cli.main(["talk", "--no-such-option"])

    assert done.value.code == cli.USAGE


def test_a_reader_that_leaves_early_is_no_error_message(tmp_path):
    read, write = os.pipe()
    os.close(read)

    command = [sys.executable, "-m", "mirza", "settings", "--json"]
    done = subprocess.run(command, cwd=PROJECT, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)

    assert done.stderr == ""
    assert done.returncode == cli.FAILED


def test_json_is_one_object_a_line_and_nothing_else():
    done = mirza("settings", "--json")

    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert all({"name", "value", "from", "default", "takes"} == set(line) for line in lines)
    assert {line["name"] for line in lines} >= {"llm.thinking_budget", "audio.volume"}


def test_a_misspelt_setting_in_the_environment_stops_every_command(capsys, monkeypatch):
    monkeypatch.setenv("MIRZA_LLM__THINKING_BUGDET", "0")
    for words in (["settings"], ["chat", "--plain"], ["doctor"], ["models"], ["talk"]):
        assert cli.main(words) == cli.FAILED, words
        assert "llm.thinking_budget" in capsys.readouterr().err


# --- mirza settings --------------------------------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of the test's own, where nothing was ever set."""
    for name in [name for name in os.environ if name.startswith("MIRZA_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


def settings(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What `mirza settings WORDS` prints."""
    assert cli.main(["settings", *words]) == 0
    return capsys.readouterr().out


def test_a_setting_is_set_shown_explained_and_taken_back(home, capsys):
    settings(capsys, "set", "llm.thinking_budget", "256")

    shown = settings(capsys, "llm")
    explained = settings(capsys, "explain", "llm.thinking_budget")
    assert '"256"' in shown
    assert "mirza.toml" in shown
    assert "seconds like 1.5s" in explained
    assert "MIRZA_LLM__THINKING_BUDGET" in explained

    settings(capsys, "unset", "llm.thinking_budget")
    assert "from default" in settings(capsys, "llm.thinking_budget")


def test_setting_what_a_stronger_layer_overrules_says_so(home, capsys, monkeypatch):
    monkeypatch.setenv("MIRZA_LLM__SEED", "2")

    assert "MIRZA_LLM__SEED wins over it" in settings(capsys, "set", "llm.seed", "1")


def test_editing_opens_the_users_file_and_checks_it_afterwards(home, capsys, monkeypatch):
    editor = home / "editor.sh"
    editor.write_text('#!/bin/sh\necho "[llm]\nmodle = 1" > "$1"\n')
    editor.chmod(0o755)

    monkeypatch.setenv("EDITOR", str(editor))
    monkeypatch.delenv("VISUAL", raising=False)

    assert cli.main(["settings", "edit"]) == cli.FAILED
    assert "Did you mean llm.model?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["set", "llm.modle", "x"], "llm.model"),
        (["set", "llm.top_p", "7"], "a number above 0"),
        (["set", "llm.top_p"], "--help"),
        (["explain"], "--help"),
        (["fiddle"], "mirza settings"),
        (["llmm"], "group llm"),
    ],
)
def test_a_mistake_says_what_is_right(words, said, home, capsys):
    assert cli.main(["settings", *words]) == cli.FAILED
    assert said in capsys.readouterr().err
