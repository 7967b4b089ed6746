"""Fractions: *one half*, *trois quarts*, *二分之一*."""

from __future__ import annotations

import re
import unicodedata

from mirza.speech.text.numbers import FEMININE, MASCULINE
from mirza.speech.text.say.base import SPACE, Rule, Speaker

VULGAR = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞⅐⅑⅒"
_FRACTION = re.compile(r"(?:(\d+) )?(\d{1,4})[/⁄](\d{1,4})(?![\d/])")
_COUNTED = re.compile(r"\d[ \xa0]([^\W\d_]{2,})[ \xa0]\Z")
"""What a half goes on with: `1 an 1/2`."""
_RATING = re.compile(r"(\d{1,2}[.,]\d{1,2})/(5|10|20|100)(?![\d/.,]*\d)")
_SETS = re.compile(r"[0-7]/[0-7](?:,? [0-7]/[0-7]){1,4}(?![\d/])")
"""Sets of tennis."""
_FRENCH_PARTS = re.compile(r"(\d{1,2})/(\d{1,4})(?:e|ème)s?(?!\w)")
_BLOOD_PRESSURE = re.compile(r"(?:[12]\d\d)[/⁄](?:\d\d|1\d\d)(?!\d)")
_MARKS = frozenset([5, 10, 20, 50, 100, 120, 150])
_SCORE = re.compile("分(?![钟之])|点")
"""What is behind `8/10` where it is a mark."""
_FEW = {"fr": ("demi", "tiers", "quart"), "de": ("halb", "Drittel", "Viertel"), "es": ("medio", "tercio", "cuarto")}


def rules(speaker: Speaker) -> list[Rule]:
    """Those written with a slash, and those that are one character."""
    fractions = _Fractions(speaker)
    parts = Rule("0", _FRENCH_PARTS, fractions.french_parts, then=r"/\d")
    return [
        *([parts] if speaker.code == "fr" else []),
        Rule("0", _RATING, fractions.rating, then=r"[.,]\d{1,2}(?:/|\Z)"),
        *([Rule("0", _SETS, fractions.sets, then=r"/[0-7],? (?:[0-7]|\Z)")] if speaker.spaced else []),
        Rule("0", _FRACTION, fractions.fraction, then=r"[/⁄ ]\d"),
        Rule("0", re.compile(rf"(\d+){SPACE}?([{VULGAR}])"), fractions.mixed, then=f"{SPACE}?[{VULGAR}]"),
        Rule("$a", re.compile(f"[{VULGAR}]"), fractions.vulgar, first=VULGAR),
    ]


MIXED = rf"(?:\d+[ ])?\d{{1,3}}[/⁄]\d{{1,4}}|\d+[ ]?[{VULGAR}]|[{VULGAR}]"
"""A number with a fraction: `1/2`, `1 1/2`, `1½`, `½`."""


def mixed(speaker: Speaker, written: str) -> str | None:
    """How such a number is said."""
    fractions = _Fractions(speaker)
    if match := _FRACTION.fullmatch(written):
        return fractions.fraction(match)
    if match := re.fullmatch(rf"(\d+) ?([{VULGAR}])", written):
        return fractions.mixed(match)
    return fractions.vulgar(vulgar) if (vulgar := re.fullmatch(f"[{VULGAR}]", written)) else None


def german_half(speaker: Speaker, noun: str, *, first: bool) -> str:
    """*eine halbe Stunde*, *ein halbes Kilo*, *einen halben Liter*, which is *ein halber Liter* where it comes `first`."""
    nouns = speaker.language.nouns
    if noun in nouns.neuter:
        return "ein halbes"
    if nouns.gender(noun) == FEMININE and noun[:1].isupper():
        return "eine halbe"
    if noun.lower() in nouns.masculine:
        return "ein halber" if first else "einen halben"
    return "ein halb"


class _Fractions:
    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker
        self._numbers = speaker.numbers

    def french_parts(self, match: re.Match[str]) -> str:
        """*un dixième*"""
        top = int(match[1])
        part = self._numbers.ordinal(int(match[2]), MASCULINE)
        return f"{self._numbers.cardinal(top, MASCULINE)} {part}{'s' if top > 1 else ''}"

    def sets(self, match: re.Match[str]) -> str | None:
        """*six à quatre, trois à six*; won and lost, or they are fractions"""
        sets = [(int(won), int(lost)) for won, lost in re.findall(r"(\d)/(\d)", match.group())]
        if all(won <= lost for won, lost in sets) or min(max(games) for games in sets) < 6:
            return None
        join, cardinal, to = self._speaker.join, self._numbers.cardinal, self._speaker.words.ratio
        return f"{self._speaker.words.pause} ".join(join(cardinal(won), to, cardinal(lost)) for won, lost in sets)

    def rating(self, match: re.Match[str]) -> str:
        """*four point seven out of five*"""
        speaker = self._speaker
        mark, best = speaker.number(match[1]), speaker.number(match[2])
        if not speaker.language.spaced:
            return f"满分{best}分，得{mark}分" if speaker.code == "zh" else f"{best}点満点中{mark}点"
        return speaker.join(mark, speaker.words.out_of, best)

    def fraction(self, match: re.Match[str]) -> str | None:
        top, bottom = int(match[2]), int(match[3])
        words = self._speaker.words
        if (top, bottom) in ((24, 7), (9, 11)) and not match[1]:
            return self._speaker.join(self._numbers.cardinal(top), self._numbers.cardinal(bottom))
        if match[3][0] == "0" and len(match[3]) > 1 and not match[1]:
            return self._speaker.join(
                self._numbers.cardinal(top), words.slash, self._numbers.digits(match[3])
            )  # VI ZR 83/04
        if bottom == 0 or (match[1] and top >= bottom):
            return None
        if self._speaker.code in ("zh", "ja") and _BLOOD_PRESSURE.fullmatch(match.group()):
            between = "比" if self._speaker.code == "zh" else "の"
            return self._numbers.cardinal(top) + between + self._numbers.cardinal(bottom)
        if self._speaker.code == "de" and _BLOOD_PRESSURE.fullmatch(match.group()):
            return self._speaker.join(self._numbers.cardinal(top), words.ratio, self._numbers.cardinal(bottom))
        if (
            self._speaker.code == "es"
            and self._speaker.word_after(match.string, match.end()) == "partes"
            and bottom > 2
        ):
            part = "tercera" if bottom == 3 else self._numbers.ordinal(bottom, FEMININE)
            return f"{self._numbers.cardinal(top, FEMININE)} {part}{'s' if top > 1 else ''}"
        if 1900 <= top < 2100 and bottom == (top + 1) % 100 and len(match[3]) == 2 and not match[1]:
            to = "" if self._speaker.spaced else words.to
            return self._speaker.join(self._numbers.year(top), to, self._numbers.cardinal(bottom))  # a season
        if top + bottom == 100 and top % 5 == 0 and not match[1]:
            return self._speaker.join(self._numbers.cardinal(top), self._numbers.cardinal(bottom))  # fifty fifty
        if 1900 <= bottom < 2100 and not match[1]:
            return self._speaker.join(self._numbers.cardinal(top), words.slash, self._numbers.year(bottom))  # a law
        if bottom in _MARKS and (score := _SCORE.match(match.string, match.end())) is not None:
            return (
                self._numbers.cardinal(bottom)
                + ("分里的" if score.group() == "分" else "点中")
                + self._numbers.cardinal(top)
            )
        if self._speaker.code == "es" and bottom == 10 and not re.match(" de(?:l| )", match.string[match.end() :]):
            return self._speaker.join(self._numbers.cardinal(top), words.out_of, self._numbers.cardinal(bottom))
        if (top, bottom) == (1, 2) and not match[1]:
            return self._half(match)
        return self._mixed(int(match[1]) if match[1] else 0, top, bottom)

    def _half(self, match: re.Match[str]) -> str:
        """A half of what follows: *une demi*, *media*, *eine halbe*."""
        feminine = self._speaker.gender_after(match.string, match.end()) == FEMININE
        noun = self._speaker.noun_after(match.string, match.end())
        known = self._speaker.language.nouns.function_words
        after = match.end() + 1 + len(noun)
        match self._speaker.code:
            case "fr" if counted := _COUNTED.search(match.string, 0, match.start()):
                feminine = self._speaker.language.nouns.gender(counted[1]) == FEMININE
                return "et demie" if feminine else "et demi"
            case "fr":
                return "une demi" if feminine else "un demi"
            case "es" if noun and (noun not in known or self._speaker.is_noun(noun, match.string, after)):
                return "media" if feminine else "medio"
            case "de":
                return german_half(self._speaker, noun, first=not match.string[: match.start()].strip())
            case _:
                return self._mixed(0, 1, 2)

    def mixed(self, match: re.Match[str]) -> str:
        return self._mixed(int(match[1]), *_ratio(match[2]))

    def vulgar(self, match: re.Match[str]) -> str:
        return self._half(match) if match.group() == "½" else self._mixed(0, *_ratio(match.group()))

    def _mixed(self, whole: int, top: int, bottom: int) -> str:
        speaker, cardinal = self._speaker, self._numbers.cardinal
        part = _fraction(speaker, top, bottom)
        if not whole:
            return part
        match speaker.code:
            case "en" if (top, bottom) == (1, 2):
                return f"{cardinal(whole)} and a half"
            case "en":
                return f"{cardinal(whole)} and {part}"
            case "fr" if bottom in (2, 3, 4):
                return f"{cardinal(whole)} et {'demi' if bottom == 2 else part}"
            case "de" if (top, bottom) == (1, 2):
                return "eineinhalb" if whole == 1 else f"{cardinal(whole)}einhalb"
            case "de":
                return f"{cardinal(whole)} {part}"
            case "es":
                return f"{cardinal(whole)} y {'medio' if bottom == 2 else part}"
            case "zh":
                return f"{cardinal(whole)}又{part}"
            case "ja":
                return f"{cardinal(whole)}と{part}"
            case _:
                return speaker.join(cardinal(whole), part)


def _fraction(speaker: Speaker, top: int, bottom: int) -> str:
    cardinal, words = speaker.numbers.cardinal, speaker.words
    match speaker.code:
        case "en":
            return _english_fraction(speaker, top, bottom)
        case "fr" if bottom in (2, 3, 4) and top < bottom:
            part = _FEW["fr"][bottom - 2]
            return f"{cardinal(top)} {part}{'s' if top > 1 and bottom == 4 else ''}"
        case "fr" if top < bottom <= 9:
            return f"{cardinal(top, MASCULINE)} {speaker.numbers.ordinal(bottom, MASCULINE)}{'s' if top > 1 else ''}"
        case "de" if bottom == 2 and top == 1:
            return "ein halb"
        case "de" if top < bottom <= 19:
            part = _FEW["de"][bottom - 2] if bottom <= 4 else speaker.numbers.ordinal(bottom).capitalize()[:-1] + "el"
            return f"{speaker.numbers.cardinal(top, MASCULINE)} {part}"
        case "es" if top < bottom <= 10:
            part = _FEW["es"][bottom - 2] if bottom <= 4 else speaker.numbers.ordinal(bottom)
            return f"{cardinal(top, MASCULINE)} {part}{'s' if top > 1 else ''}"
        case "zh" | "ja":
            return f"{cardinal(bottom)}{'分之' if speaker.code == 'zh' else '分の'}{cardinal(top)}"
        case _:
            return speaker.join(cardinal(top), words.over, cardinal(bottom))


def _english_fraction(speaker: Speaker, top: int, bottom: int) -> str:
    cardinal = speaker.numbers.cardinal
    if top == bottom and bottom not in (5, 10, 20, 100):
        return f"{cardinal(top)} {cardinal(bottom)}"
    if (bottom in (10, 100) or (bottom in (20, 50) and top > 1)) and top <= bottom:
        return f"{cardinal(top)} out of {cardinal(bottom)}"
    if bottom == 1 or top >= bottom or bottom > 100:
        return f"{cardinal(top)} over {cardinal(bottom)}"
    part = {2: "half", 4: "quarter"}.get(bottom) or speaker.numbers.ordinal(bottom)
    plural = "halves" if part == "half" else part + "s"
    return f"{cardinal(top)} {part if top == 1 else plural}"


def _ratio(character: str) -> tuple[int, int]:
    top, bottom = unicodedata.normalize("NFKC", character).split("\u2044")
    return int(top), int(bottom)
