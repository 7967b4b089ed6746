"""The gated delta of Qwen 3.5 in one CUDA kernel, where mlx-vlm has one for Metal only.

mlx-vlm 0.7.10 falls back to small operations on CUDA: token by token, or in chunks padded to 64, of thousands. The
kernel takes the tokens one after the other, with one warp for each row of the state, and gives what the operations
give in float32 (docs/performance-gpu.md).

`use` puts it in the place of three public functions of `mlx_vlm.models.qwen3_5.gated_delta`, which are looked up by
name at each call; a test runs a model through them, and fails when that changes.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false
from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, cast

import mlx.core as mx
from loguru import logger
from mlx_vlm.models.qwen3_5 import gated_delta as upstream

from mirza.llm.mlx.quick_cpu import on_cpu

REPLACED = ("gated_delta_ops", "gated_delta_chunked", "gated_delta_update_with_states")
"""What a pass without Metal goes through: one token, several, and several whose states are kept."""
WARP = 32
ROWS = 4
"""Of the state, in one block of threads."""
ERROR_AT_MOST = 1e-5
"""Of what the operations give, relative, in float32; more, and the kernel is not used."""

State = tuple[mx.array, mx.array]

SOURCE = """
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int lane = threadIdx.x;
    int batch = blockIdx.z / Hv, head = blockIdx.z % Hv;
    constexpr int Mine = Dk / 32;  // columns of the row that this lane keeps
    int length = k_shape[1], kept = KEPT;

    size_t key = (size_t)batch * length * Hk * Dk + head / (Hv / Hk) * Dk + Mine * lane;
    size_t value = ((size_t)batch * length * Hv + head) * Dv + row;
    size_t gate = (size_t)batch * length * Hv + head;
    size_t cell = ((size_t)blockIdx.z * Dv + row) * Dk + Mine * lane;
    size_t copy = (((size_t)batch * kept * Hv + head) * Dv + row) * Dk + Mine * lane;

    float s[Mine], x[Mine];
    for (int i = 0; i < Mine; ++i) s[i] = state[cell + i];
    for (int t = 0; t < length; ++t) {
        float decay = g[gate], held = 0.0f, out = 0.0f;
        for (int i = 0; i < Mine; ++i) {
            x[i] = static_cast<float>(k[key + i]);
            s[i] *= decay;
            held += s[i] * x[i];
        }
        for (int step = 16; step; step >>= 1) held += __shfl_xor_sync(0xffffffffu, held, step);
        float delta = (static_cast<float>(v[value]) - held) * static_cast<float>(beta[gate]);
        for (int i = 0; i < Mine; ++i) {
            s[i] += x[i] * delta;
            out += s[i] * static_cast<float>(q[key + i]);
        }
        for (int step = 16; step; step >>= 1) out += __shfl_xor_sync(0xffffffffu, out, step);
        if (lane == 0) y[value] = static_cast<Number>(out);
        if (t < kept) {
            for (int i = 0; i < Mine; ++i) KEEP(states[copy + i] = s[i]);
            copy += (size_t)Hv * Dv * Dk;
        }
        key += Hk * Dk; value += Hv * Dv; gate += Hv;
    }
    for (int i = 0; i < Mine; ++i) last[cell + i] = s[i];
"""

KEEPING = "#define KEPT keeps[0]\n#define KEEP(copy) copy\n"
KEEPING_NONE = "#define KEPT 0\n#define KEEP(copy)\n"

_originals: dict[str, Callable[..., Any]] = {name: getattr(upstream, name) for name in REPLACED}


def use() -> bool:
    """Lets every model of mlx-vlm's Qwen 3.5 use the kernel from now on, where there is CUDA; whether it does."""
    if on_cpu() or mx.metal.is_available() or not _agrees():
        return False
    _put(dict(zip(REPLACED, (_steps, _steps, _steps_with_states), strict=True)))
    return True


@contextmanager
def without_kernel() -> Generator[None]:
    """mlx-vlm as it is, for as long as something else is measured."""
    current = {name: getattr(upstream, name) for name in REPLACED}
    _put(_originals)
    try:
        yield
    finally:
        _put(current)


def _put(functions: Mapping[str, Callable[..., Any]]) -> None:
    for name, function in functions.items():
        setattr(upstream, name, function)


def _steps(  # noqa: PLR0917 (mlx-vlm's parameters)
    q: mx.array,
    k: mx.array,
    v: mx.array,
    g: mx.array,
    beta: mx.array,
    state: mx.array,
    mask: mx.array | None = None,
) -> State:
    if mask is not None or not _fits(q, k, v, g, state):
        name = "gated_delta_chunked" if q.shape[1] > 1 and g.ndim == 3 else "gated_delta_ops"
        return cast(State, _originals[name](q, k, v, g, beta, state, mask))
    y, last = _run([q, k, v, g, beta, state], kept=0)
    return y, last


def _steps_with_states(  # noqa: PLR0917 (mlx-vlm's parameters)
    q: mx.array,
    k: mx.array,
    v: mx.array,
    a: mx.array,
    b: mx.array,
    A_log: mx.array,  # noqa: N803 (called by name)
    dt_bias: mx.array,
    state: mx.array | None = None,
    mask: mx.array | None = None,
    use_kernel: bool = True,
    state_steps: int | None = None,
) -> tuple[mx.array, mx.array, mx.array]:
    batch, length, _, key_size = k.shape
    if state is None:
        state = mx.zeros((batch, *v.shape[2:], key_size), dtype=mx.float32)
    kept = length if state_steps is None else state_steps
    g = upstream.compute_g(A_log, a, dt_bias)
    if not use_kernel or not 0 < kept <= length or mask is not None or not _fits(q, k, v, g, state):
        original = _originals["gated_delta_update_with_states"]
        return cast(
            "tuple[mx.array, mx.array, mx.array]",
            original(q, k, v, a, b, A_log, dt_bias, state, mask, use_kernel=use_kernel, state_steps=state_steps),
        )
    y, last, states = _run([q, k, v, g, mx.sigmoid(b), state], kept=kept)
    return y, last, states


def _fits(q: mx.array, k: mx.array, v: mx.array, g: mx.array, state: mx.array) -> bool:
    """Whether these are shapes and types that the kernel was written for."""
    sizes = k.shape[-1] % WARP == 0 and v.shape[-1] % ROWS == 0 and g.ndim == 3
    return sizes and q.dtype == k.dtype == v.dtype and g.dtype == state.dtype == mx.float32


def _run(inputs: list[mx.array], kept: int) -> list[mx.array]:
    q, k, v, _, beta, state = inputs
    batch, length, key_heads, key_size = k.shape
    heads, size = v.shape[2:]
    keeps = bool(kept)
    shapes = [(batch, length, heads, size), state.shape] + [(batch, kept, *state.shape[1:])] * keeps
    kernel = _kernel(keeps)
    return kernel(
        inputs=[*inputs, _number(kept)] if keeps else inputs,
        template=[
            ("Number", q.dtype),
            ("Gate", beta.dtype),  # not named in the source: MLX keeps compiled kernels by name and these only
            ("Hk", key_heads),
            ("Hv", heads),
            ("Dk", key_size),
            ("Dv", size),
        ],
        grid=(WARP, size, batch * heads),
        threadgroup=(WARP, ROWS, 1),
        output_shapes=shapes,
        output_dtypes=[q.dtype, mx.float32, mx.float32][: len(shapes)],
    )


@lru_cache(2)
def _kernel(keeps: bool) -> Callable[..., list[mx.array]]:
    return cast(
        "Callable[..., list[mx.array]]",
        mx.fast.cuda_kernel(
            name="mirza_gated_delta_states" if keeps else "mirza_gated_delta",
            input_names=["q", "k", "v", "g", "beta", "state", *["keeps"] * keeps],
            output_names=["y", "last", *["states"] * keeps],
            source=(KEEPING if keeps else KEEPING_NONE) + SOURCE,
        ),
    )


@lru_cache(64)
def _number(value: int) -> mx.array:
    """A count as the kernel takes it; as a template argument, each one would be compiled anew for seconds."""
    return mx.array([value], dtype=mx.int32)


def _agrees() -> bool:
    """Whether kernel and operations say the same on this device, on ten tokens of noise."""
    length, key_heads, heads, size = 10, 2, 4, 64
    draw = mx.random.split(mx.random.key(3), 6)
    q, k = (mx.random.normal((1, length, key_heads, size), key=key) * 0.1 for key in draw[:2])
    v = mx.random.normal((1, length, heads, size), key=draw[2])
    g, beta = (mx.random.uniform(0.5, 1.0, (1, length, heads), key=key) for key in draw[3:5])
    state = mx.random.normal((1, heads, size, size), key=draw[5])
    inputs = [q, k, v, g, beta, state]
    try:
        expected = _originals["gated_delta_ops"](*inputs)
        plain, keeping = _run(inputs, kept=0), _run(inputs, kept=length)
        errors = [_error(got, want) for run in (plain, keeping) for got, want in zip(run, expected, strict=False)]
        errors.append(_error(keeping[2][:, -1], expected[1]))
    except (RuntimeError, ValueError) as failure:
        logger.warning("The CUDA kernel for recurrent layers cannot be compiled here, which is slower: {}", failure)
        return False
    if max(errors) > ERROR_AT_MOST:
        logger.warning("The CUDA kernel for recurrent layers is off by {:.1e}: it is not used", max(errors))
        return False
    return True


def _error(got: mx.array, expected: mx.array) -> float:
    difference = mx.linalg.norm((got - expected).reshape(-1)) / mx.linalg.norm(expected.reshape(-1))
    return cast(float, difference.item())
