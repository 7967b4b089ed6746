"""Where a piece is cut that grows too long: at its last comma, or the last space, or between letters where there is none."""

from __future__ import annotations

import re

SOFT_CHARS = 220
"""A piece that grows longer than this is cut at the last comma, or the last space."""
SOFT_CHARS_CJK = 80
"""No text is cut for its length below this."""
CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
IS_CJK = re.compile(f"[{CJK}]")
_CLAUSE = re.compile(r"[,;:，；：](?=\s|[\u3000-\u9fff])|\s[—–-](?=\s)|[，、；：—]")

_PHRASE_END = re.compile(
    "(?<=[てでがはをにもばら])(?=[\u3400-\u9fff\u30a1-\u30fa])|(?<=[了吧吗呢啊呀嘛])(?=[\u3400-\u9fff])|"
    "(?=然后|但是|所以|因为|如果|而且|并且|或者|不过|同时|以及|希望|最后)"
)
"""In Japanese a particle before another script, in Chinese a particle that ends, or a word that begins."""


def too_long(text: str, upto: int) -> int:
    """Where a piece that is too long is cut, looking no further than `upto`; -1 if it is not too long."""
    if upto < SOFT_CHARS_CJK:
        return -1
    limit = SOFT_CHARS
    if len(IS_CJK.findall(text, 0, SOFT_CHARS_CJK)) > SOFT_CHARS_CJK // 2:
        limit = SOFT_CHARS_CJK
    if upto <= limit + 1:
        return -1
    least = limit // 3
    clauses = [found.end() for found in _CLAUSE.finditer(text, least, limit)]
    for end in reversed(clauses):
        if not (text[end - 2].isdigit() and text[end : end + 2].strip()[:1].isdigit()):
            return end
    space = text.rfind(" ", least, limit)
    while space > 0 and text[space - 1].isdigit() and text[space + 1].isdigit():
        space = text.rfind(" ", least, space)
    return space if space > 0 else _between(text, limit)


def _between(text: str, limit: int) -> int:
    """A cut in text without spaces: where a phrase ends if one does, else between letters, and not within a number."""
    if phrases := [found.start() for found in _PHRASE_END.finditer(text, limit * 2 // 3, limit + 1)]:
        return phrases[-1]
    for at in range(limit, limit // 2, -1):
        if not (text[at - 1].isdigit() and text[at].isdigit()) and not text[at - 1].isascii():
            return at
    return limit
