"""Rounding and faults are told apart: passes of several tokens on the real engine, taken back as drafts are."""

from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import mlx.core as mx
import pytest
from mlx_vlm.speculative.cache_state import start_speculative_cache

from mirza.bench.rounding import KnownDraft, rounding
from mirza.bench.shapes import write_random
from mirza.llm.mlx.loading import load_model
from mirza.llm.mlx.target import Target
from tests.bench.test_shapes import SMALL, TINY

PROMPT, ANSWER = list(range(100, 130)), list(range(400, 420))


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return write_random(tmp_path_factory.mktemp("random") / "model", SMALL, like=TINY)


def test_in_float32_a_pass_of_several_tokens_differs_by_rounding_alone(folder):
    found = rounding(Target(load_model(folder, float32=True).model), PROMPT, ANSWER, 4, None)
    assert found.dtype == "float32"
    assert found.difference < 1e-4
    assert found.states_difference < 1e-4
    assert found.flips == ()
    assert found.smallest_gap > 0


def test_half_types_are_as_far_from_float32_with_several_tokens_as_with_one(folder):
    exact = Target(load_model(folder, float32=True).model)
    found = rounding(Target(load_model(folder).model), PROMPT, ANSWER, 3, exact)
    assert found.dtype == "bfloat16"
    alone, several = found.against_float32
    assert 1e-4 < alone < 0.5
    assert several == pytest.approx(alone, rel=0.5)


def test_a_draft_that_is_not_taken_back_shows_as_more_than_rounding(folder, monkeypatch):
    @contextmanager
    def keeps_everything(cache, length):
        with start_speculative_cache(cache, length) as transaction:
            yield SimpleNamespace(commit=lambda _: transaction.commit(length))

    monkeypatch.setattr("mirza.bench.rounding.start_speculative_cache", keeps_everything)
    found = rounding(Target(load_model(folder, float32=True).model), PROMPT, ANSWER, 4, None)
    assert found.difference_at_first < 1e-4
    assert found.difference > 0.1
    assert found.flips


def test_known_drafts_are_right_for_one_token_more_in_each_round():
    known = KnownDraft([10, 11, 12, 13, 14, 15, 16, 17], prompt=5, vocabulary=100)
    hidden = mx.zeros((1, 5, 4))
    known.begin()
    known.observe([1, 2, 3, 4, 10], hidden, 0)
    assert known.propose(2) == [12, 13]
    known.observe([11], hidden[:, :1], 5)
    assert known.propose(2) == [12, 14]
    known.observe([12, 13], hidden[:, :2], 6)
    assert known.propose(2) == [14, 15]
