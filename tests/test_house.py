"""The house: what a person types first works, and the papers say what the code does."""

from __future__ import annotations

import argparse
import importlib
import os
import re
import subprocess
import tomllib
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest

from mirza import __version__, cli
from mirza.folders import PROJECT
from mirza.settings_sources import settings_of
from tests.documents import PAGES, Command, commands

PYPROJECT = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
LOCK = (PROJECT / "requirements.lock").read_text(encoding="utf-8")
PLACEHOLDERS = {"OWNER/NAME": "owner/name", "NAME": "smollm2-135m", "VALUE": "1", "FOLDER": "/tmp", "FILE": "x.wav"}


def named(requirement: str) -> str:
    return re.split(r"[\[<>=!~; ]", requirement)[0].lower().replace("_", "-")


# --- the lock --------------------------------------------------------------------------------------------------------


def test_every_dependency_is_locked_to_one_version():
    locked = {named(line) for line in LOCK.splitlines() if "==" in line}
    wanted = PYPROJECT["project"]["dependencies"] + PYPROJECT["dependency-groups"]["dev"]

    assert {named(requirement) for requirement in wanted} <= locked
    assert all(re.match(r"[\w.-]+==[\w.+]+( ; .+)?$", line) for line in LOCK.splitlines() if not line.startswith("#"))


def test_the_lock_names_no_host_and_no_file_of_the_machine_that_made_it():
    assert not re.search(r"://|--index|--find-links|file:| @ |/home/|/opt/", LOCK)


@pytest.mark.parametrize("requirement", PYPROJECT["project"]["dependencies"])
def test_the_installed_versions_are_the_locked_ones(requirement: str):
    name = named(requirement)
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        assert ";" in requirement, f"{name} is not installed"  # it is for another system
        return

    assert re.search(rf"^{name}=={re.escape(version)}( ;|$)", LOCK, re.MULTILINE)


# --- make ------------------------------------------------------------------------------------------------------------


def make(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["make", *arguments], cwd=PROJECT, capture_output=True, text=True, check=False, **options)


def test_make_alone_lists_what_can_be_typed():
    done = make()

    assert done.returncode == 0
    for target in ("setup", "talk", "test", "check", "lock", "docs", "clean"):
        assert f"make {target} " in done.stdout


@pytest.mark.parametrize("target", ["talk", "test"])
def test_talk_and_test_begin_with_setup(target):
    """In a folder where nothing was set up yet, as after a clone."""
    done = make("--dry-run", "INSTALLED=.venv/not-there", "MODELS=.venv/nor-there", target)

    steps = done.stdout.splitlines()
    positions = [next(i for i, step in enumerate(steps) if part in step) for part in ("scripts/venv", "pull --default")]
    last = next(i for i, step in enumerate(steps) if ("mirza talk" if target == "talk" else "pytest") in step)
    assert positions == sorted(positions)
    assert positions[-1] < last


def test_make_test_checks_style_and_types_as_well():
    steps = make("--dry-run", "test").stdout

    assert all(part in steps for part in ("ruff check", "ruff format --check", "basedpyright", "pytest"))


def test_setup_with_a_python_that_is_too_old_says_so_and_what_to_do(tmp_path):
    """A machine where `python3` is 3.9 and nothing else is there."""
    for name in ("dirname", "sh", "echo", "cat"):
        (tmp_path / name).symlink_to(f"/bin/{name}" if Path(f"/bin/{name}").exists() else f"/usr/bin/{name}")
    old = tmp_path / "python3"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo "Python 3.9.2" && exit 0\nexit 1\n')
    old.chmod(0o755)
    (tmp_path / "scripts").mkdir()
    (tmp_path / "scripts" / "venv").write_text((PROJECT / "scripts" / "venv").read_text())

    done = subprocess.run(
        ["/bin/sh", str(tmp_path / "scripts" / "venv")],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode != 0
    assert "Python 3.11 or newer" in done.stderr
    assert "Python 3.9.2" in done.stderr


def test_the_script_that_ci_runs_is_a_script():
    script = PROJECT / ".ci" / "run"

    assert os.access(script, os.X_OK)
    assert subprocess.run(["bash", "-n", str(script)], check=False).returncode == 0
    assert "make test" in script.read_text()


# --- papers ----------------------------------------------------------------------------------------------------------


def test_the_version_is_the_same_everywhere():
    changes = (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8")

    assert PYPROJECT["project"]["version"] == __version__
    assert re.findall(r"^## (\S+)", changes, re.MULTILINE)[0] == __version__


def test_the_readme_has_its_first_command_near_the_top():
    lines = (PROJECT / "README.md").read_text(encoding="utf-8").splitlines()

    assert "make demo" in lines[:22]


@pytest.mark.parametrize("command", commands("make"), ids=str)
def test_every_make_command_in_the_papers_is_a_target(command: Command):
    done = make("--dry-run", *command.words[1:])

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("command", commands("mirza"), ids=str)
def test_every_mirza_command_in_the_papers_is_understood(command: Command, monkeypatch: pytest.MonkeyPatch):
    """Each is parsed by its own command, and its settings are looked at; the command itself is not run."""
    words = [PLACEHOLDERS.get(word, word) for word in command.words[1:]]
    if "--help" in words:
        return
    seen: list[argparse.Namespace] = []

    def look(args: argparse.Namespace) -> int:
        settings_of(args)
        seen.append(args)
        return 0

    def imported(name: str) -> SimpleNamespace:
        return SimpleNamespace(add_arguments=importlib.import_module(name).add_arguments, run=look)

    monkeypatch.setattr(cli, "importlib", SimpleNamespace(import_module=imported))

    assert cli.main(words) == 0
    assert seen


@pytest.mark.parametrize(
    "words",
    [
        ["demo"],
        ["settings"],
        ["settings", "explain", "llm.thinking_budget"],
        ["settings", "where"],
        ["models"],
        ["bench"],
        ["--help"],
    ],
    ids=" ".join,
)
def test_what_a_newcomer_types_first_runs_and_says_something(words, capsys):
    try:
        status = cli.main(words)
    except SystemExit as done:
        status = done.code

    out, err = capsys.readouterr()
    assert status == 0
    assert len(out.splitlines()) > 3
    assert "Traceback" not in err


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_in_the_papers_leads_somewhere(page: Path):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target
