"""What the model said, as the tokens it said it with.

A history is text, and text that is encoded again need not give the tokens that were generated. So each answer is kept
with its text; a message of the history that has this text is the answer, and its own tokens go into the prompt. After
an interruption only the tokens that were heard are kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mirza.events import ToolCall
from mirza.llm.base import Message
from mirza.llm.mlx.template import Kept

ANSWERS_AT_MOST = 512
AnswerKey = tuple[str, tuple[tuple[str, str], ...]]
"""The letters of the text, and the name and arguments of each call: white space may have changed on the way."""


@dataclass(frozen=True, slots=True)
class Said:
    """One answer: its text, the tokens of it, and what each of them added to the text."""

    text: str
    calls: tuple[ToolCall, ...]
    ids: tuple[int, ...]
    texts: tuple[str, ...]
    thought: tuple[int, ...] | None = None

    @classmethod
    def of(
        cls, ids: Sequence[int], texts: Sequence[str], calls: Sequence[ToolCall], thought: Sequence[int]
    ) -> Said | None:
        """An answer as it is remembered: without the beginning of a character in whose middle it ended."""
        size = len(ids)
        while size and not texts[size - 1] and not calls:  # the tokens of a call have no text, either
            size -= 1
        if not size:
            return None
        return cls("".join(texts), tuple(calls), tuple(ids[:size]), tuple(texts[:size]), tuple(thought) or None)

    @property
    def key(self) -> AnswerKey:
        return _key(self.text, self.calls)

    def cut(self, heard: str, encode: Callable[[str], list[int]]) -> Said:
        """As much of it as was heard, in tokens: those that are whole, then what is left of the text, encoded.

        `heard` may differ in white space. What was not said is taken as it is given.
        """
        left = _letters(heard)
        whole = 0
        for place, piece in enumerate(self.texts):
            letters = _letters(piece)
            if not left.startswith(letters):
                break
            if letters:  # what has none may be the beginning of a character that was not heard
                left, whole = left[len(letters) :], place + 1
        ids, texts = self.ids[:whole], self.texts[:whole]
        if left:
            rest = _tail(heard, left)
            more = encode(rest)
            ids, texts = (*ids, *more), (*texts, *[""] * (len(more) - 1), rest)
        return Said(heard, (), ids, texts, self.thought)


class Memory:
    """The answers of one conversation, in order."""

    def __init__(self) -> None:
        self.answers: list[Said] = []

    def add(self, said: Said) -> None:
        self.answers.append(said)
        del self.answers[:-ANSWERS_AT_MOST]

    def replace_last(self, said: Said) -> None:
        self.answers[-1] = said

    def kept(self, messages: Sequence[Message]) -> dict[int, Kept]:
        """Which of these messages are answers that are known, and their tokens.

        Both are in order, so from the last message on, each is looked for before the answer that the one behind it was.
        Answers that were thrown away, and those of other conversations, are passed over.
        """
        found: dict[int, Kept] = {}
        end = len(self.answers)
        for place in range(len(messages) - 1, -1, -1):
            message = messages[place]
            if message.role != "assistant":
                continue
            key = _key(message.content, message.tool_calls)
            same = (index for index in range(end - 1, -1, -1) if self.answers[index].key == key)
            index = next(same, None)
            if index is not None:
                found[place] = Kept(self.answers[index].ids, self.answers[index].thought)
                end = index
        return found


def _key(text: str, calls: Sequence[ToolCall]) -> AnswerKey:
    return _letters(text), tuple((call.name, _canonical(call.arguments)) for call in calls)


def _canonical(arguments: str) -> str:
    try:
        decoded: object = json.loads(arguments or "{}")
    except ValueError:
        return arguments
    return json.dumps(decoded, sort_keys=True) if isinstance(decoded, Mapping) else arguments


def _letters(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _tail(text: str, letters: str) -> str:
    """The end of `text` that has these letters, with the space before it."""
    place = len(text)
    missing = len(letters)
    while missing:
        place -= 1
        missing -= not text[place].isspace()
    while place and text[place - 1].isspace():
        place -= 1
    return text[place:]
