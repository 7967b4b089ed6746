"""The model as the engine uses it: token ids in, logits and hidden states out, over one cache.

The only file that calls a model of mlx-vlm 0.7.10 or mlx-lm 0.32 and that knows how their caches are built.
"""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Protocol, cast

import mlx.core as mx
from mlx.utils import tree_flatten, tree_unflatten
from mlx_vlm.speculative.cache_state import start_speculative_cache

from mirza.errors import ModelUnsupported
from mirza.llm.mlx import gated_delta_cuda
from mirza.llm.mlx.quick_attention import quick_operations
from mirza.llm.mlx.quick_cpu import on_cpu

SEQUENTIAL_AT_MOST = 48
"""Without a kernel, so many tokens or fewer go through a recurrent layer one after the other, as mlx-vlm does inside a
cache transaction. Else it works in chunks padded to 64, each of thousands of operations: 13 tokens took 64 ms, and take
22 (two cores, the tiny checkpoint), 64 are quicker in a chunk. Metal has a kernel, and CUDA has ours."""


WITH_HEAD_AT_MOST = 24
"""Where a model's head cannot be told from the rest, so many tokens go through it although only the last one's logits
are wanted: another pass over the weights costs more (SmolLM2-135M on two cores: a pass reads 425 MB, the head
multiplies 28 million a token)."""


class Growing(Protocol):
    """A cache of keys and values: it grows with each token, and can be cut off at its end."""

    offset: int

    def is_trimmable(self) -> bool: ...

    def trim(self, n: int, /) -> int: ...


class Recurrent(Protocol):
    """A state of fixed size that each token replaces: mlx's `ArraysCache`. There is no way back but a kept state."""

    cache: list[mx.array | None]


Layer = Growing | Recurrent


@dataclass(frozen=True, slots=True)
class Forward:
    """What one pass gave."""

    logits: mx.array | None
    """`(kept, vocabulary)`: of the last tokens only, as many as were asked for."""
    hidden: mx.array | None
    """`(1, n, hidden)`, after the last norm, of every token; `None` where the model does not show it."""


class Target:
    """A loaded language model. With `kv_bits`, keys and values are kept in so many bits, which is not exact."""

    def __init__(self, model: object, kv_bits: int = 0) -> None:
        language_model = cast(Any, getattr(model, "language_model", model))
        self.shows_hidden = callable(getattr(language_model, "speculative_logits_from_hidden", None))
        """Whether hidden states are to be had: mlx-vlm's Qwen 3.5 and its kin. An MTP head needs them."""
        self.model = language_model
        self._kv_bits = 0
        self._headless = False
        """Whether tokens that nobody asked about can be kept from the head."""
        self.on_cpu = on_cpu()
        fused = (mx.metal.is_available() and not self.on_cpu) or gated_delta_cuda.use()
        self._sequential = 0 if fused else SEQUENTIAL_AT_MOST
        cache = self.new_cache()
        probe = self.forward(mx.array([0]), cache, 0, keep=1).logits
        assert probe is not None
        self.vocabulary = probe.shape[-1]
        """Logits a token has; often more than the tokenizer has tokens."""
        self._headless = not self.shows_hidden and self._has_a_plain_head()
        if kv_bits:
            widths = [array.shape[-1] for layer in cache if is_growing(layer) for array in arrays_of(layer).values()]
            self._group = 64 if all(width % 64 == 0 for width in widths) else 32
            self._kv_bits = kv_bits
            self.new_cache()

    def new_cache(self) -> list[Layer]:
        """An empty cache, one entry a layer."""
        if hasattr(self.model, "make_cache"):
            cache = cast("list[Layer]", self.model.make_cache())
        else:
            from mlx_lm.models.cache import KVCache

            cache = cast("list[Layer]", [KVCache() for _ in self.model.layers])
        return [self._quantized(layer) for layer in cache] if self._kv_bits else cache

    def forward(self, ids: mx.array, cache: list[Layer], offset: int, *, keep: int) -> Forward:
        """Feeds `ids`, `(n,)`, behind the `offset` tokens in `cache`; logits of the last `keep`. Lazy, as MLX is."""
        with quick_operations() if self.on_cpu else nullcontext():
            return self._forward(ids, cache, offset, keep)

    def _forward(self, ids: mx.array, cache: list[Layer], offset: int, keep: int) -> Forward:
        if self.shows_hidden:
            # Explicit positions: left to itself, the model restarts its rotary positions for a suffix (0.7.10,
            # qwen3_5/language.py), and remembers those of the last conversation.
            positions = mx.arange(offset, offset + ids.size)[None]
            short = 1 < ids.size <= self._sequential and not any(map(_is_speculating, cache))
            with start_speculative_cache(cache, ids.size) if short else nullcontext() as transaction:
                out = self.model(ids[None], cache=cache, position_ids=positions, return_hidden=True, skip_logits=True)
                if transaction is not None:
                    transaction.commit(ids.size)
            hidden = cast(mx.array, out.hidden_states[-1])
            return Forward(self.logits(hidden[:, -keep:])[0] if keep else None, hidden)
        if self._headless:
            hidden = cast(mx.array, self.model.model(ids[None], cache=cache))
            return Forward(self.logits(hidden[:, -keep:])[0] if keep else None, None)
        if 0 < keep < ids.size and ids.size > WITH_HEAD_AT_MOST:
            # Its head cannot be kept from the tokens that nobody asked about, so they go without.
            self._plain(ids[:-keep], cache)
            ids = ids[-keep:]
        logits = self._plain(ids, cache)
        return Forward(logits[0, -keep:] if keep else None, None)

    def logits(self, hidden: mx.array) -> mx.array:
        """The model's own head over hidden states `(1, n, hidden)`."""
        if self.model.args.tie_word_embeddings:
            return cast(mx.array, self.model.model.embed_tokens.as_linear(hidden))
        return cast(mx.array, self.model.lm_head(hidden))

    def embed(self, ids: mx.array) -> mx.array:
        """Embeddings `(1, n, hidden)` of ids `(n,)`. Only of models that show their hidden states."""
        return cast(mx.array, self.model.model.embed_tokens(ids[None]))

    def _has_a_plain_head(self) -> bool:
        """Whether `logits` of what `model.model` gives are this model's own: most models are made so, not all.

        Tried out, also behind tokens that the cache holds: a scaled head, a softcap or positions that the outer model
        works out show in the numbers.
        """
        whole, parts = self.new_cache(), self.new_cache()
        try:
            for ids in (mx.array([0, 1, 2]), mx.array([3, 4])):
                own = self._plain(ids, whole)
                if not mx.array_equal(self.logits(self.model.model(ids[None], cache=parts)), own):
                    return False
        except (AttributeError, TypeError):
            return False
        return True

    def _plain(self, ids: mx.array, cache: list[Layer]) -> mx.array:
        out = self.model(ids[None], cache=cache)
        return cast(mx.array, out if isinstance(out, mx.array) else out.logits)

    def _quantized(self, layer: Layer) -> Layer:
        to_quantized = getattr(layer, "to_quantized", None)
        if to_quantized is None:
            return layer
        try:
            return cast(Layer, to_quantized(group_size=self._group, bits=self._kv_bits))
        except NotImplementedError as error:
            raise ModelUnsupported(
                f"This model's cache ({type(layer).__name__}) cannot be kept in {self._kv_bits} bits.",
                "Set llm.kv_bits to 0.",
            ) from error


def arrays_of(layer: Layer) -> dict[str, mx.array]:
    """The arrays that a layer's cache holds now, by their place in it; those of a growing cache cut to its length."""
    flat = cast("list[tuple[str, object]]", tree_flatten(cast(Any, layer).state))
    return {place: array for place, array in flat if isinstance(array, mx.array)}


def meta_of(layer: Layer) -> object:
    """What a layer's cache knows beside its arrays; strings, and empty for most."""
    return cast(Any, layer).meta_state


def restore(layer: Layer, arrays: dict[str, mx.array], meta: object) -> None:
    """Puts back what `arrays_of` and `meta_of` gave, into a new cache."""
    cast(Any, layer).state = tree_unflatten(list(arrays.items()))
    if meta:
        cast(Any, layer).meta_state = meta


def _is_speculating(layer: Layer) -> bool:
    return bool(getattr(layer, "is_speculating", False))


def is_growing(layer: Layer) -> bool:
    """Whether a layer keeps one entry a token (and may be cut), or one state of fixed size."""
    return hasattr(layer, "offset") and callable(getattr(layer, "trim", None))


def is_recurrent(layer: Layer) -> bool:
    return not hasattr(layer, "offset") and isinstance(getattr(layer, "cache", None), list)
