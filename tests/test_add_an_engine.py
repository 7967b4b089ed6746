"""A package adds engines: the one that docs/add-an-engine.md shows is built, installed and talked with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from mirza.folders import PROJECT
from tests.documents import blocks

PAGE = PROJECT / "docs" / "add-an-engine.md"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip has installed the page's package."""
    folder = tmp_path_factory.mktemp("parrot")
    project = tomllib.loads(blocks(PAGE, "toml")[0])["project"]
    stem = f"mirza_parrot-{project['version']}"
    entry_points = "\n".join(
        f"[{group}]\n" + "\n".join(f"{name} = {target}" for name, target in entries.items())
        for group, entries in project["entry-points"].items()
    )
    wheel = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as files:  # what a build back end would make, without one and without a network
        files.writestr("mirza_parrot.py", blocks(PAGE, "python")[0])
        files.writestr(f"{stem}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 1.0\n")
        files.writestr(f"{stem}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        files.writestr(f"{stem}.dist-info/entry_points.txt", entry_points)
        files.writestr(f"{stem}.dist-info/RECORD", "")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check"]
    subprocess.run([*pip, "--target", str(folder / "site"), str(wheel)], check=True)
    return folder / "site"


def python(installed: Path, *arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"PYTHONPATH": str(installed), "HOME": str(installed)}
    return subprocess.run(
        [sys.executable, *arguments],
        env=env,
        cwd=PROJECT,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
        **options,
    )


def test_its_language_model_holds_a_conversation(installed):
    words = ["-m", "mirza", "chat", "--plain", "--json", "--no-save", "--think", "2", "--set", "llm.engine=parrot"]

    done = python(installed, *words, input="good morning polly\n")

    assert done.returncode == 0, done.stderr
    turns = [json.loads(line) for line in done.stdout.splitlines()]
    said = [turn for turn in turns if "good morning polly" in str(turn.get("said"))]
    assert said
    assert "hm" not in said[-1]["said"]


def test_its_recogniser_and_its_voice_are_found_by_name(installed):
    code = """
import asyncio, json
from mirza.build import make_stt, make_tts
from mirza.settings_sources import load_settings

async def talk():
    settings = load_settings({"stt.engine": "parrot", "tts.engine": "parrot"})
    stt, tts = make_stt(settings), make_tts(settings)
    samples = [chunk async for chunk in tts.synthesize("Hi.")]
    heard = await stt.transcribe(samples[0])
    print(json.dumps({"samples": sum(map(len, samples)), "heard": heard.text, "voice": tts.voices[0].name}))

asyncio.run(talk())
"""

    done = python(installed, "-c", code)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"samples": 4800, "heard": "Hello.", "voice": "polly"}


def test_an_engine_that_nobody_adds_names_the_ones_there_are(installed):
    done = python(installed, "-m", "mirza", "chat", "--plain", "--set", "llm.engine=parot", input="hi\n")

    assert done.returncode == 1
    assert "parrot" in done.stderr
    assert "Traceback" not in done.stderr
