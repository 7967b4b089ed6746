"""The CUDA kernel's place in mlx-vlm, and that it is refused where it is wrong.

Its numbers need a GPU: it checks itself there at load, against the operations of mlx-vlm.
"""

import inspect

import mlx.core as mx
import pytest
from mlx_vlm.models.qwen3_5 import gated_delta as upstream
from mlx_vlm.speculative.cache_state import start_speculative_cache

from mirza.llm.mlx import gated_delta_cuda
from mirza.llm.mlx.gated_delta_cuda import REPLACED, without_kernel
from mirza.llm.mlx.loading import load_model
from mirza.llm.mlx.target import Target
from tests.llm.mlx_scenes import TINY

OURS = {
    "gated_delta_ops": gated_delta_cuda._steps,
    "gated_delta_chunked": gated_delta_cuda._steps,
    "gated_delta_update_with_states": gated_delta_cuda._steps_with_states,
}


@pytest.fixture
def calls(monkeypatch):
    """Which of the functions a model goes through; each does what the kernel's stand-in does where it does not fit."""
    made: list[str] = []
    for name in REPLACED:

        def call(*args, name=name, **options):
            made.append(name)
            return OURS[name](*args, **options)

        monkeypatch.setattr(upstream, name, call)
    monkeypatch.setattr(gated_delta_cuda, "_fits", lambda *_: False)
    return made


def test_a_model_looks_the_functions_up_at_each_call(calls):
    target = Target(load_model(TINY, float32=True).model)
    target._sequential = 0
    cache = target.new_cache()
    calls.clear()
    for ids, name in (([1], "gated_delta_ops"), ([2, 3, 4], "gated_delta_chunked")):
        mx.eval(target.forward(mx.array(ids), cache, 0, keep=1).logits)
        assert set(calls) == {name}
        calls.clear()
    with start_speculative_cache(cache, 3) as transaction:
        mx.eval(target.forward(mx.array([5, 6, 7]), cache, 4, keep=1).logits)
        transaction.commit(2)
    assert set(calls) == {"gated_delta_update_with_states"}


@pytest.mark.parametrize("name", REPLACED)
def test_what_stands_in_for_a_function_takes_its_parameters(name):
    theirs, ours = inspect.signature(getattr(upstream, name)), inspect.signature(OURS[name])
    required = {key for key, parameter in theirs.parameters.items() if parameter.default is parameter.empty}
    shared = list(ours.parameters)
    assert required <= set(shared)
    assert [key for key in theirs.parameters if key in shared] == shared


def test_without_cuda_nothing_is_replaced():
    before = [getattr(upstream, name) for name in REPLACED]
    assert not gated_delta_cuda.use()
    assert [getattr(upstream, name) for name in REPLACED] == before


def by_operations(inputs, kept):
    """What the kernel gives, by mlx-vlm's operations."""
    whole = upstream.gated_delta_ops(*inputs)
    if not kept:
        return list(whole)
    *per_token, state = inputs
    states = [upstream.gated_delta_ops(*[x[:, :end] for x in per_token], state)[1] for end in range(1, kept + 1)]
    return [*whole, mx.stack(states, axis=1)]


def test_a_kernel_that_says_the_same_is_used(monkeypatch):
    monkeypatch.setattr(gated_delta_cuda, "_run", by_operations)
    assert gated_delta_cuda._agrees()


@pytest.mark.parametrize("broken", [0, 1, 2], ids=["output", "state", "kept states"])
def test_one_that_is_off_is_not(monkeypatch, broken):
    def off(inputs, kept):
        arrays = by_operations(inputs, kept)
        return [array * 1.001 if place == broken else array for place, array in enumerate(arrays)]

    monkeypatch.setattr(gated_delta_cuda, "_run", off)
    assert not gated_delta_cuda._agrees()


def test_one_that_cannot_be_compiled_is_not(monkeypatch):
    def fails(inputs, kept):
        raise RuntimeError("no compiler")

    monkeypatch.setattr(gated_delta_cuda, "_run", fails)
    assert not gated_delta_cuda._agrees()


def test_something_else_can_be_measured_without_it(monkeypatch):
    monkeypatch.setattr(upstream, "gated_delta_ops", gated_delta_cuda._steps)
    with without_kernel():
        assert upstream.gated_delta_ops is not gated_delta_cuda._steps
    assert upstream.gated_delta_ops is gated_delta_cuda._steps
