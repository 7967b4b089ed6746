"""What a German 1 is called before a noun, by the words around it: *einen Apfel*, *vor einem Jahr*, *seit einer Woche*."""

from __future__ import annotations

import re

from mirza.speech.text.numbers import FEMININE
from mirza.speech.text.say.base import Speaker

_ACCUSATIVE = frozenset("für ohne durch gegen um pro je".split())
_DATIVE = frozenset("mit nach vor seit aus bei von zu ab".split())
_DURATIONS = frozenset("sekunde minute stunde tag woche monat jahr jahrhundert".split())
_VERBS = re.compile(
    r"\b(?:habe?n?|hast|hat|hatten?|brauch(?:e|st|t|en)|benötig(?:e|st|t|en)|nimm|nehmen?|nimmt|nehmt|kauf(?:e|st|t|en|te|ten)?|"
    r"ess?en?|isst|iss|trinke?n?|trinkt|gib|gibt|gab|geben?|sehen?|sieht|finde?n?|findet|fand|mach(?:e|st|t|en|te)?|"
    r"bekomm(?:e|st|t|en)|bekam|kostet?e?n?|dauert?e?n?|enthält|enthalten|verlor|verliert|gewann|gewinnt|schrieb|schreibt?|bestell(?:e|t|en|te)|"
    r"wähl(?:e|t|en)|füge|fügen|schneiden?|gießen?|möchten?|möchte|wiegt|trägt|erzielte|schoss|wart(?:e|et|en|ete)|lies|lest|"
    r"gebe|hole?|holt|verwende?n?|erhält|erhalten|spar(?:e|t|en)|zahl(?:e|t|en|te)|liegt noch|fehlt mir)\b[^,;:.!?]*\Z",
    re.IGNORECASE,
)
"""Verbs that a thing is the object of, from there to the number in one clause."""
_BETWEEN = re.compile(r"\b(?:mit|von|bei|aus|nach|zu|in|an|auf)\b", re.IGNORECASE)
_CHAINED = re.compile(r"([^\W\d_]+) 1 [^\W\d_]+ (?:und|oder) \Z")
"""*für einen Tag und einen Monat*"""


def one(speaker: Speaker, text: str, start: int, noun: str) -> str:
    """*einen*, *einem* or *einer*; empty where it is *ein* or *eine*."""
    chained = _CHAINED.search(text, max(0, start - 60), start)
    before = (chained[1] if chained else speaker.word_before(text, start)).lower()
    nouns = speaker.language.nouns
    feminine = nouns.gender(noun) == FEMININE
    if before in _DATIVE or (before in ("in", "innerhalb") and noun.lower() in _DURATIONS):
        return "einer" if feminine else "einem"
    if noun.lower() not in nouns.masculine or feminine:
        return ""
    if before in _ACCUSATIVE:
        return "einen"
    clause = _VERBS.search(text, max(0, start - 80), start)
    return "einen" if clause and not _BETWEEN.search(clause.group()) else ""
