"""Text in which nothing could be markup: it is taken as it is, as far as it goes."""

from __future__ import annotations

import re

_MARK = r"\s*_`<\[\]!&\\~|$◁【\x00-\x1f\x7f"
_WORDS = rf"[^{_MARK}]{{1,200}}(?: [^{_MARK}]{{1,200}}){{0,40}}"
PLAIN = re.compile(rf"(?:(?<=\S) )?{_WORDS} ?")
"""Words with one space before, between and after them."""
ALL_PLAIN = re.compile(rf" ?{_WORDS} ?")
"""The same for all of a delta: what is before its first space is looked at by who asks."""
BOLD = re.compile(rf"(?<![\w)*])\*\*{_WORDS}\*\*(?=[^\w(*])")
"""Such words between two stars and two, which cannot be arithmetic."""
