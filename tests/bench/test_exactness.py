"""The same greedy tokens, whatever is switched on: a small draw of what `mirza bench exactness` plays."""

import json
from pathlib import Path

import pytest

from mirza.bench.exactness import run_scenes
from mirza.bench.scenes import draw
from mirza.errors import ModelUnsupported
from mirza.llm.mlx.session import Session

TINY = str(Path(__file__).parent.parent / "fixtures" / "tiny-qwen35")


def test_conversations_give_the_tokens_of_a_cold_run_whatever_is_switched_on():
    report = run_scenes(TINY, conversations=6, seed=3)
    assert report.differences == []
    assert report.answers > 20
    assert report.reused_tokens > report.prefilled_tokens
    # What the draw is for did come up.
    assert report.interrupted and report.restarts and report.drafted_tokens and report.accepted_tokens


def test_an_engine_that_goes_back_without_its_recurrent_state_is_caught(monkeypatch):
    def forgetful(session, length):
        for layer in session._growing:
            layer.trim(len(session.ids) - length)
        del session.ids[length:]
        session.marks = [mark for mark in session.marks if mark.length <= length]

    monkeypatch.setattr(Session, "_return_to", forgetful)
    report = run_scenes(TINY, conversations=4, seed=5)
    assert any(difference.what == "token" for difference in report.differences)
    assert all("--first" in difference.reproduce for difference in report.differences)


def test_a_number_draws_the_same_conversation_whatever_was_drawn_before():
    assert draw(7, 41) == draw(7, 41)
    assert draw(7, 41) != draw(7, 42)
    assert draw(8, 41) != draw(7, 41)


def test_draws_cover_what_they_are_for():
    scenes = [draw(1, number) for number in range(300)]
    turns = [turn for scene in scenes for turn in scene.turns]
    assert {scene.knobs.depth for scene in scenes} == {0, 1, 2, 3, 5}
    assert {scene.knobs.reuse for scene in scenes} == {True, False}
    assert any(scene.knobs.context_tokens < 400 for scene in scenes)
    assert any(scene.tools for scene in scenes)
    assert {turn.budget for turn in turns} >= {0, 1, 2, 512}
    assert any(turn.stop_after == 0 for turn in turns)
    assert any(turn.partials for turn in turns) and any(turn.restart for turn in turns)


@pytest.mark.parametrize("flag", [["--json"], []])
def test_the_command_prints_what_it_compared_and_fails_only_on_differences(flag, capsys):
    import argparse

    from mirza.bench.exactness import add_arguments, run

    parser = argparse.ArgumentParser()
    add_arguments(parser)
    assert run(parser.parse_args(["--model", TINY, "--conversations", "1", *flag])) == 0
    out = capsys.readouterr().out
    if flag:
        assert json.loads(out)["conversations"] == 1
    else:
        assert "0 differences" in out


def test_nothing_compared_is_no_success():
    with pytest.raises(ModelUnsupported, match="Nothing was compared"):
        run_scenes(TINY, 0, seed=1)
