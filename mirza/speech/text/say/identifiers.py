"""Accounts, network cards, and the names that papers and records have: IBAN, UUID, DOI."""

from __future__ import annotations

import re

from mirza.speech.text.say.base import Rule, Speaker
from mirza.speech.text.say.spelling import pause, spelled

_IBAN = re.compile(r"[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![\w])")
_HARDWARE = re.compile(r"[\dA-F]{2}(?:[:-][\dA-F]{2}){5}(?!\w)")
"""The address of a network card."""
_UUID = re.compile(r"[\da-fA-F]{8}(?:-[\da-fA-F]{4}){3}-[\da-fA-F]{12}(?!\w)")
_DOI = re.compile(r"10\.\d{4,5}/[\w./()-]*\w")
_ARXIV = re.compile(r"(?<=arXiv:)\d{4}\.\d{4,5}(?:v(\d+))?(?!\w)")


def rules(speaker: Speaker) -> list[Rule]:
    """Each told by its form."""
    numbers, words, between = speaker.numbers, speaker.words, pause(speaker)

    def iban(match: re.Match[str]) -> str:
        characters = re.sub(r"\s", "", match.group())
        groups = [characters[at : at + 4] for at in range(0, len(characters), 4)]
        return between.join(spelled(speaker, group) for group in groups)

    def uuid(match: re.Match[str]) -> str:
        return between.join(spelled(speaker, group) for group in match.group().split("-"))

    def doi(match: re.Match[str]) -> str:
        """*ten dot one zero three eight slash nature one four five three nine*"""
        prefix, _, suffix = match.group().partition("/")
        name = [numbers.digits(part) if part.isdecimal() else part for part in re.findall(r"\d+|[A-Za-z]+", suffix)]
        publisher = numbers.digits(prefix.partition(".")[2])
        return speaker.join(numbers.cardinal(10), words.dot, publisher, words.slash, *name)

    def arxiv(match: re.Match[str]) -> str:
        first, _, second = match.group().partition("v")[0].partition(".")
        version = f"v {speaker.number(match[1])}" if match[1] else ""
        return speaker.join(numbers.digits(first), words.dot, numbers.digits(second), version)

    def hardware(match: re.Match[str]) -> str:
        return between.join(spelled(speaker, pair) for pair in re.split("[:-]", match.group()))

    return [
        Rule("a", _IBAN, iban, first="A-Z"),
        Rule("0a", _UUID, uuid, then=r"[\da-fA-F-]", first="A-Fa-f"),
        Rule("0", _DOI, doi, then=r"\.\d", least=2),
        Rule("0", _ARXIV, arxiv, then=r"\.\d", least=4),
        Rule("0a", _HARDWARE, hardware, then=r"[A-F]?[-:][\dA-F]{2}[-:]|[A-F][-:][\dA-F]{2}", first="A-F"),
    ]
