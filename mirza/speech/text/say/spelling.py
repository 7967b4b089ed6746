"""Digit by digit, letter by letter, pair by pair: what all codes share."""

from __future__ import annotations

import re

from mirza.speech.text.say.base import Speaker


def pause(speaker: Speaker) -> str:
    """What is between two groups."""
    return speaker.words.pause + (" " if speaker.spaced else "")


def grouped_digits(speaker: Speaker, written: str) -> str:
    """The digits of each group."""
    return pause(speaker).join(speaker.numbers.called(group) for group in re.split(r"\D+", written) if group)


def grouped(speaker: Speaker, written: str) -> str:
    """The digits of each group, and the plus before them."""
    return speaker.join(speaker.words.plus if written.startswith("+") else "", grouped_digits(speaker, written))


def french_pair(speaker: Speaker, pair: str) -> str:
    """*zéro six*, *trente-quatre*"""
    if pair[0] == "0" and len(pair) == 2:
        return f"{speaker.numbers.cardinal(0)} {speaker.numbers.cardinal(int(pair[1]))}"
    return speaker.numbers.cardinal(int(pair))


def spelled(speaker: Speaker, characters: str) -> str:
    """Letter by letter and digit by digit."""
    said = [speaker.numbers.digits(char) if char.isdigit() else char.upper() for char in characters]
    return " ".join(said)
