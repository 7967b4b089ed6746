"""Signs between numbers: minus or *to*, plus, a slash, comparisons, factorials."""

from __future__ import annotations

import math
import re

from mirza.speech.text.places import FACTORIAL_AFTER
from mirza.speech.text.say.base import Rule, Speaker

_COMPARE = re.compile(r"<=|>=|≤|≥|≦|≧|!=|≠|===?|≈|≅|≒|<|>|=|:=")
_FACTORIAL = re.compile(rf"!(?={FACTORIAL_AFTER})")
_MENU = re.compile(r"[A-Za-z]{2,} > [A-Z]")
"""A way through menus: File > Save."""
_BELOW_ZERO = re.compile(r"[\d.]+ ?(?:°|℃|度|摄氏)")
_LETTERS = re.compile(r"(?<![A-Za-z])[A-Za-z]/[A-Za-z](?![A-Za-z])")
_OPERATED = re.compile(r"(?:\d|\))[+×÷*]\d+(?:\.\d+)?\Z")
_EQUATED = re.compile(r"[\d.,]+ ?% ?[=≈]")
_COEFFICIENT = re.compile(r"(?<![\w.,])\d+[a-z]\Z")
"""`2x`, before `-3`."""
_PERCENTAGE = re.compile(r"[\d.]+ ?%")
_RISES, _FALLS = re.compile("[涨增长升高达多加]了?[：:]?\\Z"), re.compile("[跌降减低少缩]了?[：:]?\\Z")
"""Verbs after which a sign before a percentage says what was said."""
_PERIODS = frozenset(
    "day week month year hour night person visit jour semaine mois an heure nuit personne Tag Woche Monat Jahr Stunde Nacht "
    "Person día semana mes año hora noche persona".split()
)
"""After a slash these mean *per*."""
_COMMAND = re.compile(r"\b(?:kill|head|tail|grep|sort|gzip|zip|xargs|pkill) \Z")
_DERIVED, _BY = re.compile(r"(?<![^\W_])[d∂Δ][²2]?[a-zA-Zθ]?\Z"), re.compile(r"[d∂Δ][a-zA-Zθ]²?(?!\w)")
"""*d y over d x*"""
_OR = {"en": "or", "fr": "ou", "de": "oder", "es": "o"}
_ARTICLES = frozenset(
    "he she him her his hers le la un une il elle ils elles du ce cette der die das er sie ein eine einen den el los las él ella "
    "ellos ellas unos unas oui non ja nein sí no yes".split()
)
"""Between two of these a slash is *or*."""
_EVERY = {"en": "every", "fr": "toutes les", "de": "alle", "es": "cada"}
"""`1 comp./12 h`"""
_AGE = re.compile(r" ?\d{1,2} ans\b")
"""Those who are younger: *moins de dix-huit ans*."""
_WORD = re.compile(r"[A-Za-z]\w*\Z|[^\W\d_]\Z")
CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
FORMULA = re.compile(r"[=+²³^×<>≤≥|]")
"""`3x` and `x²` before a dash are terms where one of these is near."""
LETTER = re.compile(r"\w")
LONE_LETTER = re.compile(r"(?<![\w°])[^\W\d_]\Z")


def rules(sums: Sums) -> list[Rule]:
    """Those that are asked for their sign alone; `signs.py` asks about the others."""
    return [
        Rule("$", _FACTORIAL, sums.factorial, first="!"),
        Rule("$", _COMPARE, sums.compare, first="<>=≤≥≦≧!≠≈≅≒:"),
        Rule("$", re.compile(r"[-−–](?=[.\d$€£¥])|-(?=[A-Za-z](?!\w))|(?<=\()-(?= \d)"), sums.minus, first=r"\-−–"),
    ]


class Sums:
    """How what is between two numbers is said."""

    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker
        self._words = speaker.words

    def factorial(self, match: re.Match[str]) -> str | None:
        """`5! = 120`; of `5!=120` and `x!=5` it is one only if that is true."""
        text, end = match.string, match.end()
        if text[end : end + 1] == "=":
            before, after = re.search(r"\d+\Z", text[: match.start()]), re.match(r"= ?(\d+)", text[end:])
            small = before is not None and len(before.group()) <= 2
            if not (before and after and small and math.factorial(int(before.group())) == int(after[1])):
                return None
        return self._words.factorial

    def compare(self, match: re.Match[str]) -> str:
        words = self._words
        nearly = f"is {words.about}" if self._speaker.code == "en" else words.about
        said = {
            "<": words.less, ">": words.more, "<=": words.at_most, "≤": words.at_most, ">=": words.at_least,
            "≥": words.at_least, "≦": words.at_most, "≧": words.at_least, "!=": words.not_equal, "≠": words.not_equal, "≈": nearly, "≅": nearly, "≒": nearly,
        }.get(match.group(), words.equals)  # fmt: skip
        if said == words.about and not self._speaker.spaced:
            said = self._about(match)
        if match.group() == ">" and _MENU.search(match.string, max(0, match.start() - 20), match.end() + 4):
            return words.pause
        if self._speaker.word_before(match.string, match.start()) in ("be", "is", "are", "was", "were"):
            return said.removeprefix("is ")
        before = match.string[: match.start()].rstrip()[-1:]
        alone = (
            match.string[match.start() - 1 : match.start()].isspace()
            and not match.string[match.end() : match.end() + 1].isspace()
        )
        operand = not alone and before.isalnum()
        if operand and said == "unos":
            said = "aproximadamente"
        return said if (operand or (not alone and before in ")|%°²³")) and before else said.removeprefix("is ")

    def _about(self, match: re.Match[str]) -> str:
        """*约等于*, *イコール約*; after a Japanese word *約* is enough."""
        if self._speaker.code == "zh":
            return "约等于"
        before = match.string[: match.start()].rstrip()[-1:]
        return self._words.about if CJK.match(before) else self._words.equals + self._words.about

    def minus(self, match: re.Match[str]) -> str | None:
        text, start = match.string, match.start()
        before = text[:start]
        after = text[match.end() : match.end() + 1]
        if after.isalpha() and before[-1:].isalnum():
            return ""
        if (before[-1:] and before[-1] in "²³") or (_COEFFICIENT.search(before) and FORMULA.search(text)):
            return self._words.subtracted
        if self._speaker.code == "fr" and _AGE.match(text, match.end()):
            return "moins de"
        if (before.endswith("%") and _EQUATED.match(text, match.end())) or _OPERATED.search(before):
            return self._words.subtracted
        if match.group() == "−":
            return self._words.minus
        if _COMMAND.search(before):
            return self._words.dash
        if after.isalpha() and before[-1:].isspace() and _WORD.search(before.rstrip()):
            return self._words.dash  # an option, `git commit -m`
        if re.search(r"[年月日号點点時时]\Z", before):
            return self._words.to
        if self._speaker.code == "zh" and _FALLS.search(before):
            return ""
        if self._speaker.code == "zh" and _BELOW_ZERO.match(text, match.end()):
            return "零下"
        if CJK.match(before[-1:]) or before[-1:].isspace() or not before or before[-1:] in "({[|=<>+*/×÷^√\"'“«:≈~":
            return self._words.minus
        if re.search(
            r"(?:[\d%°€$£]|\d (?:BCE?|CE|AD)|\d[kKMBTmbn]{1,2}|[ap]\.?m\.?|[ap]m|h|\d0s|°[CF])\Z", before, re.IGNORECASE
        ):
            return self._words.to
        return ""

    def plus(self, text: str, start: int, before: str, after: str) -> str:
        """*plus*; in Chinese before what is no sum *上涨百分之十二*, *加百分之十二*, *零上五摄氏度*."""
        if self._speaker.code != "zh" or not after.isdigit() or _ends_term(before):
            return self._words.plus
        if _RISES.search(text, 0, start):
            return ""
        if _BELOW_ZERO.match(text, start + 1):
            return "零上"
        joins = CJK.match(before) and before not in "为是于"
        return "加" if joins or _PERCENTAGE.match(text, start + 1) else "正"

    def slash(self, text: str, start: int, before: str, after: str) -> str:
        """*over*, *per*, *divided by*, or a pause; nothing between words."""
        if re.match(r"/\d{1,2} ?h(?!\w)", text[start:]) and self._speaker.spaced:
            return _EVERY[self._speaker.code]
        pair = self._speaker.word_before(text, start), self._speaker.word_after(text, start + 1)
        if self._speaker.code in _OR and before.isalpha() and {pair[0].lower(), pair[1].lower()} <= _ARTICLES:
            return _OR[self._speaker.code]
        if before and before in ".%" and pair[1] in _PERIODS:
            return self._words.per  # 40 Std./Woche, 2 %/jour
        if before == "." and after.isalpha() and self._speaker.spaced:
            return self._words.pause  # M./Mme
        if LETTER.match(before) and LETTER.match(after):
            if _DERIVED.search(text, max(0, start - 4), start) and _BY.match(text, start + 1):
                return self._words.over
            if before in "fƒ" and after.isdigit() and LONE_LETTER.search(text, 0, start) and "=" not in text:
                return ""  # a lens
            if before in "元円块" and CJK.match(after):
                return self._words.per if self._speaker.code == "zh" else self._words.pause
            unit = self._speaker.word_after(text, start + 1)
            if unit in _PERIODS:
                return self._words.per
            if after.isdigit() and not before.isdigit() and not LONE_LETTER.search(text, 0, start):
                return self._words.pause  # 180 °C/350 °F
            letters = LONE_LETTER.search(text, 0, start) and LONE_LETTER.match(text[start + 1 :][:1]) and len(unit) == 1
            if letters and "=" in text and text[start - 1 : start + 2] not in ("I/O", "N/A"):
                return self._words.over if self._speaker.spaced else self._words.divided
            formula = before.isdigit() or before in "²³" or (after.isdigit() and LONE_LETTER.search(text, 0, start))
            if re.match(r"/0\d", text[start:]):
                return self._words.slash  # a file's number
            formula = formula or (
                not self._speaker.spaced and "=" in text and _LETTERS.match(text, start - 1) is not None
            )
            over = self._words.over if self._speaker.language.spaced else self._words.divided
            return over if formula else ""
        if before == ")" and after.isalpha() and self._speaker.spaced:
            return self._words.over
        math = text[:start].rstrip()[-1:], text[start + 1 :].lstrip()[:1]
        if is_operand(math[0], ")") and is_operand(math[1], "("):
            return self._words.divided
        if LONE_LETTER.search(text[:start].rstrip()) and re.match(r" ?[^\W\d_](?!\w)", text[start + 1 :]):
            return self._words.divided
        if before.isspace() and after.isspace():
            named = math[1].isalpha() and self._speaker.spaced  # IMC = poids / taille²
            terms = math[0].isalnum() and (math[1].isdigit() or named) and "=" in text
            return self._words.divided if terms else self._words.pause
        return self._words.slash if LETTER.match(after) else ""


def _ends_term(char: str) -> bool:
    """Whether a sum may go on after this character."""
    return (char.isascii() and char.isalnum()) or (char != "" and char in "²³)）…⋯ₙₖₘᵢⱼ₀₁₂₃₄₅₆₇₈₉")


def is_operand(char: str, bracket: str) -> bool:
    """Whether a sum may have `char` beside a sign."""
    return bool(char) and (char.isdigit() or char == bracket)
