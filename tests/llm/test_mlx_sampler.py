"""Which token comes next: budgets, penalties and draws, decided the same way one by one and several at a time."""

import math

import mlx.core as mx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mirza.llm.mlx.sampler import Sampling, TurnSampler
from mirza.llm.mlx.template import ThoughtTokens

VOCABULARY = 16
START, END, TOOL, NEWLINE, GAP = 10, 11, 12, 13, 14
THOUGHT = ThoughtTokens(START, END, (NEWLINE, END), (GAP,))
CLOSING = [NEWLINE, END, GAP]


def wants(*tokens):
    """Logits of a model that wants these tokens, one a position."""
    rows = mx.zeros((len(tokens), VOCABULARY))
    for place, token in enumerate(tokens):
        rows[place, token] = 5.0
    return rows


def sampler(sampling=Sampling(), **turn):  # noqa: B008
    return TurnSampler(sampling, VOCABULARY, thought=THOUGHT, tool_call=TOOL, **turn)


def one_by_one(of, rows):
    return [int(of.sample_target(rows[place : place + 1], [place]).item()) for place in range(rows.shape[0])]


def in_blocks(of, rows, sizes):
    """As verification asks: several positions at a time, each block beginning where the last one agreed."""
    tokens, place = [], 0
    for size in sizes:
        block = rows[place : place + size]
        if block.shape[0] == 0:
            break
        picked = of.sample_target(block, range(place, place + block.shape[0])).tolist()
        kept = max(1, len(picked) // 2)  # the rest was rejected, and comes again
        tokens += picked[:kept]
        place += kept
    return tokens


@pytest.mark.parametrize("budget", [0, 1, 2, 5])
def test_an_open_thought_closes_after_exactly_the_budget(budget):
    rows = wants(*[3] * 12)
    assert one_by_one(sampler(thinking=True, budget=budget), rows) == [3] * budget + CLOSING + [3] * (9 - budget)


def test_a_thought_that_the_model_opens_has_the_same_budget():
    rows = wants(START, *[3] * 8)
    assert one_by_one(sampler(budget=2), rows) == [START, 3, 3, *CLOSING, 3, 3, 3]
    assert one_by_one(sampler(budget=0), rows)[:4] == [START, *CLOSING]


def test_a_thought_that_closes_itself_is_left_alone():
    rows = wants(3, 3, END, 4, 4, 4, 4)
    assert one_by_one(sampler(thinking=True, budget=5), rows) == [3, 3, END, 4, 4, 4, 4]
    assert one_by_one(sampler(thinking=True, budget=2), rows) == [3, 3, END, 4, 4, 4, 4]


def test_a_tool_call_inside_a_thought_ends_it():
    rows = wants(3, TOOL, *[4] * 6)
    assert one_by_one(sampler(thinking=True, budget=3), rows) == [3, TOOL, *[4] * 6]


def test_a_second_thought_has_what_the_first_left():
    rows = wants(3, 3, END, 4, START, 3, 3, 3, 3)
    assert one_by_one(sampler(thinking=True, budget=3), rows) == [3, 3, END, 4, START, 3, *CLOSING]


def test_a_budget_that_is_lowered_holds_from_the_next_token_and_a_raised_one_goes_on():
    rows = wants(*[3] * 12)
    lowered = sampler(thinking=True, budget=9)
    first = [int(lowered.sample_target(rows[:1], [place]).item()) for place in range(3)]
    lowered.budget = 1
    assert first + [int(lowered.sample_target(rows[:1], [place]).item()) for place in range(3, 6)] == [
        3,
        3,
        3,
        *CLOSING,
    ]
    raised = sampler(thinking=True, budget=2)
    raised.sample_target(rows[:1], [0])
    raised.budget = 4
    rest = [int(raised.sample_target(rows[:1], [place]).item()) for place in range(1, 7)]
    assert rest == [3, 3, 3, *CLOSING]


SAMPLINGS = [
    Sampling(),
    Sampling(repetition_penalty=1.7),
    Sampling(presence_penalty=1.5, frequency_penalty=0.4),
    Sampling(temperature=0.9, seed=3),
    Sampling(temperature=1.3, top_p=0.8, top_k=5, min_p=0.05, seed=4),
    Sampling(temperature=1.0, min_p=0.2, seed=5),
    Sampling(temperature=0.8, top_p=0.7, presence_penalty=0.6, logit_bias={2: 3.0}, seed=6),
]


@settings(max_examples=25, deadline=None)
@given(
    sampling=st.sampled_from(SAMPLINGS),
    seed=st.integers(0, 2**16),
    budget=st.integers(0, 8),
    thinking=st.booleans(),
    sizes=st.lists(st.integers(1, 5), min_size=12, max_size=12),
)
def test_several_positions_at_a_time_give_the_tokens_of_one_at_a_time(sampling, seed, budget, thinking, sizes):
    rows = mx.random.normal((12, VOCABULARY), key=mx.random.key(seed)) * 2
    turn = {"thinking": thinking, "budget": budget}
    blocks = in_blocks(sampler(sampling, **turn), rows, sizes)
    assert blocks == one_by_one(sampler(sampling, **turn), rows)[: len(blocks)]


def test_a_presence_penalty_reaches_every_position():
    rows = mx.concatenate([wants(7)] * 6)
    said = one_by_one(sampler(Sampling(presence_penalty=2.0)), rows * 0.2)
    assert said[0] == 7 and len(set(said)) == 6


def test_a_frequency_penalty_grows_with_each_time():
    rows = mx.concatenate([wants(7)] * 8)  # 5.0 above the others
    assert one_by_one(sampler(Sampling(frequency_penalty=2.0)), rows)[:4].count(7) == 3


def test_a_repetition_penalty_divides_what_is_likely_and_multiplies_what_is_not():
    row = mx.full((1, VOCABULARY), -4.0)
    row[0, 7], row[0, 8] = -2.0, -3.0
    again = sampler(Sampling(repetition_penalty=1.6))
    assert [int(again.sample_target(row, [place]).item()) for place in range(2)] == [7, 8]


def test_a_bias_bans_and_forces_tokens_at_every_position():
    rows = mx.concatenate([wants(7)] * 3)
    assert 7 not in one_by_one(sampler(Sampling(logit_bias={7: -math.inf})), rows)
    assert one_by_one(sampler(Sampling(logit_bias={2: 100.0})), rows) == [2, 2, 2]


def test_a_seed_gives_the_same_draws_and_none_gives_others():
    rows = mx.zeros((20, VOCABULARY))
    hot = Sampling(temperature=1.0, seed=1)
    assert one_by_one(sampler(hot), rows) == one_by_one(sampler(hot), rows)
    assert one_by_one(sampler(Sampling(temperature=1.0)), rows) != one_by_one(sampler(Sampling(temperature=1.0)), rows)


def share(sampling, row, count=300):
    draws = sampler(sampling)
    tokens = [int(draws.sample_target(row, [place]).item()) for place in range(count)]
    return {token: tokens.count(token) / count for token in set(tokens)}


def test_draws_follow_the_probabilities():
    row = mx.log(mx.array([[0.5, 0.3, 0.2] + [1e-9] * (VOCABULARY - 3)]))
    for sampling in (Sampling(temperature=1.0, seed=2), Sampling(temperature=1.0, top_k=8, seed=2)):
        got = share(sampling, row)
        assert got.keys() == {0, 1, 2}
        assert abs(got[0] - 0.5) < 0.1 and abs(got[2] - 0.2) < 0.1


@pytest.mark.parametrize(
    ("sampling", "possible"),
    [
        (Sampling(temperature=1.0, top_k=2, seed=1), {0, 1}),
        (Sampling(temperature=1.0, top_p=0.75, seed=1), {0, 1}),
        (Sampling(temperature=1.0, top_p=0.4, seed=1), {0}),
        (Sampling(temperature=1.0, min_p=0.5, seed=1), {0, 1}),
        (Sampling(temperature=1.0, top_k=8, min_p=0.5, seed=1), {0, 1}),
        (Sampling(temperature=0.0, top_p=0.1, seed=1), {0}),
    ],
)
def test_unlikely_tokens_are_cut(sampling, possible):
    row = mx.log(mx.array([[0.5, 0.3, 0.15] + [0.05 / 13] * 13]))
    assert share(sampling, row, 120).keys() == possible
