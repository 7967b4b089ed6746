"""What two sequences of tokens share."""

from hypothesis import given
from hypothesis import strategies as st

from mirza.llm.mlx.encoding import common_length

TOKENS = st.lists(st.integers(0, 2), max_size=40)


@given(TOKENS, TOKENS, TOKENS)
def test_the_common_beginning_is_as_long_as_counted_one_by_one(shared: list[int], one: list[int], other: list[int]):
    first, second = [*shared, *one], (*shared, *other)
    counted = 0
    while counted < min(len(first), len(second)) and first[counted] == second[counted]:
        counted += 1
    assert common_length(first, second) == common_length(second, first) == counted


def test_a_difference_is_found_wherever_it_is():
    ids = list(range(1000))
    for place in range(1000):
        assert common_length(ids, [*ids[:place], -1, *ids[place + 1 :]]) == place
    assert common_length(ids, ids) == 1000
    assert common_length(ids, []) == 0
