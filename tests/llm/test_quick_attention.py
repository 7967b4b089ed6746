"""What a CPU computes the quick way is what MLX computes, but for rounding."""

from __future__ import annotations

import mlx.core as mx
import pytest
from mlx import nn
from mlx_vlm.models.base import scaled_dot_product_attention
from mlx_vlm.models.cache import KVCache

from mirza.llm.mlx import quick_attention as quick
from mirza.llm.mlx.session import ON_CPU_AT_MOST, Session
from mirza.llm.mlx.target import Target
from tests.llm.test_quick_cpu import a_llama

MLX_ATTENTION = mx.fast.scaled_dot_product_attention


def noise(heads: int, groups: int, length: int, known: int) -> tuple[mx.array, mx.array, mx.array]:
    """Queries of the last `length` of `known` positions, and keys and values of all."""
    mx.random.seed(5)
    return (
        4 * mx.random.normal((1, heads, length, 32)),
        mx.random.normal((1, groups, known, 32)),
        mx.random.normal((1, groups, known, 32)),
    )


@pytest.mark.parametrize("heads", [(4, 4), (6, 2), (4, 1)])
@pytest.mark.parametrize("positions", [(2, 2), (7, 7), (64, 64), (13, 200), (65, 130)])
@pytest.mark.parametrize("block", [1, 3000, quick.BLOCK_SCORES])
def test_attention_in_blocks_is_attention(
    heads: tuple[int, int], positions: tuple[int, int], block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quick, "BLOCK_SCORES", block)
    queries, keys, values = noise(*heads, *positions)
    expected = MLX_ATTENTION(queries, keys, values, scale=0.2, mask="causal")
    got = quick.quick_attention(queries, keys, values, scale=0.2, mask="causal")
    assert got.shape == expected.shape
    assert mx.max(mx.abs(got - expected)).item() < 1e-5


def test_scores_far_apart_neither_overflow_nor_vanish() -> None:
    queries, keys, values = noise(2, 2, 9, 9)
    expected = MLX_ATTENTION(100 * queries, keys, values, scale=1.0, mask="causal")
    got = quick.quick_attention(100 * queries, keys, values, scale=1.0, mask="causal")
    assert mx.allclose(got, expected, atol=1e-3)


def test_masks_sinks_and_types_that_it_does_not_know_are_left_to_mlx() -> None:
    queries, keys, values = noise(4, 2, 5, 12)
    window = mx.random.uniform(shape=(5, 12)) > 0.3
    sinks = mx.random.normal((4,))
    for options in ({"mask": window}, {"mask": None}, {"mask": "causal", "sinks": sinks}):
        expected = MLX_ATTENTION(queries, keys, values, scale=0.2, **options)
        assert mx.array_equal(quick.quick_attention(queries, keys, values, scale=0.2, **options), expected)
    half = [array.astype(mx.float16) for array in (queries, keys, values)]
    expected = MLX_ATTENTION(*half, scale=0.2, mask="causal")
    assert mx.array_equal(quick.quick_attention(*half, scale=0.2, mask="causal"), expected)
    assert mx.array_equal(quick.quick_silu(half[0]), nn.silu(half[0]))


def test_silu_is_silu_however_large_a_number_is() -> None:
    x = mx.array([-1e4, -200.0, -88.5, -3.0, -1e-6, 0.0, 1e-6, 2.5, 90.0, 1e4])
    assert mx.allclose(quick.quick_silu(x), nn.silu(x), rtol=1e-6, atol=1e-30)


def test_models_look_both_up_at_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """If mlx-vlm or MLX stop doing so, prompts are slow again, and this fails."""
    called: list[str] = []

    def seen(name: str, function: object) -> object:
        def call(*args: object, **options: object) -> object:
            called.append(name)
            return function(*args, **options)

        return call

    monkeypatch.setattr(quick, "quick_attention", seen("attention", quick.quick_attention))
    monkeypatch.setattr(quick, "quick_silu", seen("silu", quick.quick_silu))
    target = Target(a_llama())
    called.clear()
    assert target.on_cpu
    target.forward(mx.array([1, 2, 3]), target.new_cache(), 0, keep=1)
    assert called == ["attention", "silu"] * 2
    scaled_dot_product_attention(*noise(2, 2, 3, 3), cache=KVCache(), scale=1.0, mask="causal")
    assert called == ["attention", "silu"] * 2  # outside of a pass nothing is replaced


def test_what_was_replaced_is_put_back_after_an_error() -> None:
    silu = nn.silu
    with pytest.raises(ZeroDivisionError), quick.quick_operations():
        assert nn.silu is not silu
        _ = 1 / 0
    assert nn.silu is silu
    assert mx.fast.scaled_dot_product_attention is MLX_ATTENTION


@pytest.mark.parametrize("step", [16, 100, 16_384])
def test_a_prompt_in_any_chunks_leads_to_the_same_logits(step: int) -> None:
    model, ids = a_llama(), [place * 37 % 2000 for place in range(2 * ON_CPU_AT_MOST + 40)]
    session = Session(Target(model), step)
    feeding = session.feed(ids, keep=1)
    steps = 0
    while True:
        try:
            next(feeding)
            steps += 1
        except StopIteration as end:
            logits = end.value.logits
            break
    assert steps == (len(ids) - 1) // min(step, ON_CPU_AT_MOST)
    expected = model(mx.array(ids)[None])[0, -1:]
    assert mx.max(mx.abs(logits - expected)).item() < 1e-4 * mx.max(mx.abs(expected)).item()
