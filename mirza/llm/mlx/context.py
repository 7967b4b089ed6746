"""What fits: when a conversation outgrows the context, its oldest exchanges leave.

The system prompt stays, and an exchange leaves whole: the question, the answer, and every tool call with its result. So
that the cache is not rebuilt every turn from then on, a good part leaves at once, and what left stays away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mirza.errors import ModelUnsupported
from mirza.llm.base import Message

KEEP = 0.6
"""Share of the room that is used after exchanges have left."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """The messages that are fed, and how many left."""

    messages: tuple[Message, ...]
    dropped: int = 0


class ContextWindow:
    """Keeps conversations within `room` tokens, answer not counted."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._gone: tuple[Message, ...] = ()
        """What has left, of the conversation that was fitted last."""

    def fit(self, messages: Sequence[Message], count: Callable[[Sequence[Message]], int]) -> Fitted:
        """The messages without those that must leave. `count` says how many tokens messages are.

        Raises:
            ModelUnsupported: the last exchange alone is too long.
        """
        fixed = [message for message in messages if message.role == "system"]
        exchanges = _exchanges([message for message in messages if message.role != "system"])
        start = self._already_gone(exchanges)
        if count([*fixed, *_flat(exchanges[start:])]) > self._room:
            while start < len(exchanges) - 1:
                start += 1
                if count([*fixed, *_flat(exchanges[start:])]) <= self._room * KEEP:
                    break
            if count([*fixed, *_flat(exchanges[start:])]) > self._room:
                raise ModelUnsupported(
                    f"This message is too long: with the system prompt it is more than {self._room} tokens.",
                    "Shorten it, or raise llm.context_tokens.",
                )
        self._gone = tuple(_flat(exchanges[:start]))
        return Fitted((*fixed, *_flat(exchanges[start:])), len(self._gone))

    def _already_gone(self, exchanges: Sequence[Sequence[Message]]) -> int:
        """How many exchanges left in earlier turns, if this is the same conversation."""
        gone: list[Message] = []
        for place, exchange in enumerate(exchanges):
            if len(gone) >= len(self._gone):
                return place if tuple(gone) == self._gone else 0
            gone += exchange
        return 0


def _exchanges(messages: Sequence[Message]) -> list[list[Message]]:
    """Each from a user's message to the next one."""
    exchanges: list[list[Message]] = []
    for message in messages:
        if message.role == "user" or not exchanges:
            exchanges.append([])
        exchanges[-1].append(message)
    return exchanges


def _flat(exchanges: Sequence[Sequence[Message]]) -> list[Message]:
    return [message for exchange in exchanges for message in exchange]
