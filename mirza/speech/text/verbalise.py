"""From a sentence as it is written to the sentence as it is said, word tied to word.

Most of a text is said as it is written. Places that may not be (a digit, a sign, an abbreviation) are found by one
pattern; there the rules of `say/` are asked in order, and the first that has an answer has it. A sign that no rule knows
is not said.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache

from mirza.speech.text.language import Language, language_for
from mirza.speech.text.pieces import Tie
from mirza.speech.text.say.base import Rule
from mirza.speech.text.say.rules import rules_for

_WIDE = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F) if chr(wide) not in "！，：；？．～"} | {0xFFE5: 0xA5}
"""Full-width signs and digits are said as their narrow ones; marks that end or part sentences stay."""
_NUMERALS = "²³¹⁰-₉¼-¾⅐-ↈ①-⓿"
_PLAIN = re.compile(
    rf"[¿¡]?[^\W\d_{_NUMERALS}](?:[^\W\d_{_NUMERALS}]|[ ，、；：](?![ ,.!?;:…])|[,!?;:](?= )|['’\-](?=[^\W\d_]))*[.!?…,;:。！？]?"
)
"""What is said as it is written, apart from words that stand in a table."""
_ROMAN = re.compile(r"[IVX]{2}|[IVX][er]|[^\W\d_] [VX](?!\w)|[a-z] I(?!\w)")
_TOKEN = re.compile(r"\s+|[,;:.!?…。！？，、；：।]+|[^\s,;:.!?…。！？，、；：।]+")
_WORDS = re.compile(r"\s+|[,;:.!?…。！？，、；：।]+|[^\s,;:.!?…。！？，、；：।]+(?: [^\s,;:.!?…。！？，、；：।]+)*")
_MARKS = {",": 1, "、": 1, "，": 1, ";": 2, ":": 2, "；": 2, "：": 2}
_ENDS = ".!?…。！？।"
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class Said:
    """What the voice gets: empty when there is nothing to say. No `ties` means that it is the text as written."""

    text: str
    ties: tuple[Tie, ...] = ()


class Verbaliser:
    """Says sentences in one language."""

    def __init__(self, language: Language) -> None:
        self._language = language
        self._rules = _rules(language.code)

    def say(self, clean: str) -> Said:
        """`clean` as it is said."""
        plain = _PLAIN.fullmatch(clean) and not _ROMAN.search(clean)
        if plain and self._rules.abbreviations.isdisjoint(clean.split()):
            return Said(clean)
        text = clean.translate(_WIDE)
        line = _Line(spaced=self._language.spaced)
        at = 0
        while found := self._rules.places.search(text, at):
            line.keep(text, at, found.start())
            at = self._say_at(text, found.start(), line)
        line.keep(text, at, len(text))
        spoken = line.finish()
        return Said(spoken, tuple(line.ties)) if any(map(str.isalnum, spoken)) else Said("")

    def _say_at(self, text: str, at: int, line: _Line) -> int:
        """Says what is at `at`; where it ends."""
        char = text[at]
        kind = self._rules.digits if char.isdecimal() else self._rules.letters if char.isalpha() else self._rules.signs
        for rule in kind:
            if (found := rule.pattern.match(text, at)) and (said := rule.say(found)) is not None:
                end = found.end()
                line.put(said, end, tight=rule.tight)
                return end
        if char.isalpha():
            end = at + 1
            while end < len(text) and text[end].isalpha():
                end += 1
            line.keep(text, at, end)
            return end
        if _belongs(text, at):
            line.keep(text, at, at + 1)
        else:
            line.skip(at + 1, apart=unicodedata.category(char) != "Cf")
        return at + 1


def _belongs(text: str, at: int) -> bool:
    """Whether a character that is no letter is part of a word: a vowel sign, a joiner between letters."""
    char = text[at]
    if unicodedata.category(char) in ("Mn", "Mc"):
        return not ("\ufe00" <= char <= "\ufe0f")
    inner = char in "\u200c\u200d" and 0 < at < len(text) - 1
    return inner and unicodedata.category(text[at - 1])[0] in "LM" and unicodedata.category(text[at + 1])[0] in "LM"


class _Line:
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


@dataclass(frozen=True, slots=True)
class _Rules:
    """The rules of one language, by the kind of character that they begin with."""

    places: re.Pattern[str]
    abbreviations: frozenset[str]
    digits: tuple[Rule, ...]
    letters: tuple[Rule, ...]
    signs: tuple[Rule, ...]


@cache
def _rules(code: str) -> _Rules:
    rules = rules_for(language_for(code))
    words = _alternatives(rules.triggers)
    places = re.compile(
        "|".join(
            (
                rf"(?<![^\W_])(?:{words})(?!\w)",
                r"(?<![A-Za-z0-9])[A-Za-z]{1,8}[-‑]?\d",  # a name with digits: MP3, GPT-4
                r"(?<![A-Za-z0-9_.])[A-Za-z0-9_.+-]+@(?=[\w-])",  # an address
                r"(?<![A-Za-z0-9])(?:https?://|www\.)",
                r"(?<![A-Za-z0-9_])[A-Za-z][\w-]{0,40}(?=\.[A-Za-z])",  # a dotted name
                r"(?<![\w/])(?:~|\.{1,2})?/(?=[\w.])",  # a path
                r"(?<![^\W_])[IVX]{1,8}(?:er|re|ère|e|ème)(?![^\W_])|(?<![^\W_])[IVX]{2,8}(?![^\W_])",
                r"(?<=[^\W\d_] )[IVX](?![\w'’])",
                r"(?<![^\W_])(?:[A-Z]\.)(?=\s?[A-Z])",  # initials
                r"(?<=[^\W\d_])str\.",
                r"(?<![A-Za-z])[A-Z]{1,2}\$(?=\s?\d)",
                r"-{1,2}>|<-|!=|--",
                r"[^\w\s.,!?;:'’\-…。！？，、；：।¿¡]",  # any other sign
                rf"[\d_{_NUMERALS}]",
                r"(?<![\u0370-\u03ff])[α-ωΑ-Ω](?![\u0370-\u03ff])",
                r"(?<![\w)])[-.](?=\d)|(?<=[\u3040-\u30ff\u3400-\u9fff])-(?=\d)|\s-(?=\s)|(?<![\w)])-(?=[A-Za-z](?!\w))",
                r"(?<=\d)-|(?<=[ap]m)-(?=\d)|(?<=\dh)-(?=\d)",
                r"'(?=\d)|(?<!\w)['’]|['’](?!\w)|:[-']?[()DPp](?!\w)",
            )
        )
    )
    spoken = frozenset(word for word in rules.triggers) | frozenset(f"{word}," for word in rules.triggers)
    return _Rules(places, spoken, rules.digits, rules.letters, rules.signs)


def _alternatives(words: frozenset[str]) -> str:
    """A pattern for any of `words`, longest first, by first letter: tried at every word, it had better fail fast."""
    groups: dict[str, list[str]] = {}
    for word in sorted(words, key=len, reverse=True):
        groups.setdefault(word[0], []).append(re.escape(word[1:]))
    return "|".join(f"{re.escape(first)}(?:{'|'.join(rest)})" for first, rest in groups.items()) or "(?!)"
