"""A model that was made quick on this CPU is the same model."""

from __future__ import annotations

import mlx.core as mx
import pytest
from mlx import nn
from mlx_lm.models import llama

from mirza.llm.mlx.quick_cpu import TableRoPE, make_quick
from mirza.llm.mlx.target import Target


def a_llama(*, tied: bool = True) -> llama.Model:
    """A small one with random weights, some of them large enough to be laid out anew."""
    mx.random.seed(7)
    arguments = llama.ModelArgs(
        model_type="llama",
        hidden_size=256,
        num_hidden_layers=2,
        intermediate_size=1024,
        num_attention_heads=4,
        num_key_value_heads=2,
        rms_norm_eps=1e-5,
        vocab_size=2000,
        tie_word_embeddings=tied,
    )
    return llama.Model(arguments)


def logits_of(model: object, ids: list[int]) -> mx.array:
    """Logits of the last token, the first ones fed at once and the others one by one."""
    target = Target(model)
    cache = target.new_cache()
    target.forward(mx.array(ids[:5]), cache, 0, keep=1)
    last = [target.forward(mx.array([token]), cache, 5 + at, keep=1).logits for at, token in enumerate(ids[5:])][-1]
    assert last is not None
    return last


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("blas", ["mkl", "openblas", None])
def test_it_says_the_same_but_for_rounding(tied: bool, blas: str | None) -> None:
    model, ids = a_llama(tied=tied), [3, 1999, 0, 77, 512, 9, 1000, 42]
    before = logits_of(model, ids)
    make_quick(model, blas)
    after = logits_of(model, ids)
    assert mx.max(mx.abs(after - before)).item() < 1e-4 * mx.max(mx.abs(before)).item()


def test_a_weight_that_is_multiplied_with_keeps_its_shape_and_bytes_and_lies_the_other_way() -> None:
    model = a_llama()
    before = model.model.embed_tokens.weight
    make_quick(model, "mkl")
    after = model.model.embed_tokens.weight
    assert after.shape == before.shape
    assert after.nbytes == before.nbytes
    assert mx.array_equal(after, before)
    assert (memoryview(before).strides, memoryview(after).strides) == ((1024, 4), (4, 8000))


def test_an_embedding_that_is_only_looked_up_stays_as_it_is() -> None:
    model = a_llama(tied=False)
    make_quick(model, "mkl")
    assert memoryview(model.model.embed_tokens.weight).strides == (1024, 4)
    assert memoryview(model.lm_head.weight).strides == (4, 8000)


@pytest.mark.parametrize("scale", [1.0, 0.25])
@pytest.mark.parametrize(("offset", "length"), [(0, 1), (0, 7), (4095, 1), (100, 33)])
def test_a_rotation_from_a_table_is_the_rotation(scale: float, offset: int, length: int) -> None:
    model = nn.Sequential(nn.RoPE(64, base=100_000.0, scale=scale), nn.RoPE(64, base=100_000.0, scale=scale))
    one, other = model.layers
    x = mx.random.normal((1, 3, length, 64))
    expected = one(x, offset=offset)
    make_quick(model, None)
    for rope in model.layers:
        assert isinstance(rope, TableRoPE)
        assert mx.allclose(rope(x, offset=offset), expected, atol=1e-5)
    assert mx.allclose(model.layers[0](x, offset=mx.array(offset)), other(x, offset=offset), atol=1e-5)


def test_rotations_that_it_does_not_know_are_left_alone() -> None:
    model = nn.Sequential(nn.RoPE(64, traditional=True), nn.RoPE(32))
    x = mx.random.normal((1, 3, 5, 64))  # the second turns half of it only
    expected = [rope(x, offset=3) for rope in model.layers]
    make_quick(model, None)
    assert isinstance(model.layers[0], nn.RoPE)
    assert all(mx.array_equal(rope(x, offset=3), known) for rope, known in zip(model.layers, expected, strict=True))


class Softer(llama.Model):
    """Has a head that is more than a product, as some models do."""

    def __call__(self, inputs: mx.array, cache: object = None, input_embeddings: object = None) -> mx.array:
        return mx.tanh(super().__call__(inputs, cache, input_embeddings) / 3) * 3


@pytest.mark.parametrize("kind", [llama.Model, Softer])
def test_the_last_tokens_logits_are_the_models_own_whatever_its_head_is(kind: type[llama.Model]) -> None:
    model = kind(a_llama().args)
    ids = mx.array([3, 1999, 0, 77, 512])
    target = Target(model)
    kept = target.forward(ids, target.new_cache(), 0, keep=2).logits
    assert kept is not None
    assert mx.allclose(kept, model(ids[None])[0, -2:], atol=1e-5)
