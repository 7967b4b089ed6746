"""A piece in parts that a voice says well: sentences, and clauses where a sentence is long."""

from __future__ import annotations

import re

SENTENCE_END = re.compile(r"(?<=[.!?…。！？])[\"'”’)\]]*\s+|(?<=[。！？])")
CLAUSE_END = re.compile(r"(?<=[,;:—–、，；：])\s*")
LONGEST = 220
"""Characters. Longer parts keep the listener waiting, and voices lose their breath in them."""


def speakable_parts(text: str) -> list[str]:
    """`text` in order, in parts of at most 220 characters; a part without a letter or digit is left out."""
    parts: list[str] = []
    for sentence in SENTENCE_END.split(text):
        parts += [sentence] if len(sentence) <= LONGEST else _clauses(sentence)
    return [part.strip() for part in parts if any(character.isalnum() for character in part)]


def _clauses(sentence: str) -> list[str]:
    parts = [""]
    for clause in CLAUSE_END.split(sentence):
        for words in _lines(clause):
            if parts[-1] and len(parts[-1]) + len(words) >= LONGEST:
                parts.append("")
            parts[-1] = f"{parts[-1]} {words}".strip()
    return parts


def _lines(clause: str) -> list[str]:
    """A clause that is itself too long, between words; a word that is, anywhere."""
    if len(clause) <= LONGEST:
        return [clause]
    cut = clause.rfind(" ", 0, LONGEST)
    cut = cut if cut > 0 else LONGEST
    return [clause[:cut], *_lines(clause[cut:].strip())]
