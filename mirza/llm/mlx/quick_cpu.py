"""The same model, quicker on a CPU: weights laid out as the processor reads them best, and rotations worked out once.

A token is decoded by reading every weight once, so what counts is how quickly they can be read. Two things of MLX's CPU
build (0.32.4) are in the way, and neither needs a change of the model's code:

- MKL's product of one row with a matrix that is kept by output, as checkpoints keep it, reads 7 GB/s where memory
  gives 10 to 14; kept by input, 12 to 14, if there are more outputs than inputs (else the other way round).
- `mx.fast.rope` has no kernel there: it is 15 small operations, with sines and cosines anew in each layer, 0.3 ms each.

SmolLM2-135M on two cores of an AMD EPYC: 112 ms a token before, 68 after (medians of seven, alternating).
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import cast

import mlx.core as mx
from mlx import nn
from mlx.utils import tree_unflatten

LARGE_BYTES = 1_000_000
"""Smaller weights stay in the processor's cache, however they lie."""


def on_cpu() -> bool:
    """Whether MLX computes on the processor that recognition and voice need, too.

    Float32 is what BLAS is quick at there; half types go through slow kernels.
    """
    return mx.default_device().type == mx.DeviceType.cpu


def make_quick(model: nn.Module, blas: str | None) -> None:
    """Prepares a float32 model for decoding on this CPU with this BLAS (as `mirza.blas` names it).

    Parameters keep their shapes, values and bytes; logits change by rounding.
    """
    if blas == "mkl":
        _lay_out_by_input(model)
    _rotate_from_tables(model)


def _lay_out_by_input(model: nn.Module) -> None:
    for _, module in cast("list[tuple[str, nn.Module]]", model.named_modules()):
        # Exactly these: a quantised or otherwise special layer knows best how its weights lie.
        if type(module) is nn.Linear or (type(module) is nn.Embedding and _is_head(model)):
            weight = cast(mx.array, module["weight"])
            outputs, inputs = weight.shape
            if weight.dtype == mx.float32 and weight.nbytes >= LARGE_BYTES and outputs > inputs:
                module["weight"] = mx.contiguous(weight.T).T
                mx.eval(module["weight"])  # one after the other: never two copies of all


def _is_head(model: nn.Module) -> bool:
    """Whether the embedding is multiplied with, too, and not only looked up."""
    return bool(getattr(getattr(model, "args", None), "tie_word_embeddings", False))


def _rotate_from_tables(model: nn.Module) -> None:
    tables: dict[tuple[int, float, float], _Table] = {}
    quick: list[tuple[str, nn.Module]] = []
    for name, module in cast("list[tuple[str, nn.Module]]", model.named_modules()):
        if type(module) is nn.RoPE and not module.traditional:
            of = (module.dims, module.base, module.scale)
            quick.append((name, TableRoPE(module, tables.setdefault(of, _Table(*of)))))
    model.update_modules(tree_unflatten(quick))


@dataclass(slots=True)
class _Table:
    """Cosines and sines of the positions that were asked for last; all layers of a pass ask for the same."""

    dims: int
    base: float
    scale: float
    _positions: tuple[int, int] = (-1, 0)
    _cosines: mx.array = field(default_factory=lambda: mx.array(0.0))
    _sines: mx.array = field(default_factory=lambda: mx.array(0.0))

    def at(self, offset: int, length: int) -> tuple[mx.array, mx.array]:
        """Both `(length, 2, dims / 2)`, for the halves of a vector; the sines' sign is that of a rotation."""
        if self._positions != (offset, length):
            half = self.dims // 2
            # In the order of `mx.fast.rope` (mlx/fast.cpp), so that it rounds the same.
            frequencies = mx.exp(mx.arange(0, -half, -1, dtype=mx.float32) * (math.log(self.base) / half))
            positions = mx.arange(offset, offset + length, dtype=mx.float32) * self.scale
            angles = positions[:, None] * frequencies
            cosines, sines = mx.cos(angles), mx.sin(angles)
            self._cosines, self._sines = mx.stack([cosines, cosines], axis=1), mx.stack([-sines, sines], axis=1)
            self._positions = (offset, length)
        return self._cosines, self._sines


class TableRoPE(nn.Module):
    """What `nn.RoPE` computes, from a table that layers share."""

    def __init__(self, rope: nn.RoPE, table: _Table) -> None:
        super().__init__()
        self._rope, self._table = rope, table

    def __call__(self, x: mx.array, offset: int | mx.array = 0) -> mx.array:
        """Rotates `(..., length, dims)`, whose first position is `offset`."""
        if isinstance(offset, mx.array) or x.shape[-1] != self._table.dims or x.dtype != mx.float32:
            return self._rope(x, cast(int, offset))
        cosines, sines = self._table.at(offset, x.shape[-2])
        halves = x.reshape(*x.shape[:-1], 2, -1)
        return (halves * cosines + halves[..., ::-1, :] * sines).reshape(x.shape)
