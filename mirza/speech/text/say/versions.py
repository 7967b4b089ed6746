"""Versions and addresses of machines: numbers with points between them."""

from __future__ import annotations

import re

from mirza.speech.text.say.base import Rule, Speaker
from mirza.speech.text.say.spelling import pause

_IP = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}(?:(?P<sign>[:/])\d{1,5})?(?![\w.]*\d)")
_VERSION = re.compile(
    r"[vV]?\d+(?:\.\d+){2,5}(?!\d)(?:-(?:alpha|beta|rc|dev|pre)(?:\.?\d+)?(?!\w))?|[vV]\d+(?:\.\d+)?(?!\d)(?:-(?:alpha|beta|rc|dev|pre)(?:\.?\d+)?(?!\w))?"
)
_DATE = re.compile(r"(?:0?[1-9]|[12]\d|3[01])\.(?:0?[1-9]|1[0-2])\.(?:\d{4}|\d{2})")
_ENGINE = re.compile(r"V\d{1,2}")


def rules(speaker: Speaker) -> list[Rule]:
    """Four parts are an address; two are a version after what has one."""
    numbers, words, between = speaker.numbers, speaker.words, pause(speaker)

    def ip(match: re.Match[str]) -> str:
        address, _, port = match.group().partition(match["sign"] or ":")
        said = f" {words.dot} ".join(_ip_part(speaker, part) for part in address.split("."))
        said = said if speaker.language.spaced else said.replace(" ", "")
        if match["sign"] == "/":
            return speaker.join(said, words.slash, speaker.number(port))
        return said + (between + numbers.digits(port) if port else "")

    def after_cue(match: re.Match[str]) -> bool:
        return speaker.word_before(match.string, match.start()).lower() in speaker.language.version_cues

    def version(match: re.Match[str]) -> str | None:
        text = match.group()
        if _ENGINE.fullmatch(text) and speaker.spaced:
            return None
        if speaker.language.comma_decimal and _DATE.fullmatch(text) and not after_cue(match):
            return None
        if re.fullmatch(r"\d{1,3}(?:\.\d{3})+", text) and speaker.language.comma_decimal:
            return None  # thousands
        text, _, stage = text.partition("-")
        parts = text.lstrip("vV").split(".")
        dot = speaker.point(".") if speaker.code != "fr" else "point"
        said = f" {dot} ".join(speaker.number(part) for part in parts)
        said = said if speaker.language.spaced else said.replace(" ", "")
        name = {"zh": "版本", "ja": "バージョン", "es": "versión"}.get(speaker.code, "version")
        if stage:
            said = speaker.join(said, *(_version_part(speaker, part) for part in re.findall(r"\d+|[a-z]+", stage)))
        called = speaker.word_before(match.string, match.start()).lower() in (name, "version", "versión") or (
            not speaker.spaced and speaker.word_before(match.string, match.start()).endswith((name, f"{name}号"))
        )
        return speaker.join(
            ("" if called else name if speaker.code != "de" else "Version") if text[0] in "vV" else "", said
        )

    def named_version(match: re.Match[str]) -> str | None:
        if not after_cue(match):
            return None
        dot = "point" if speaker.code == "fr" else speaker.point(".")
        return speaker.join(speaker.number(match[1]), dot, speaker.number(match[2]))

    return [
        Rule("0", _IP, ip, then=r"\.(?:\d{1,2}\.|\d{3})"),
        Rule("0a", _VERSION, version, then=r"\.(?:\d{1,2}\.|\d{3})", first="vV"),
        Rule("0", re.compile(r"(\d+)\.(\d+)(?![\d.,]*\d)"), named_version, then=r"\.\d"),
    ]


def _version_part(speaker: Speaker, part: str) -> str:
    return speaker.number(part) if part.isdigit() else part


def _ip_part(speaker: Speaker, part: str) -> str:
    """In English, Chinese and Japanese the digits of an address are said one by one, elsewhere as numbers."""
    if speaker.language.comma_decimal:
        return speaker.numbers.cardinal(int(part))
    return speaker.numbers.digits(part)
