"""Words that are not said as they are spelled: abbreviations, initials, Roman numerals."""

from __future__ import annotations

import re

from mirza.speech.text.language import BEFORE_NUMBER
from mirza.speech.text.numbers import COUNTING, FEMININE, MASCULINE
from mirza.speech.text.places import CJK, any_of
from mirza.speech.text.say.base import Rule, Speaker, first_of, german_ending
from mirza.speech.text.say.readings import readings

_INITIALS = re.compile(r"(?:[A-Z]\.){2,}(?:['’]s(?!\w))?|[A-Z]\.(?:[A-Z]\.)*(?=\s?[A-Z][\w.])")
_ROMAN = re.compile(r"([IVX]{1,8}|[IVXLCDM]{2,9})(er|re|ère|e|ème|ᵉ)?(?![^\W_])")
_GERMAN_ROMAN = re.compile(r"([IVX]{1,8})()\.(?=\s+[a-zäöü]|[,;:)])")
_GERMAN_ORDINAL = re.compile(r"([IVX]{1,8})\.(?=\s+[A-ZÄÖÜ])")
_ARTICLES = frozenset("der die das dem den des im zum vom am beim".split())
_SMALL_ROMAN = re.compile(r"[ivx]{2,7}(?![^\W_])")
_SMALL_BEFORE = re.compile(
    r"(?:\b(?:pp?|sc|ch|vol|no|art|sect?|para|fig|l|ll)\.|\b[Ss]cene|\b[Pp]ages?|\b[Cc]hapter|\b[Pp]art|\b[Ii]tem|[ivx][-–,]|\d[:.]) ?\Z"
)
_VALID = re.compile(r"M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})")
_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_LARGE = frozenset("LCDM")
"""Letters that make other words, too: as numerals only where a cue is before them."""
_NUMBER = re.compile(r"[-+−~≈]?\d|[A-Z]{1,4}[.-]? ?\d|[A-HJ-Z](?![\w'’])|(?:[IVXL]{2,}|[VX]|[ivx]{2,})(?!\w)")
_ROMAN_SPAN = re.compile(r"([IVX]{1,8})[-–]([IVX]{1,8})(?![^\W_])")
_ONE = re.compile(r"(?:(?<![\d/])(?:1|½|[01][.,]\d+|1/\d)|\b[Uu]ne)[ \xa0\u202f](?:de[ \xa0])?\Z")
_CENTURY = re.compile(r"[IVX]+e[ \xa0]\Z")
_CHAINED = re.compile(r"\b[IVX]+(?:,? (?:and|or|to|et|ou|à|und|oder|bis|y|o|a|al) |, )\Z")
"""*siglos XV y XVI*: what is said of the first is said of the second."""
_COUNTED = re.compile(r"[ \xa0](?:[A-ZÀ-Þ]\w+s\b|d[eu]\b ?(?:l['’ ]|la )?(?:article|présent|loi|même|[A-Z]\w+))")
"""After a French numeral: *les VI Nations*, *le II de l'article 5*."""
_ADJECTIVES = frozenset(["máx.", "mín.", "incl.", "excl."])
"""These agree with the noun before them."""
_BEFORE_NAME = frozenset(["D.", "M.", "MM."])
_OF_NO_DAY = re.compile(r"\b[Tt]he |^\W*\Z")
"""*depends on the Sun.*"""
_NAME_BEFORE = re.compile(r"[A-Z][\w.'’&]*,? \Z")
_RANK = re.compile(r"\d(?:st|nd|rd|th) \Z")
_PRICE, _ASIDE = re.compile(r"[$€£]\d[\d.,]* \Z"), re.compile(r"(?:\A|\(|[,;–] ?)\Z")
_AMOUNT = re.compile(r"[\d½⅓⅔¼¾⅛] \Z")
_AFTER_ONE = frozenset("of and or to is has in for with on through".split())
_THIRD_PERSON = frozenset(
    "is has does contains consists begins ends deals tells covers remains appears follows".split()
)
"""What no one says of himself: *Faust I is*."""
_ENGLISH_VERBS = frozenset("was is had of and ruled reigned died became won lost fought invaded founded".split())


def triggers() -> frozenset[str]:
    """Small Roman numerals."""
    small = (f"{tens}{ones}" for tens in ("", "x", "xx") for ones in ("", *"i ii iii iv v vi vii viii ix".split()))
    return frozenset(numeral for numeral in small if len(numeral) > 1)


def rules(speaker: Speaker) -> list[Rule]:
    """Abbreviations first."""
    table = speaker.language.abbreviations
    dotted = any_of([name for name in table if name.lower() in BEFORE_NUMBER])
    pattern = re.compile(rf"(?:{any_of(table)})(?![^\W{CJK}])|(?:{dotted})(?=\d)")
    shorts = _Shorts(speaker)
    return [
        Rule("a", pattern, shorts.abbreviation, first=first_of(table) if table else ""),
        Rule("a", _INITIALS, shorts.initials, first="A-Z"),
        *([Rule("a", re.compile(r"str\."), shorts.street, tight=True, first="s")] if speaker.code == "de" else []),
        *([Rule("a", _GERMAN_ROMAN, shorts.roman, first="IVX")] if speaker.code == "de" else []),
        *([Rule("a", _GERMAN_ORDINAL, shorts.roman_ordinal, first="IVX")] if speaker.code == "de" else []),
        Rule("a", _ROMAN_SPAN, shorts.roman_span, first="IVX"),
        Rule("a", _ROMAN, shorts.roman, first="IVXLCDM"),
        Rule("a", _SMALL_ROMAN, shorts.small_roman, first="ivx"),
    ]


class _Shorts:
    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker

    def abbreviation(self, match: re.Match[str]) -> str | None:
        written, text = match.group(), match.string
        if text[match.start() - 1 : match.start()] == "." and text[match.start() - 2 : match.start() - 1].isalpha():
            return None  # m.p.
        rest = text[match.end() :].lstrip(" \xa0\u202f")
        numbered = rest[:1].isalnum() if written[-1] in "°º" else _NUMBER.match(rest) is not None
        for reading in readings(self._speaker.code, written):
            if reading.before.search(text, 0, match.start()) and reading.after.match(rest):
                return reading.said and reading.said + _stop(written, rest)
        if written in ("s.", "S.") and self._speaker.code in ("fr", "es"):
            numbered = _CENTURY.search(text[: match.start()]) is not None or re.match(r"[IVX]+(?!\w)", rest) is not None
        if self._speaker.code == "en" and (other := _english(written, text[: match.start()], rest)) is not None:
            return other or None
        if written.lower() in BEFORE_NUMBER and not numbered and not rest.startswith(("of ", "is ", "was ")):
            return None
        if (
            written in _BEFORE_NAME
            and not (rest[:1].isupper() and rest[1:2].islower())
            and not rest.startswith(("et M", "ou M", "/M"))
        ):
            return None
        if written == "St." and self._speaker.code == "en" and not rest[:1].isupper():
            return "Street" + _stop(written, rest)
        if (
            written.endswith(".")
            and written[:3] in ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
            and not rest.startswith(",")
            and (rest or _OF_NO_DAY.search(text, 0, match.start()))
        ):
            return None
        one, _, many = self._speaker.language.abbreviations[written].partition("|")
        if written in _ADJECTIVES:
            noun = self._speaker.word_before(text, match.start()) or self._speaker.cue_before(text, match.start())
            one = self._agreeing(one, noun)
        single = not many or _ONE.search(text[: match.start()])
        return (one if single else many) + _stop(written, rest)

    def _agreeing(self, adjective: str, noun: str) -> str:
        """*velocidad máxima*, *taxes incluses*; as it is where no noun is before it."""
        short = self._speaker.language.abbreviations.get(f"{noun}.", noun)
        if not short or short.isupper():
            return adjective  # IVA incluido
        if self._speaker.language.nouns.gender(short) == FEMININE:
            adjective = f"{adjective}e" if self._speaker.code == "fr" else f"{adjective.removesuffix('o')}a"
        plural = short.endswith(("s", "x")) and not adjective.endswith("s") and adjective[-2:] not in ("us",)
        return f"{adjective}s" if plural and self._speaker.code in ("fr", "es") else adjective

    def initials(self, match: re.Match[str]) -> str:
        rest = match.string[match.end() :].strip()
        letters, _, owned = match.group().replace(".", "").replace("’", "'").partition("'")
        return " ".join(letters) + (f"'{owned}" if owned else "") + _stop(match.group(), rest)

    def street(self, match: re.Match[str]) -> str:
        return "straße" + _stop(match.group(), match.string[match.end() :].strip())

    def roman_ordinal(self, match: re.Match[str]) -> str | None:
        """*das Zweite Vatikanische Konzil*"""
        before = self._speaker.word_before(match.string, match.start()).lower()
        if before not in _ARTICLES or not _VALID.fullmatch(match[1]):
            return None
        return self._speaker.numbers.ordinal(roman_value(match[1]), german_ending(self._speaker, match)).capitalize()

    def roman_span(self, match: re.Match[str]) -> str | None:
        """*one to three*"""
        first, last = match[1], match[2]
        if (
            not (_VALID.fullmatch(first) and _VALID.fullmatch(last))
            or roman_value(first) >= roman_value(last)
            or len(last) < 2
        ):
            return None
        cardinal = self._speaker.numbers.cardinal
        return self._speaker.join(cardinal(roman_value(first)), self._speaker.words.to, cardinal(roman_value(last)))

    def roman(self, match: re.Match[str]) -> str | None:
        letters, suffix = match[1], match[2]
        dotted = match.group().endswith(".")
        if not _VALID.fullmatch(letters):
            return None
        value = roman_value(letters)
        speaker = self._speaker
        large = not _LARGE.isdisjoint(letters)
        before = speaker.word_before(match.string, match.start())
        if suffix:
            if speaker.code != "fr":
                return None
            return speaker.numbers.ordinal(value, FEMININE if suffix in ("re", "ère") else MASCULINE)
        after = speaker.word_after(match.string, match.end())
        if before in speaker.language.roman_names and (
            letters != "I" or speaker.code != "en" or not after.islower() or after in _ENGLISH_VERBS
        ):
            return self._reign(value)
        if (
            letters == "I"
            and speaker.code == "en"
            and after in _THIRD_PERSON
            and before[1:].islower()
            and before[0].isupper()
        ):
            return speaker.numbers.cardinal(1)
        cue = speaker.cue_before(match.string, match.start())
        if chained := _CHAINED.search(match.string, 0, match.start()):
            cue = speaker.cue_before(match.string, chained.start())
        named = speaker.word_before(match.string, match.start())
        if letters == "I" and speaker.code == "en" and named.islower() and after.islower() and after not in _AFTER_ONE:
            return None  # the chapter I wrote
        if cue in speaker.language.roman_cues or f"{cue}." in BEFORE_NUMBER:
            return speaker.numbers.cardinal(value)
        if (
            speaker.code == "fr"
            and before in ("des", "les", "aux", "du", "au", "le")
            and _COUNTED.match(match.string, match.end())
        ):
            return speaker.numbers.cardinal(value)
        if speaker.code == "es" and after in ("Guerra", "República", "GM"):
            return speaker.numbers.ordinal(value, FEMININE)
        if dotted or large:
            return None
        return (
            speaker.numbers.cardinal(value)
            if len(letters) > 1 and before[:1].isupper() and before != before.upper()
            else None
        )

    def small_roman(self, match: re.Match[str]) -> str | None:
        """`p. xii`, `(ii)`; a word elsewhere."""
        letters = match.group().upper()
        bracketed = (
            match.string[match.start() - 1 : match.start()] == "("
            and match.string[match.end() : match.end() + 1] == ")"
        )
        if not _VALID.fullmatch(letters) or not (bracketed or _SMALL_BEFORE.search(match.string, 0, match.start())):
            return None
        return self._speaker.numbers.cardinal(roman_value(letters))

    def _reign(self, value: int) -> str:
        numbers = self._speaker.numbers
        match self._speaker.code:
            case "en":
                return f"the {numbers.ordinal(value)}"
            case "de":
                return f"der {numbers.ordinal(value, COUNTING).capitalize()}"
            case "es" if value <= 10:
                return numbers.ordinal(value)
            case "fr" if value == 1:
                return numbers.ordinal(1, MASCULINE)
            case _:
                return numbers.cardinal(value)


def _english(written: str, before: str, rest: str) -> str | None:
    """Abbreviations with two meanings, by what is beside them; empty where it is none, `None` for any other."""
    match written:
        case "v.":
            return "versus" if rest[:1].isupper() and _NAME_BEFORE.search(before) else ""
        case "c.":
            if _RANK.search(before):
                return "century" + _stop(written, rest)
            if _AMOUNT.search(before):
                return ("cup" if _ONE.search(before) else "cups") + _stop(written, rest)
            return "circa" if rest[:1].isdigit() else ""
        case "T.":
            return (
                ("tablespoon" if _ONE.search(before) else "tablespoons")
                if _AMOUNT.search(before) and rest[:1].islower()
                else ""
            )
        case "Dr." | "Dr" if not rest[:1].isupper():
            return "Drive" + _stop(written, rest)
        case "c/o":
            return "care of" if rest[:1].isupper() else "complaining of"
        case "St" if rest[:1] in ",;:.)" or rest[:1].isdigit():
            return "Street" if before[-2:-1].islower() else ""
        case "St" if not rest[:1].isupper():
            return ""
        case "pp":
            if _AMOUNT.search(before) and "%" in before:
                return "percentage points"
            return "per person" if _PRICE.search(before) else ""
        case "b." | "d." | "r." if not (
            _ASIDE.search(before) and re.match(r"(?:c\. ?)?(?:\d{4}(?!\d)|\d{1,3} BC)", rest)
        ):
            return ""
        case "est.":
            return "established" if re.match(r"\d{4}", rest) else "estimated" + _stop(written, rest)
        case _:
            return None


def _stop(written: str, rest: str) -> str:
    """The full stop that an abbreviation shares with its sentence."""
    return "." if written.endswith(".") and not rest.strip("\"'”’»)") else ""


def roman_value(letters: str) -> int:
    values = [_VALUES[letter] for letter in letters]
    return sum(-here if here < after else here for here, after in zip(values, [*values[1:], 0], strict=True))
