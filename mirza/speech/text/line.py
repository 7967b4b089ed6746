"""`Line`: a sentence as it is said, put together from left to right, tied to what is written where that is asked."""

from __future__ import annotations

import re
from typing import NamedTuple

from mirza.speech.text.pieces import Tie

_MARK = r"[,;:.!?…。！？，、；：।]"
_WORD = r"[^\s,;:.!?…。！？，、；：।]+"
_WORDS = rf"{_WORD}(?:(?:{_MARK} ?| ){_WORD})*"
_WORDS_CJK = rf"{_WORD}(?:{_MARK}{_WORD})*"
"""Words with one mark and one space between them at the most; spaces may have to go in Chinese and Japanese."""
_TOKENS = re.compile(rf"\s+|{_WORDS}|{_MARK}+")
_TOKENS_CJK = re.compile(rf"\s+|{_WORDS_CJK}|{_MARK}+")
TIDY = re.compile(rf"{_WORDS}{_MARK}?")
TIDY_CJK = re.compile(rf"{_WORDS_CJK}{_MARK}?")
"""A sentence that is as `Line` would put it together."""
_MARKS = {",": 1, "、": 1, "，": 1, ";": 2, ":": 2, "；": 2, "：": 2}
_ENDS = ".!?…。！？।"
_ALONE = frozenset(f"{''.join(_MARKS)}{_ENDS}")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


class Line:
    """The sentence as it is said so far: one space between words, one mark at a time, none in front.

    It is `tied` to the written sentence for who has to know which part of one is which of the other.
    """

    __slots__ = ("_gap", "_glue", "_parts", "_spaced", "_ties")

    def __init__(self, *, spaced: bool, tied: bool = False) -> None:
        self._spaced = spaced
        self._parts: list[str] = []
        """As they come: they are tidied at the end, where they are not tidy already."""
        self._gap = False
        """Whether a space has to come, which was before a mark."""
        self._glue = False
        """Whether what was said last must not run into a letter."""
        self._ties: list[_PartEnd] | None = [] if tied else None

    def keep(self, text: str, start: int, end: int) -> None:
        """Says `text` from `start` to `end` as it is written."""
        kept = text[start:end]
        if self._glue or self._gap:
            if kept[0].isalnum() or (self._gap and kept[0] != " "):
                self._parts.append(" ")
            self._gap = self._glue = False
        self._parts.append(kept)
        if self._ties is not None:
            self._ties.append(_PartEnd(len(self._parts), start + len(kept.rstrip()), same=True))

    def put(self, said: str, end: int, *, tight: bool) -> None:
        """Says `said` for the text up to `end`; apart from the words beside it unless `tight`."""
        parts = self._parts
        apart = self._spaced and not tight
        if not said:
            if not tight:
                parts.append(" ")
        else:
            self._gap = self._gap or (apart and (self._glue or (bool(parts) and _ends_word(parts[-1][-1]))))
            if said in _ALONE and self._spaced:
                self._move_gap()
            elif self._gap:
                parts.append(" ")
                self._gap = False
            parts.append(said)
            self._glue = apart
        if self._ties is not None:
            self._ties.append(_PartEnd(len(parts), end, same=False))

    def _move_gap(self) -> None:
        """Takes the space away that a mark would follow: it comes after the mark."""
        parts = self._parts
        if parts and parts[-1][-1:] == " ":
            parts[-1] = parts[-1][:-1]
            self._gap = True

    def skip(self, end: int, *, apart: bool) -> None:
        """Passes over a sign; `apart` if it stood between words."""
        if apart:
            self._parts.append(" ")
        if self._ties is not None:
            self._ties.append(_PartEnd(len(self._parts), end, same=None))

    def finish(self) -> str:
        """The whole sentence."""
        said = "".join(self._parts)
        return said if (TIDY if self._spaced else TIDY_CJK).fullmatch(said) else self.tidied()

    def tidied(self) -> str:
        """The whole sentence, its spaces and marks put in order: the same for one that is tidy as it is."""
        tidy = _Tidy(self._spaced)
        for part in self._parts:
            tidy.add(part)
        return "".join(tidy.parts)

    def ties(self) -> tuple[Tie, ...]:
        """The whole sentence, tied."""
        tidy = _Tidy(self._spaced)
        ties: list[Tie] = []
        done = 0
        for upto, written_end, same in self._ties or ():
            for part in self._parts[done:upto]:
                tidy.add(part)
            done = upto
            length = sum(map(len, tidy.parts))
            if length:
                as_written = ties[-1].same if same is None else same
                if ties and ties[-1].spoken_end == length:
                    ties.pop()
                ties.append(Tie(written_end, length, as_written))
        return tuple(ties)


class _PartEnd(NamedTuple):
    """Where in the written sentence the first `parts` parts end; `same` as the last, if it is `None`."""

    parts: int
    written_end: int
    same: bool | None


class _Tidy:
    """Takes the parts of a sentence one by one, and keeps what is left of spaces and marks."""

    def __init__(self, spaced: bool) -> None:
        self.parts: list[str] = []
        self._spaced = spaced
        self._tokens = _TOKENS if spaced else _TOKENS_CJK
        self._gap = False

    def add(self, text: str) -> None:
        """Takes one part, of which no mark is joined to one of another part."""
        parts = self.parts
        for token in self._tokens.findall(text):
            first = token[0]
            if not first.isalnum():
                if first.isspace():
                    self._gap = True
                    continue
                if first in _MARKS or first in _ENDS:
                    if parts:
                        self._mark(token)
                    continue
            if self._gap:
                self._gap = False
                if parts and (self._spaced or not _touch(parts[-1][-1], first)):
                    parts.append(" ")
            parts.append(token)

    def _mark(self, token: str) -> None:
        if len(token) > 1 and token[0] in _MARKS and token[-1] in _ENDS:
            token = token[-1]  # `auto;`.
        mark = token[:1] if len(token) > 1 and token[0] in "!?,;:" and len(set(token)) == 1 else token
        last = self.parts[-1][0]
        if last in _ENDS:
            return
        if last in _MARKS:
            if _MARKS.get(mark[0], 3) <= _MARKS[last]:
                return
            self.parts.pop()
        self.parts.append(mark)


def _ends_word(char: str) -> bool:
    """Whether what is said after this character needs a space: `main.py:42`."""
    return char.isalnum() or char in _MARKS


def _touch(last: str, first: str) -> bool:
    """Whether no space is wanted between two characters: Chinese and Japanese have none."""
    return bool(_CJK.match(last) and _CJK.match(first)) or last in "，。、；：！？"
