"""Multi-token prediction: a small head drafts the next tokens, and how far it may go.

The head is one transformer layer over (hidden state of a token, embedding of the next): it predicts the one after
that, and fed with its own output, those that follow. Embedding and output head are the model's own, so there is no
second copy of either. Its parts are public in mlx-vlm 0.7.10; its loop is not used, because that drafts a fixed number
of tokens.

Depth follows confidence, as in the S system: a draft stops when the product of its probabilities falls under tau.
"""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import mlx.core as mx
from mlx.utils import tree_flatten
from mlx_vlm.models.base import create_attention_mask
from mlx_vlm.models.cache import KVCache

from mirza.llm.mlx.target import Target

TAU = 0.3
"""A draft goes on while the product of its probabilities is at least this (the S system's value)."""
PROMPT_PAIRS = 256
"""Tokens of the prompt that the head sees before it drafts. Whole prompt against last token: 61 % against 57 %
accepted at block 5 on the tiny checkpoint."""


ROUNDS_TO_JUDGE = 12
"""Rounds of an answer before its own acceptance decides."""


class Drafter:
    """An MTP head bound to its target."""

    def __init__(self, head: object, target: Target) -> None:
        self._head = cast(Any, head)
        self._target = target
        self._cache: list[KVCache] = []
        self._next = 0
        self._logits: mx.array | None = None
        self._hidden: mx.array | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of the head's own weights."""
        weights = cast("list[tuple[str, mx.array]]", tree_flatten(self._head.parameters()))
        return sum(array.nbytes for _, array in weights)

    @property
    def fits(self) -> bool:
        """Whether the head was made for a model of this width."""
        return bool(self._head.config.text_config.hidden_size == self._target.model.args.hidden_size)

    def begin(self) -> None:
        """Forgets the last answer."""
        self._cache = [KVCache() for _ in self._head.layers]

    def observe(self, tokens: Sequence[int], hidden: mx.array, position: int) -> None:
        """Reads what is certain: `hidden` `(1, n, hidden)` of n tokens from `position` on, and the token after each."""
        self._cut(position)
        unseen = max(0, len(tokens) - PROMPT_PAIRS)
        self._next = position + unseen
        self._advance(mx.array(list(tokens[unseen:])), hidden[:, unseen:])

    def propose(self, depth: int) -> list[int]:
        """At most `depth` tokens; none where the head is not sure of even the first."""
        draft: list[int] = []
        sure = 1.0
        certain = self._next
        while len(draft) < depth:
            assert self._logits is not None and self._hidden is not None
            best = mx.argmax(self._logits)
            chance = mx.exp(self._logits[best] - mx.logsumexp(self._logits))
            mx.eval(best, chance)
            sure *= float(chance.item())
            if sure < TAU:
                break
            draft.append(int(best.item()))
            if len(draft) < depth:
                self._advance(best[None], self._hidden)
        self._cut(certain)
        return draft

    def _advance(self, tokens: mx.array, hidden: mx.array) -> None:
        head = self._head
        # As mlx_vlm's Qwen3_5MTPDraftModel does it: both halves normed, joined, and through the layers.
        halves = [head.pre_fc_norm_embedding(self._target.embed(tokens)), head.pre_fc_norm_hidden(hidden)]
        state = head.fc(mx.concatenate(halves, axis=-1))
        positions = mx.arange(self._next, self._next + tokens.size)[None]
        for layer, cache in zip(head.layers, self._cache, strict=True):
            mask = create_attention_mask(state, cache)
            state = layer(state, mask=mask, cache=cache, position_ids=positions)
        self._hidden = cast(mx.array, head.norm(state))[:, -1:]
        self._logits = self._target.logits(self._hidden)[0, -1].astype(mx.float32)
        self._next += tokens.size

    def _cut(self, position: int) -> None:
        """Takes back what was read from `position` on: it was a guess."""
        extra = self._next - position
        if self._cache and self._cache[0].offset and extra > 0:
            for cache in self._cache:
                cache.trim(extra)
            self._next = position


@dataclass(slots=True)
class DraftPolicy:
    """How deep a draft may be, and what came of it in this answer."""

    depth: int
    round_cost: float = 0.0
    """What a round costs, in passes of plain decoding; 0 where that was not measured: then drafts are always made."""
    drafted: int = 0
    accepted: int = 0
    rounds: int = 0

    @property
    def pays(self) -> bool:
        """Whether a round gives more tokens than plain decoding would in its time."""
        if not self.round_cost or self.rounds < ROUNDS_TO_JUDGE:
            return True
        return (self.rounds + self.accepted) / self.rounds >= self.round_cost

    def record(self, drafted: int, accepted: int) -> None:
        """One round: how many tokens were drafted, and how many of them were right."""
        self.rounds += 1
        self.drafted += drafted
        self.accepted += accepted
