"""Drafting goes on in an answer for as long as it pays there."""

from __future__ import annotations

import pytest

from mirza.llm.mlx.speculation import ROUNDS_TO_JUDGE, DraftPolicy


def after(policy: DraftPolicy, *rounds: tuple[int, int]) -> DraftPolicy:
    for drafted, accepted in rounds:
        policy.record(drafted, accepted)
    return policy


def test_it_is_not_judged_by_its_first_rounds():
    assert after(DraftPolicy(3, round_cost=2.0), *[(3, 0)] * (ROUNDS_TO_JUDGE - 1)).pays
    assert not after(DraftPolicy(3, round_cost=2.0), *[(3, 0)] * ROUNDS_TO_JUDGE).pays


@pytest.mark.parametrize(("accepted", "pays"), [(0, False), (1, True), (3, True)])
def test_a_round_pays_when_it_gives_the_tokens_of_its_time(accepted: int, pays: bool):
    assert after(DraftPolicy(3, round_cost=2.0), *[(3, accepted)] * ROUNDS_TO_JUDGE).pays is pays


def test_where_its_cost_was_not_measured_drafts_are_always_made():
    assert after(DraftPolicy(3), *[(3, 0)] * 100).pays


def test_it_counts_what_was_drafted_and_what_was_right():
    policy = after(DraftPolicy(3), (3, 1), (2, 2))
    assert (policy.rounds, policy.drafted, policy.accepted) == (2, 5, 3)
