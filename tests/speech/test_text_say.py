"""`mirza say`: the pieces of a text on standard output, without any sound."""

from __future__ import annotations

import io
import json

import pytest

from mirza import cli


def test_say_prints_what_the_voice_would_get_one_piece_a_line(capsys: pytest.CaptureFixture[str]):
    assert cli.main(["say", "--spoken", "It costs $3.50. Really?"]) == 0
    assert capsys.readouterr().out == "It costs three dollars and fifty cents.\nReally?\n"


def test_say_in_french_as_objects(capsys: pytest.CaptureFixture[str]):
    assert cli.main(["say", "Ça", "coûte 3,50 €.", "--lang", "fr", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "written": "Ça coûte 3,50 €.",
        "spoken": "Ça coûte trois euros cinquante.",
        "start": 0,
        "end": 16,
    }


def test_say_reads_what_is_piped_in(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("One.\nTwo, and 3.\n"))
    assert cli.main(["say", "--spoken"]) == 0
    assert capsys.readouterr().out == "One.\nTwo, and three.\n"


def test_an_answer_with_nothing_to_say_prints_nothing_and_ends_well(capsys: pytest.CaptureFixture[str]):
    assert cli.main(["say", "--spoken", "😀"]) == 0
    assert capsys.readouterr().out == ""


def test_a_folder_that_is_not_there_is_said(capsys: pytest.CaptureFixture[str]):
    assert cli.main(["say", "Hi.", "--output", "/nowhere/at/all.wav"]) == 1
    assert "There is no folder /nowhere/at." in capsys.readouterr().err
