"""Rendered chat text in, token ids out: content never becomes a control token, and what was generated stays as it was.

Before a template renders, two things in its input are marked with private-use characters. Control tokens in content
(a user who says `<|im_end|>`, a page that contains `<tool_call>`) are wrapped, and encoded as ordinary text. An answer
that the model generated is replaced by a placeholder, and its own ids are put there: text that is encoded again need
not give the tokens that were generated, and then nothing of the cache fits any more.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Protocol, TypeVar, cast

_CONTROL = ("\uf7f0", "\uf7f1")
_KEPT = ("\uf7f2", "\uf7f3")
_NO_BREAK = "\uf7f4"
_MARKS = re.compile("[\uf7f0-\uf7f4]")
_PIECES = re.compile("\uf7f0([^\uf7f0-\uf7f3]*)\uf7f1|\uf7f2(\\d+)\uf7f3")
PIECES_REMEMBERED = 512
"""Stretches of text between control marks and generated answers: one a turn, and a few for each partial transcript."""
Json = TypeVar("Json")


class Encoder(Protocol):
    """What is used of a transformers tokenizer here."""

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]: ...


class ChatEncoder:
    """Marks what goes into a template, and encodes what comes out of it."""

    def __init__(self, tokenizer: object) -> None:
        self._tokenizer = cast(Encoder, tokenizer)
        table = cast(Mapping[int, _AddedToken], getattr(tokenizer, "added_tokens_decoder", {}))
        # Whitespace is a token of its own in some vocabularies (Gemma's "\n\n"), and no control token.
        control = {token.content: token_id for token_id, token in table.items() if token.content.strip()}
        self._control_ids = frozenset(control.values())
        longest_first = sorted(control, key=len, reverse=True)
        self._control = re.compile("|".join(map(re.escape, longest_first)) or "(?!)")
        self._newline = self._tokenizer.encode("\n", add_special_tokens=False)
        # A conversation is encoded again in every turn, and all but its end is what it was.
        self._piece = lru_cache(PIECES_REMEMBERED)(self._encode)

    def mark(self, content: Json) -> Json:
        """Content (a text, or what JSON is made of) with its control tokens marked; keys of objects are left alone."""
        match content:
            case str():
                clean = _MARKS.sub("", content)
                return cast(Json, self._control.sub(lambda found: found[0].join(_CONTROL), clean))
            case Mapping():
                table = cast(Mapping[str, object], content)
                return cast(Json, {key: self.mark(value) for key, value in table.items()})
            case list() | tuple():
                return cast(Json, [self.mark(value) for value in cast(Sequence[object], content)])
            case _:
                return content

    def placeholder(self, number: int, ends_line: bool = False) -> str:
        """What stands in rendered text for `kept[number]`; a line break that follows is left out if it has one already.

        What was generated may end in a token that is a full stop and a line break at once.
        """
        return str(number).join(_KEPT) + (_NO_BREAK if ends_line else "")

    def encode(self, rendered: str, kept: Sequence[Sequence[int]] = ()) -> list[int]:
        """The ids of rendered text; marked control tokens as text, placeholders as the ids that they stand for."""
        rendered = re.sub(f"{_NO_BREAK}\n?", "", rendered)
        ids: list[int] = []
        end = 0
        for found in _PIECES.finditer(rendered):
            ids += self._text(rendered[end : found.start()])
            ids += self._plain(found[1]) if found[1] is not None else kept[int(found[2])]
            end = found.end()
        return ids + self._text(rendered[end:])

    def between(self, rendered: str, first: int, second: int) -> str | None:
        """The text that the template writes between two placeholders, if it has both in this order."""
        _, found, rest = rendered.partition(self.placeholder(first))
        text, found_second, _ = rest.partition(self.placeholder(second))
        return text if found and found_second else None

    def _plain(self, token: str) -> list[int]:
        """A control token as ordinary text: cut after its first character, it is no token of its own any more."""
        ids = self._text(token[:1]) + self._text(token[1:])
        if self._control_ids.isdisjoint(ids):
            return ids
        return [token_id for character in token for token_id in self._text(character)]

    def _text(self, text: str) -> list[int]:
        ids: list[int] = []
        # A template may lose one mark of a pair (by `split`); a lone one still separates, and is dropped.
        for piece in filter(None, _MARKS.split(text)):
            ids += self._piece(piece)
        return ids

    def _encode(self, text: str) -> list[int]:
        # Some tokenizers put a space before what they take for the start of a text: a line break goes first, and is
        # taken off again. (So does transformers 5.24, utils/chat_template_utils.py.)
        ids = self._tokenizer.encode("\n" + text, add_special_tokens=False)
        if ids[: len(self._newline)] == self._newline:
            return ids[len(self._newline) :]
        return self._tokenizer.encode(text, add_special_tokens=False)


def common_length(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens two sequences share at their beginning."""
    one, other = list(one), list(other)
    same, unknown = 0, min(len(one), len(other))
    while unknown:  # by halves: comparing slices costs a fiftieth of comparing tokens one by one
        half = (unknown + 1) // 2
        if one[same : same + half] == other[same : same + half]:
            same, unknown = same + half, unknown - half
        else:
            unknown = half - 1
    return same


class _AddedToken(Protocol):
    content: str
