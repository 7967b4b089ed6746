"""From a sentence as it is written to the sentence as it is said, word tied to word.

Most of a text is said as it is written. Places that may not be (a digit, a sign, an abbreviation) are found by one
pattern; there the rules of `say/` are asked in order, and the first that has an answer has it. A sign that no rule knows
is not said.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from mirza.speech.text.language import Language, language_for
from mirza.speech.text.line import TIDY, TIDY_CJK, Line
from mirza.speech.text.pieces import Tie
from mirza.speech.text.places import CJK, places
from mirza.speech.text.say import own_reading
from mirza.speech.text.say.rules import RuleSet, rules_for

_WIDE = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F) if chr(wide) not in "！，：；？．～（）"} | {
    0xFFE5: 0xA5,
    0x2011: 0x2D,
}
"""Full-width signs and digits are said as their narrow ones; marks that end or part sentences stay. A hyphen that holds a line together is one."""
_IS_WIDE = re.compile("[" + re.escape("".join(map(chr, _WIDE))) + "]")
_WIDE_POINT = re.compile(
    r"(?<=[0-9０-９])：(?=[0-9０-９]{2,3}(?![0-9０-９个個]))|(?<=[比为=]\d)：(?=\d)|(?<=[0-9０-９Ａ-Ｚａ-ｚ])．(?=[0-9０-９])|(?<=[０-９])，(?=[０-９]{3}(?![０-９]))"
)
_NARROW = {"．": ".", "，": ",", "：": ":"}
"""Of a number in full-width digits: `３，９８０．５`."""
_HALF = {half: ord(unicodedata.normalize("NFKC", chr(half))) for half in range(0xFF66, 0xFF9E)} | {
    ord(half): ord(wide) for half, wide in zip("｡｢｣､･", "。「」、・", strict=True)
}
_VOICED = re.compile("[\uff66-\uff9d][ﾞﾟ]")
_HAS_HALF = re.compile("[\uff61-\uff9f]")
_LOOSE = re.compile(rf"[ﾞﾟ]|(?<=[\d%]) (?=[{CJK}])|(?<=[{CJK}]) (?=[\d¥$€£])")
_MAY_BE_LOOSE = re.compile("[ ﾞﾟ]")
_OTHER_SCRIPT = re.compile(r"[\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef]")
_ENGLISH_WORD = re.compile(r"(?<![\w'’])[A-Za-z]+(?:['’][a-z]+)?(?![\w'’])")
_ENGLISH = frozenset(
    "the an i'm i'll i've it it's is are was were be been you he she we they this that at in on to of for and or with my "
    "your not have has do don't can will if from by as me us our his her there what when who how".split()
)
_ENGLISH_WORDS, _ENGLISH_COMMON, _ENGLISH_CHARS = 4, 2, 14
"""An English sentence has so many words, of which so many are common ones."""
_SAYS = re.compile(r"[^\W_]")


class Verbaliser:
    """Says sentences in one language."""

    def __init__(self, language: Language) -> None:
        self._spaced = language.spaced
        self._english = None if language.spaced else _forms("en")[0]
        self._tidy = TIDY if language.spaced else TIDY_CJK
        self._rules, self._places = _forms(language.code)

    def say(self, clean: str) -> str:
        """`clean` as it is said; empty when there is nothing to say."""
        text = clean if clean.isascii() else self._joined(_narrow(clean))
        place = self._places.match(text)
        spoken = text if place is None and self._tidy.fullmatch(text) else self._line(text, place, tied=False).finish()
        return spoken if spoken[:1].isalnum() or _SAYS.search(spoken) else ""

    def ties(self, clean: str) -> tuple[Tie, ...]:
        """What is said of `clean`, tied to it."""
        narrow = _narrow(clean)
        text = self._joined(narrow)
        ties = self._line(text, self._places.match(text), tied=True).ties()
        if len(text) == len(narrow):
            return ties
        gone = {space.start() for space in _LOOSE.finditer(narrow)}
        ends = [0, *(at + 1 for at in range(len(narrow)) if at not in gone)]
        return tuple(Tie(ends[tie.written_end], tie.spoken_end, tie.same) for tie in ties)

    def _joined(self, text: str) -> str:
        """`2023 年` as `2023年`: Chinese and Japanese are written with a space around a number, or without."""
        return text if self._spaced or not _MAY_BE_LOOSE.search(text) else _LOOSE.sub("", text)

    def _line(self, text: str, found: re.Match[str] | None, *, tied: bool) -> Line:
        """`text` said, of which the first place was `found`."""
        line = Line(spaced=self._spaced, tied=tied)
        at = 0
        while found:
            place = found.end()
            if place > at:
                line.keep(text, at, place)
            at = self._say_at(text, place, line)
            found = self._places.match(text, at)
        if at < len(text):
            line.keep(text, at, len(text))
        return line

    def _say_at(self, text: str, at: int, line: Line) -> int:
        """Says what is at `at`; where it ends."""
        rules = self._rules
        foreign = self._english is not None and _in_english(text, at)
        if self._english is not None and foreign:
            rules = self._english
        for rule in rules.asked(text, at):
            if (found := rule.pattern.match(text, at)) and (said := rule.say(found)) is not None:
                end = found.end()
                line.put(f" {said} " if foreign and said and not rule.tight else said, end, tight=rule.tight)
                return end
        return self._pass(text, at, line)

    def _pass(self, text: str, at: int, line: Line) -> int:
        """Takes what no rule knows: a word as it is, a sign silently; where it ends."""
        char = text[at]
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


def _in_english(text: str, at: int) -> bool:
    """Whether there is an English sentence around `at`, in a text in another script."""
    start, end = at, len(text)
    while start > 0 and not _OTHER_SCRIPT.match(text, start - 1):
        start -= 1
    if (found := _OTHER_SCRIPT.search(text, at)) is not None:
        end = found.start()
    if end - start < _ENGLISH_CHARS:
        return False
    words: list[str] = _ENGLISH_WORD.findall(text, start, end)
    return len(words) >= _ENGLISH_WORDS and sum(word.lower() in _ENGLISH for word in words) >= _ENGLISH_COMMON


def _belongs(text: str, at: int) -> bool:
    """Whether a character that is no letter is part of a word: a vowel sign, a joiner between letters."""
    char = text[at]
    if unicodedata.category(char) in ("Mn", "Mc"):
        return not ("\ufe00" <= char <= "\ufe0f")
    inner = char in "\u200c\u200d" and 0 < at < len(text) - 1
    return inner and unicodedata.category(text[at - 1])[0] in "LM" and unicodedata.category(text[at + 1])[0] in "LM"


def _narrow(clean: str) -> str:
    if _HAS_HALF.search(clean):  # the mark of a voiced one stays behind it, to be passed over
        clean = _VOICED.sub(
            lambda pair: unicodedata.normalize("NFKC", pair.group()) + pair.group()[1], clean
        ).translate(_HALF)
    if not _IS_WIDE.search(clean) and "：" not in clean:
        return clean
    return _WIDE_POINT.sub(lambda mark: _NARROW[mark.group()], clean).translate(_WIDE)


@cache
def _forms(code: str) -> tuple[RuleSet, re.Pattern[str]]:
    """What one language says otherwise than it is written, and where that may be."""
    language = language_for(code)
    if not language.known:
        return RuleSet(own_reading.rules()), own_reading.PLACES
    rules = rules_for(language)
    return rules, places(rules.triggers, spans=rules.spans, names=rules.names, within_words=rules.within_words)
