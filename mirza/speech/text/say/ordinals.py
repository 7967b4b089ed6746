"""Ordinals and decades: before measures, or `1990s` would be seconds."""

from __future__ import annotations

import re

from mirza.speech.text.numbers import COUNTING, FEMININE, MASCULINE
from mirza.speech.text.say.base import ORDINALS_BEFORE, Rule, Speaker, german_ending

_ENGLISH_ORDINAL = re.compile(r"(\d{1,3}(?:,\d{3})+|\d+)(?:st|nd|rd|th)(?:[-–](\d+)(?:st|nd|rd|th))?(?!\w)")
_FRENCH_ORDINAL = re.compile(r"(\d+)(ers?|res?|ère|[eè]mes?|es?|nde?|ᵉ)(?!\w)")
_SPANISH_ORDINAL = re.compile(r"(\d+)\.?(º|ª|°|er|ro|do|to|mo|vo|no|ra|da|ta|ma|va|na)(?!\w)")
_GERMAN_ORDINAL = re.compile(r"(\d{1,3})\.(?=[ \xa0][^\W\d_]|,)")
_GERMAN_ORDINALS = re.compile(r"(\d{1,2})\./(\d{1,2})\.(?=[ \xa0][^\W\d_])")
_GERMAN_DAYS = re.compile(r"(\d{1,2})\. ?[–-] ?(\d{1,2})\.(?=[ \xa0][^\W\d_])")
_CLUB = re.compile(r" (?:FC|FSV|FFC|SC|TSV|Mose|Kor|Korinther|Samuel|Könige)\b")
_GERMAN_STEM_ORDINAL = re.compile(r"(\d{1,3})\.(?=-[^\W\d_])")
_GERMAN_LAST_ORDINAL = re.compile(r"(\d{1,3})\.(?=[\s\"“”»«)]*\Z)")
_GERMAN_AGE = re.compile(r"(\d{1,3}(?:,\d)?)(?: ?[-–] ?(\d{1,3}))? J\.(?=[,)]| [a-zäöü(])")
"""Joules have no full stop."""
_PRIMO = re.compile(r"([1-8])°(?= (?:de l['’]|du (?:présent|[IVX]|\d)|alinéa)|(?<=\A\d°) [A-ZÀ-Þ])")
_LATIN = "primo secundo tertio quarto quinto sexto septimo octavo".split()
"""*au secundo de l'article cinq*"""
_WARM = frozenset("a hace mide miden de son los unos hasta ángulo gira menos entre y".split())
"""After these `3°` is an angle or a temperature in Spanish."""
_GERMAN_MINUTE = re.compile(r"(\d{1,3})\.(?: ?\+ ?(\d{1,2}))?(?=[,)/])")
_OF_A_GOAL = re.compile(r"\((?:[^()]{0,40}[ ,/])?\Z")
_GOALS = re.compile(
    r"\b(?:führt|führen|Tore?|Torsch|Treffer|traf|trafen|Minute|Elfmeter|Spiel|gewann|siegte|schlug|verlor)",
    re.IGNORECASE,
)
_PREPOSITIONS = frozenset("in mit nach bei von zu aus seit auf an während unter vor trotz wegen ab".split())
_CHAIN = re.compile(r"(?:,? ?(?:und|oder|bis|sowie|/)? ?\d{1,2}\.)+")
"""*5. und 6.* Klasse"""
_COUNTED_TO = re.compile(r"\d bis \Z")
_DECADE = re.compile(r"['’]?(\d{2,3}0)s(?!\w)|['’](\d0)s(?!\w)|(\d0)s(?!\w)")
_GERMAN_DECADE = re.compile(r"(\d{1,3}0)er(n?)(?!\w)")


def rules(speaker: Speaker) -> list[Rule]:
    """What a language has of them."""
    ordinals = _Ordinals(speaker)
    own = {
        "en": [
            Rule("0", _ENGLISH_ORDINAL, ordinals.english_ordinal, then=r",\d|[snrt]"),
            Rule("0$", _DECADE, ordinals.decade, then="s", first="'’"),
        ],
        "fr": [
            Rule("0", _PRIMO, lambda match: _LATIN[int(match[1]) - 1], then="°"),
            Rule("0", _FRENCH_ORDINAL, ordinals.french_ordinal, then="[erènᵉ]"),
        ],
        "es": [
            Rule("0", _SPANISH_ORDINAL, ordinals.spanish_ordinal, then=r"\.?[ºª°erdtmvn]"),
        ],
        "de": [
            Rule("0", re.compile(r"1 (Mio|Mrd)\.?"), ordinals.german_million, then=" M"),
            Rule("0", _GERMAN_AGE, ordinals.german_age, then=r" J| ?[-–]|,\d"),
            Rule("0", _GERMAN_MINUTE, ordinals.german_minute, then=r"\."),
            Rule("0", _GERMAN_ORDINAL, ordinals.german_ordinal, then=r"\."),
            Rule("0", _GERMAN_ORDINALS, ordinals.german_ordinals, then=r"\."),
            Rule("0", _GERMAN_DAYS, ordinals.german_days, then=r"\."),
            Rule("0", _GERMAN_STEM_ORDINAL, lambda match: speaker.numbers.ordinal(int(match[1])), then=r"\."),
            Rule("0", _GERMAN_LAST_ORDINAL, ordinals.german_last_ordinal, then=r"\."),
            Rule("0", _GERMAN_DECADE, ordinals.german_decade, then="e"),
            Rule("0", re.compile(r"(\d{1,3})er(?!\w)"), ordinals.german_group, then="e"),
        ],
        "zh": [Rule("0", re.compile(r"(\d+)年代"), ordinals.chinese_decade, then="年")],
    }
    return own.get(speaker.code, [])


class _Ordinals:
    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker
        self._numbers = speaker.numbers

    def english_ordinal(self, match: re.Match[str]) -> str:
        first = self._numbers.ordinal(int(match[1].replace(",", "")))
        last = self._numbers.ordinal(int(match[2])) if match[2] else ""
        return self._speaker.join(first, self._speaker.words.to if last else "", last)

    def french_ordinal(self, match: re.Match[str]) -> str | None:
        value, suffix = int(match[1]), match[2]
        if suffix in ("nd", "nde"):
            return "second" if suffix == "nd" else "seconde"
        if suffix.startswith(("er", "r", "è")) and not suffix.startswith("ème"):
            feminine = not suffix.startswith("er")
        else:
            feminine = self._speaker.gender_after(match.string, match.end()) == FEMININE
        said = self._numbers.ordinal(value, FEMININE if feminine else MASCULINE)
        return said + "s" if suffix.endswith("s") else said

    def spanish_ordinal(self, match: re.Match[str]) -> str | None:
        value, suffix = int(match[1]), match[2]
        if value > 99 or value == 0:
            return None
        if suffix == "°" and (value > 12 or self._speaker.word_before(match.string, match.start()) in _WARM):
            return None
        if suffix == "er":
            return self._numbers.ordinal(value, MASCULINE)
        return self._numbers.ordinal(value, FEMININE if suffix == "ª" or suffix.endswith("a") else COUNTING)

    def german_ordinal(self, match: re.Match[str]) -> str | None:
        before = self._speaker.word_before(match.string, match.start())
        if match.string[: match.start()].rstrip()[-1:] in ("", "=", ":") and not _CLUB.match(match.string, match.end()):
            return None  # a result, or the number of an item
        if before.lower() in self._speaker.language.roman_cues and match.string[match.start() - 2] != ",":
            return None  # Absatz 2. Danach
        ending = german_ending(self._speaker, match)
        chained = ORDINALS_BEFORE.search(match.string, 0, match.start())
        article = self._speaker.word_before(match.string, chained.start()) if chained else before
        if ending == COUNTING and article.lower() == "der" and (_dative(match) or self._of_noun(match) == COUNTING):
            ending = "n"  # der with a feminine noun is no nominative
        if ending == "r":
            ending = self._of_noun(match)
        return self._numbers.ordinal(int(match[1]), ending)

    def german_age(self, match: re.Match[str]) -> str:
        """*siebenundsechzig Jahre*, *ab sechs Jahren*"""
        before = self._speaker.cue_before(match.string, match.start())
        years = (
            self._speaker.number(match[1]),
            "bis" if match[2] else "",
            self._speaker.number(match[2]) if match[2] else "",
        )
        dative = before in ("ab", "unter", "u", "mit", "von", "nach", "seit", "vor")
        return self._speaker.join(*years, "Jahren" if dative else "Jahre")

    def german_minute(self, match: re.Match[str]) -> str | None:
        """`(67.)`, the minute of a goal"""
        goal = _OF_A_GOAL.search(match.string, 0, match.start()) and _GOALS.search(match.string)
        if not goal and not match[2]:
            return None
        extra = f"plus {self._speaker.number(match[2])}" if match[2] else ""
        return self._speaker.join(self._numbers.ordinal(int(match[1])), "Minute", extra)

    def _of_noun(self, match: re.Match[str]) -> str:
        """The ending that the noun behind asks for where nothing before does: *dritte Etage*, *drittes Kapitel*."""
        chain = _CHAIN.match(match.string, match.end())
        noun = self._speaker.noun_after(match.string, chain.end() if chain else match.end())
        noun = self._speaker.language.abbreviations.get(noun, noun)
        if noun in self._speaker.language.nouns.neuter:
            return "s"
        before = self._speaker.word_before(match.string, match.start()).lower()
        if before in _PREPOSITIONS:
            return "r"  # in dritter Generation
        return COUNTING if noun[:1].isupper() and self._speaker.language.nouns.gender(noun) == FEMININE else "r"

    def german_ordinals(self, match: re.Match[str]) -> str:
        """*am dritten, vierten Mai*"""
        ending = german_ending(self._speaker, match)
        return ", ".join(self._numbers.ordinal(int(day), ending) for day in match.groups())

    def german_days(self, match: re.Match[str]) -> str:
        """*vom zwanzigsten bis zweiundzwanzigsten Juni*"""
        ending = german_ending(self._speaker, match)
        first, last = (self._numbers.ordinal(int(day), ending) for day in match.groups())
        return f"{first} {self._speaker.words.to} {last}"

    def german_last_ordinal(self, match: re.Match[str]) -> str | None:
        """*Wir treffen uns am dritten.*, *Er war der dritte.*"""
        before = self._speaker.word_before(match.string, match.start()).lower()
        ending = german_ending(self._speaker, match)
        if before == "bis" and _COUNTED_TO.search(match.string, 0, match.start()):
            return None  # von 1 bis 5.
        ranked = ending == "n" or before in ("der", "das", "dieser", "jeder", "jede", "jedes")
        return f"{self._numbers.ordinal(int(match[1]), ending)}." if ranked else None

    def decade(self, match: re.Match[str]) -> str:
        digits = match[1] or match[2] or match[3]
        if len(digits) == 4 or len(digits) == 3:
            value = int(digits)
            if value % 1000 == 0:
                return self._numbers.cardinal(value) + "s"
            words = self._numbers.year(value)
        else:
            words = self._numbers.cardinal(int(digits))
        return words[:-1] + "ies" if words.endswith("y") else words + "s"

    def german_million(self, match: re.Match[str]) -> str:
        return "eine Million" if match[1] == "Mio" else "eine Milliarde"

    def german_decade(self, match: re.Match[str]) -> str:
        return f"{self._numbers.year(int(match[1]))}er{match[2]}"

    def german_group(self, match: re.Match[str]) -> str:
        """*ein dreier Pack*"""
        return f"{self._numbers.cardinal(int(match[1]))}er"

    def chinese_decade(self, match: re.Match[str]) -> str:
        digits = match[1]
        return (self._numbers.year(int(digits)) if len(digits) == 4 else self._numbers.cardinal(int(digits))) + "年代"


def _dative(match: re.Match[str]) -> bool:
    """*in der dritten Klasse*, but *der dritte Platz*."""
    before = re.search(r"([^\W\d_]+)\s+[^\W\d_]+\s*\Z", match.string[: match.start()])
    return before is not None and before[1].lower() in _PREPOSITIONS
