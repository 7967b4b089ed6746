"""Signs that only look nice: hearts, faces, arrows, tags."""

from __future__ import annotations

import re

from mirza.speech.text.say.base import Rule, Speaker
from mirza.speech.text.say.sums import LONE_LETTER
from mirza.speech.text.say.web import spell

_TAG = re.compile(r"</?([A-Za-z][\w-]*)[^<>]{0,80}>")
_HEART = re.compile(r"<3(?![\d.])|♥️?|❤️?")
_FACE = re.compile(
    r"(?:(?<![^\s(])[:;=8][-'^]?[()DPpOo|/\\3]|[:;][-'^]?[()DPp])(?![\w/])|\^_?\^|<\\?/3|[xX]D(?!\w)|¯\\?_\(ツ\)_/¯"
)
_ARROW = re.compile(r"<?(?:-{1,3}|={1,3})>|<-{1,2}|[←→↔⇒⇐⇔➡⟶➜➔⇌⇋⇄↦⟹⟸⟺]\ufe0f?|=>")
_HEARTS = {"en": "heart", "fr": "cœur", "de": "Herz", "es": "corazón", "zh": "爱心", "ja": "ハート"}


def rules(speaker: Speaker) -> list[Rule]:
    """A heart of two signs is said, and so is the name of a tag."""

    def heart(match: re.Match[str]) -> str | None:
        if not match.group().startswith("<"):
            return ""
        before = match.string[: match.start()].rstrip()
        if before.endswith("<3"):
            return ""
        word = speaker.word_before(match.string, match.start())
        variable = LONE_LETTER.search(before) or re.search(r"(?<![A-Za-z])[a-z]\Z", before)
        if before[-1:].isdigit() or (before[-1:] in "=+" and before) or (variable and word != "I"):
            return None
        return _HEARTS[speaker.code]

    def tag(match: re.Match[str]) -> str | None:
        inner = match.group().strip("<>/ ")
        return spell(speaker, re.sub(r"[\W_]+", " ", match[1] if "=" in inner else inner))

    return [
        Rule("$", _HEART, heart, first="<♥❤"),
        Rule("$", _FACE, lambda _: "", first=r":;=8\^<¯"),
        Rule("$", _TAG, tag, first="<"),
        Rule("$", _ARROW, lambda _: speaker.words.pause, first=r"<\-=←→↔⇒⇐⇔➡⟶➜➔⇌⇋⇄↦⟹⟸⟺"),
    ]
