"""Attention and SiLU on a CPU: in blocks that stay in the processor's cache, with an exponential that costs a third.

MLX's CPU build (0.32.4) makes long prompts slow by more than their length:

- `mx.exp`, and with it softmax and SiLU, takes 26 ns an element there; `mx.power(2, x)` takes 8, and is as precise.
- Each query is compared with every key, also with those that the causal mask takes out again. And memory of more than
  32 MB is fetched from the system and given back for each operation: 9 heads of 2,048 tokens are 151 MB.

Both functions are public and looked up by name at each call; `quick_operations` puts others in their place while a
pass is written down, and only then. A test runs a model through them, and fails when that changes.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

import math
from collections.abc import Generator
from contextlib import contextmanager

import mlx.core as mx
from mlx import nn

BLOCK_SCORES = 2**19
"""Scores that are worked on at once, 2 MB: less is more operations, more leaves the processor's cache. 2,048 tokens in
a layer of SmolLM2-135M (9 heads of 64): 1.24 s in MLX's own attention; 0.36, 0.29, 0.33 and 0.39 s in blocks of 2**18
to 2**21."""
LOG2_E = math.log2(math.e)

_attention, _silu = mx.fast.scaled_dot_product_attention, nn.silu


@contextmanager
def quick_operations() -> Generator[None]:
    """What a model writes down in here is computed the quick way. Results differ by rounding."""
    mx.fast.scaled_dot_product_attention, nn.silu = quick_attention, quick_silu
    try:
        yield
    finally:
        mx.fast.scaled_dot_product_attention, nn.silu = _attention, _silu


def quick_silu(x: mx.array) -> mx.array:
    """`x * sigmoid(x)`."""
    return x / (1 + mx.power(2.0, x * -LOG2_E)) if x.dtype == mx.float32 else _silu(x)


def quick_attention(
    queries: mx.array,
    keys: mx.array,
    values: mx.array,
    *,
    scale: float,
    mask: mx.array | str | None = None,
    sinks: mx.array | None = None,
) -> mx.array:
    """`scaled_dot_product_attention` of queries `(batch, heads, n, size)`, the others `(batch, groups, m, size)`."""
    causal = isinstance(mask, str) and mask == "causal" and sinks is None and queries.shape[-2] <= keys.shape[-2]
    if not causal or queries.shape[-2] == 1 or any(x.dtype != mx.float32 for x in (queries, keys, values)):
        # Windows and the like; and single tokens, for which one operation is quicker than these ten.
        return _attention(queries, keys, values, scale=scale, mask=mask, sinks=sinks)
    return _in_blocks(queries * (scale * LOG2_E), keys, values)  # 2 ** (x log2 e) is e ** x


def _in_blocks(queries: mx.array, keys: mx.array, values: mx.array) -> mx.array:
    batch, heads, length, size = queries.shape
    groups, known = keys.shape[1], keys.shape[2]
    rows = max(BLOCK_SCORES // (heads * known), 1)
    queries = queries.reshape(batch, groups, -1, length, size)
    out: list[mx.array] = []
    for start in range(0, length, rows):
        some = queries[..., start : start + rows, :]
        first = known - length + start
        seen = first + some.shape[-2]  # nobody in this block sees a key behind its last position
        scores = some.reshape(batch, groups, -1, size) @ keys[..., :seen, :].swapaxes(-1, -2)
        later = mx.arange(seen) > mx.arange(first, seen)[:, None]
        masked = scores.reshape(*some.shape[:-1], seen) + mx.where(later, -math.inf, 0.0)
        weights = mx.power(2.0, masked - mx.max(masked, axis=-1, keepdims=True)).reshape(scores.shape)
        summed = (weights @ values[..., :seen, :]) / mx.sum(weights, axis=-1, keepdims=True)
        out.append(summed.reshape(*some.shape[:-1], -1))
    return mx.concatenate(out, axis=-2).reshape(batch, heads, length, -1)
