"""Time for prompts of growing length: what fits is measured, what does not is said."""

from __future__ import annotations

from mirza.bench.allowance import Allowance


def measured(allowance: Allowance, prompts: dict[int, float]) -> dict[int, int]:
    """How many runs each prompt had; `prompts` are the seconds that a run takes, by tokens."""
    runs = dict.fromkeys(prompts, 0)
    for tokens, seconds in prompts.items():
        for _ in allowance.runs_of(tokens):
            runs[tokens] += 1
            allowance.took(tokens, seconds)
    return runs


def test_without_a_limit_every_prompt_has_all_its_runs():
    allowance = Allowance(runs=3)
    assert measured(allowance, {128: 1.0, 2048: 80.0}) == {128: 3, 2048: 3}
    assert allowance.notes == []


def test_a_prompt_that_does_not_fit_is_left_out_before_it_is_begun_and_that_is_said():
    allowance = Allowance(runs=5, seconds=60.0)
    assert measured(allowance, {128: 1.0, 512: 5.0, 2048: 80.0}) == {128: 5, 512: 5, 2048: 0}
    (note,) = allowance.notes
    assert note == "nothing with 2,048 tokens: one run takes about 40 s, and 30 of 60 s were left"


def test_a_prompt_that_fits_for_a_while_has_fewer_runs_and_that_is_said():
    allowance = Allowance(runs=5, seconds=20.0)
    assert measured(allowance, {128: 1.0, 512: 5.0}) == {128: 5, 512: 3}
    assert allowance.notes[0].startswith("3 of 5 runs with 512 tokens")
