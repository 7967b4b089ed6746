"""Numbers of telephones, as each language groups them."""

from __future__ import annotations

import re

from mirza.speech.text.say.base import Rule, Speaker
from mirza.speech.text.say.spelling import french_pair, grouped, grouped_digits, pause

_INTERNATIONAL = re.compile(r"(?:\+|00)(?!\d+\.\d+(?![\d.]|[ \xa0-]\d))\d{1,3}(?:[ .\xa0-]?\(?\d{1,4}\)?){2,6}(?!\d)")
"""With a country's number; `+12345.5` is none."""
_AMERICAN = re.compile(r"(?:1[-. ])?\(?\d{3}\)?[-. ]\d{3}[-. ]\d{4}(?!\d)|\d{3}-\d{4}(?![\d-]|\.\d)")
_FRENCH = re.compile(r"0\d(?:[ .\xa0-]\d{2}){4}(?!\d)|0[1-9]\d{8}(?!\d)")
_SPANISH = re.compile(
    r"[89]\d(?:[ .-]\d{3}[ .-]\d{2}[ .-]?\d{2}|(?:[ .-]\d{2}){2}[ .-]\d{3})(?!\d)|[6789]\d{2}[ -]?\d{3}[ -]?\d{3}(?!\d)|[6789]\d{2}(?: \d{2}){3}(?!\d)|"
    r"\d{2}[ -]\d{4}[ -]\d{4}(?!\d)|[2-9]\d{2}[ -]\d{3}[ -]\d{4}(?!\d)"
)
_CHINESE = re.compile(r"1[3-9]\d(?:[ -]?\d{4}){2}(?!\d)|[48]00(?:-\d{3,4}){2}(?!\d)")
_SHORT_NUMBER = re.compile(r"(?:(?<=le )|(?<=au ))[13]\d{3}(?![.,]?\d|[:/%-]|[ \xa0\u202f]?[€\d])")
_CALLS = re.compile(r"compos|appel|télépho|joign|joindre|numéro|serveur|urgence", re.IGNORECASE)


def rules(speaker: Speaker) -> list[Rule]:
    """Those with a country first."""
    numbers, words, between = speaker.numbers, speaker.words, pause(speaker)

    def groups(match: re.Match[str]) -> str:
        return grouped(speaker, match.group())

    def pairs(match: re.Match[str]) -> str | None:
        digits = re.sub(r"\D", "", match.group())
        if speaker.code != "fr" or len(digits) != 10:
            return None
        return between.join(french_pair(speaker, digits[at : at + 2]) for at in range(0, 10, 2))

    def international(match: re.Match[str]) -> str | None:
        digits = re.sub(r"\D", "", match.group())
        if not 8 <= len(digits) <= 15:
            return None
        if speaker.code == "fr" and match.group().startswith("+33"):
            rest = digits[2:].lstrip("0")
            heads = [rest[0], *(rest[at : at + 2] for at in range(1, len(rest), 2))]
            country = speaker.join(words.plus, numbers.cardinal(33))
            return between.join([country, *(french_pair(speaker, head) for head in heads)])
        if speaker.code == "es" and match.group().startswith("+34"):
            country = speaker.join(words.plus, numbers.cardinal(34))
            return between.join([country, grouped_digits(speaker, match.group()[3:])])
        return grouped(speaker, match.group())

    def short_number(match: re.Match[str]) -> str | None:
        """*le trente-neuf dix-neuf*"""
        if not _CALLS.search(match.string):
            return None
        return " ".join(french_pair(speaker, pair) for pair in (match.group()[:2], match.group()[2:]))

    def toll_free(match: re.Match[str]) -> str:
        """`1-800-FLOWERS`"""
        hundred = match[1].endswith("00")
        area = speaker.number(match[1]) if hundred else numbers.digits(match[1])
        return f"{numbers.digits('1')}{between}{area}{words.pause}"

    phones = {
        "en": [
            Rule("0", re.compile(r"1-(8\d\d)-(?=[A-Z]{2})"), toll_free, then="-8", least=1),
            Rule("0$", _AMERICAN, groups, then=r"[-. ](?:\d{3}|\(\d\d)|\)[-. ]\d\d", first="("),
        ],
        "fr": [
            Rule("0", _FRENCH, pairs, least=2, zero=True),
            Rule("0", _SHORT_NUMBER, short_number, least=4),
        ],
        "es": [Rule("0", _SPANISH, groups, least=2)],
        "zh": [Rule("0", _CHINESE, groups, least=3)],
    }

    return [
        Rule("0$", _INTERNATIONAL, international, first="+", least=3, zero=True),
        *phones.get(speaker.code, []),
    ]
