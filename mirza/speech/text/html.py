"""HTML and its like in an answer: which tags are there only to be seen, and which ones part the text."""

from __future__ import annotations

import re

TAG = re.compile(
    r"<(/?)([A-Za-z][\w:.\-]{0,40})(?:\s+[\w:@.\-]+(?:\s*=\s*(?:\"[^\"<>]{0,1000}\"|'[^'<>]{0,1000}'|[^\s\"'<>]{1,300}))|"
    r"\s+(?:disabled|checked|controls|open|hidden|required|selected|async|defer))*\s*/?>|<([a-z]+)=[^<>\n]{1,60}>"
)
TAG_BEGUN = re.compile(
    r"</?(?:[A-Za-z][\w:.\-]{0,40}(?:\s+[\w:@.\-]+(?:\s*=\s*(?:\"[^\"<>]{0,1000}\"|'[^'<>]{0,1000}'|[^\s\"'<>]{1,300})))*"
    r"(?:\s+[\w:@.\-]{0,40}(?:\s*=\s*(?:\"[^\"<>]{0,1000}|'[^'<>]{0,1000}|[^\s\"'<>]{0,300})?)?)?\s{0,4}/?)?\Z|"
    r"<[a-z]+=[^<>\n]{0,60}\Z"
)
"""A tag of which the end may still come. An attribute has a value here, or `x <y and z` would wait for a `>`."""

ADDRESS = re.compile(r"<((?:https?://|mailto:)[^\s<>]{1,2000}|[\w.+\-]{1,64}@[\w.\-]{1,255})>")
ADDRESS_BEGUN = re.compile(
    r"<(?:h|ht|htt|https?:?/?|https?://[^\s<>]{0,2000}|m|mailto:?[^\s<>]{0,300}|[\w.+\-]{1,64}@?[\w.\-]{0,255})\Z"
)
"""`<https://example.org>` and `<anna@example.org>`."""

_PARTS = (
    "br p div li ul ol tr table h1 h2 h3 h4 h5 h6 hr blockquote section article header footer dl dt dd pre details "
    "summary body html title nav main aside figure figcaption thead tbody tfoot form"
)
_INLINE = (
    "a b i em strong u s del ins mark small big sub sup span code kbd samp var q cite abbr font center tt label button "
    "input img select option textarea td th caption video audio source iframe link meta ruby rt rp time data wbr bdi "
    "bdo dfn strike head "
    # speech markup, and what models wrap an answer in
    "speak voice prosody break emphasis say-as phoneme lang w "
    "answer response output result final final_answer reply message text content user assistant system"
)
PARTS = frozenset(_PARTS.split())
INLINE = frozenset(_INLINE.split())
UNSEEN = frozenset(["script", "style", "svg", "template", "noscript"])
"""Elements whose content is no text."""
