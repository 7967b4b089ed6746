"""`Line`: a sentence as it is said, put together from left to right, tied to what is written."""

from __future__ import annotations

import re

from mirza.speech.text.pieces import Tie

_TOKEN = re.compile(r"\s+|[,;:.!?…。！？，、；：।]+|[^\s,;:.!?…。！？，、；：।]+")
_WORDS = re.compile(r"\s+|[,;:.!?…。！？，、；：।]+|[^\s,;:.!?…。！？，、；：।]+(?: [^\s,;:.!?…。！？，、；：।]+)*")
_MARKS = {",": 1, "、": 1, "，": 1, ";": 2, ":": 2, "；": 2, "：": 2}
_ENDS = ".!?…。！？।"
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


class Line:
    """The sentence as it is said so far: one space between words, one mark at a time, none in front."""

    def __init__(self, *, spaced: bool) -> None:
        self.ties: list[Tie] = []
        self._spaced = spaced
        self._parts: list[str] = []
        self._length = 0
        self._gap = False
        self._glue = False

    def keep(self, text: str, start: int, end: int) -> None:
        """Says `text` from `start` to `end` as it is written."""
        if start == end:
            return
        if self._glue and text[start].isalnum():
            self._gap = True
        self._glue = False
        if text[start].isspace():
            self._gap = True
        self._add(text[start:end])
        self._tie(start + len(text[start:end].rstrip()), same=True)

    def put(self, said: str, end: int, *, tight: bool) -> None:
        """Says `said` for the text up to `end`; apart from the words beside it unless `tight`."""
        if said:
            last = self._parts[-1][-1] if self._parts else " "
            apart = not tight and self._spaced
            if not tight and ((apart and last.isalnum()) or self._glue):
                self._gap = True
            self._add(said)
            self._glue = apart
        else:
            self._gap = self._gap or not tight
        self._tie(end)

    def skip(self, end: int, *, apart: bool) -> None:
        """Passes over a sign; `apart` if it stood between words."""
        self._gap = self._gap or apart
        if self.ties:
            self._tie(end, same=self.ties[-1].same)

    def finish(self) -> str:
        """The whole sentence."""
        return "".join(self._parts)

    def _tie(self, end: int, *, same: bool = False) -> None:
        if self.ties and self.ties[-1].spoken_end == self._length:
            self.ties.pop()
        if self._length:
            self.ties.append(Tie(end, self._length, same))

    def _add(self, text: str) -> None:
        for token in (_WORDS if self._spaced else _TOKEN).findall(text):
            if token.isspace():
                self._gap = True
            elif token[0] in _MARKS or token[0] in _ENDS:
                self._mark(token)
            else:
                self._word(token)

    def _word(self, token: str) -> None:
        if self._gap and self._parts and not self._touch(self._parts[-1][-1], token[0]):
            self._append(" ")
        self._gap = False
        self._append(token)

    def _touch(self, last: str, first: str) -> bool:
        """Whether no space is wanted between two characters: Chinese and Japanese have none."""
        if self._spaced:
            return False
        return bool(_CJK.match(last) and _CJK.match(first)) or last in "，。、；：！？"

    def _mark(self, token: str) -> None:
        if not self._parts:
            return
        mark = token[:1] if len(set(token)) == 1 and token[0] in "!?,;:" else token
        last = self._parts[-1]
        if last[0] in _ENDS:
            return
        if last[0] in _MARKS:
            if _MARKS.get(mark[0], 3) <= _MARKS[last[0]]:
                return
            self._parts.pop()
            self._length -= len(last)
        self._append(mark)

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)
