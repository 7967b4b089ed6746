"""What companies, people, laws and files are registered under."""

from __future__ import annotations

import re

from mirza.speech.text.say.base import MANY_DIGITS, Rule, Speaker
from mirza.speech.text.say.spelling import french_pair, grouped, pause

_REGISTERED = re.compile(r"(?:FR|DE|ES|BE|AT|IT)?[ ]?\d{2,}(?:[ \xa0\u202f]\d{2,})+(?!\d)")
"""A number of a company or a person, in groups."""
_REGISTERED_WHOLE = re.compile(r"\d{7,}(?!\d)")
_PERSON = re.compile(r"\d{1,3}(?:[ \xa0\u202f]\d{2,3}){4,}(?!\d)")
_REGISTERS = re.compile(
    r"(?:siret|siren|rcs|tva|nir|sécu|sociale|intracom(?:\.|munautaire)|steuer-?id|\w+nummer|idnr\.?|postfach|"
    r"(?:compte|dossier|contrat|client|afiliación|cuenta|expediente|konto)(?=\s*(?:n[°.º]|:)))[\s.:°ºn]{0,6}(?:[A-Z]{2} ?)?\Z",
    re.IGNORECASE,
)
_FILED = re.compile(r"(?<![\d/])\d+/\d{5,}(?:/\d+)?(?![\d/])")


def rules(speaker: Speaker) -> list[Rule]:
    """French ones, then those after a word that tells of them."""
    words, between = speaker.words, pause(speaker)

    def groups(match: re.Match[str]) -> str:
        return grouped(speaker, match.group())

    def registered(match: re.Match[str]) -> str | None:
        return (
            speaker.join(*re.findall("[A-Z]", match.group()), grouped(speaker, match.group()))
            if _REGISTERS.search(match.string, 0, match.start())
            else None
        )

    def person(match: re.Match[str]) -> str | None:
        """`2 84 05 75 123 456 78`: groups that are no thousands"""
        groups = match.group().split()
        if all(len(group) == 3 for group in groups[1:]):
            return None
        return between.join(
            french_pair(speaker, group) if len(group) == 2 else speaker.number(group) for group in groups
        )

    def docket(match: re.Match[str]) -> str:
        """*zéro trois tiret dix point neuf cent vingt-et-un*"""
        said = {"-": words.dash, ".": speaker.point("."), "/": words.slash}
        return speaker.join(*(said.get(part) or speaker.number(part) for part in re.findall(r"\d+|\D", match.group())))

    def law(match: re.Match[str]) -> str:
        """*article L cent vingt-et-un tiret trois*"""
        return f" {words.dash} ".join(speaker.number(part) for part in match.group().split("-"))

    french = [
        Rule("0", _PERSON, person, then=r"[ \xa0\u202f]\d"),
        Rule(
            "0",
            re.compile(r"(?:(?<=[LRD]\. )|(?<=icle )|(?<=art\. ))\d{1,4}(?:-\d{1,3})+(?![\w-])"),
            law,
            then=r"-\d",
        ),
    ]
    return [
        *(french if speaker.code == "fr" else []),
        Rule("0a", _REGISTERED, registered, then=r"[ \xa0\u202f]\d\d", first="FDEBAI", least=2),
        Rule("0", _REGISTERED_WHOLE, registered, least=MANY_DIGITS),
        Rule("0", re.compile(r"(?<=[°º.] )\d+-\d+\.\d+(?![\d-])"), docket, then=r"-\d"),
        Rule("0", _FILED, groups, then=r"/\d{3}"),
    ]
