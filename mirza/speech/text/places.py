"""Where a sentence may not be said as it is written: one pattern, which finds the next such place.

A million characters have two hundred thousand words in them, so what the pattern costs is what it tries at each. It goes
from word to word: what may begin with a letter is tried at the start of a word only, and the other letters are passed over
as one. Each of the other alternatives begins with the character that it stands at, which is compared before anything
else is; what has to be before that is looked at last.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from mirza.speech.text.language import BEFORE_NUMBER

CJK = r"\u3040-\u30ff\u3400-\u9fff"
"""Between these and letters words may begin and end."""
NUMERALS = "ₐ-ₜᵢⱼ²³¹⁰-₉¼-¾⅐-ↈ①-⓿"
"""Characters that are numbers, and no digits."""

FACTORIAL_AFTER = r"\s?[=≠≈≤≥×÷^]|\s?[+\-−*/·]\s?(?:\d|\(|[a-z](?!\w))"
"""What follows a factorial's mark: it is a shout otherwise."""

_ODD = r"[\w.@$:+\-‑–·♠-♧]"
"""What the letters of all of these go on with, but for numerals: most words do not, and are told by it."""
_ODD_WORDS = (
    r"(?<![^\W_])[IVX]{1,8}(?:er|re|ère|e|ème)(?![^\W_])",
    r"(?<![^\W_])[IVX][IVXLCDM]{1,8}(?![^\W_])",
    r"(?<=[^\W\d_] )[IVX](?![\w'’])",
    r"(?<=\()[IVX](?= [A-Z])",
    r"(?<![^\W_])[a-z]{2}(?=[²³])",  # two factors: ax²
    rf"[IVX]{{1,8}}(?=[{CJK}・])|(?<=[{CJK}])[IVX]{{2,8}}(?![A-Za-z])",
    r"(?<![^\W_])[IVX]{1,8}[-–][IVX]{2,8}(?![^\W_])",
    rf"(?<![A-Za-z0-9])[A-H]\.(?=[{CJK}])",
    r"(?<=[京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼])[A-Z](?=·?[A-Z\d]{5})",  # a car's
    r"(?<=[万億亿])[A-Za-z]{1,3}(?![A-Za-z])",  # the unit of 4万km
    r"(?<![^\W_])[A-Z]\.(?=\s?[A-Z])",  # initials
    r"(?<![0-9])[A-Za-z]{1,8}+[-‑]?\d",  # a name with digits: MP3, GPT-4
    r"(?<![0-9])(?:https?://|www\.)",
    r"(?<![0-9_.])[A-Za-z0-9_.+-]++@(?=[\w-])",  # an address
    r"(?<![0-9_])[A-Za-z][\w-]{0,40}+(?=\.[A-Za-z])",  # a dotted name
    r"[A-Z]{1,2}\$(?=\s?\d)",
    r"(?<![^\W_])M(?=[–-]F(?!\w))",
    r"lim(?=_)|log(?=[_₀-₉])|localhost(?=[:/])",
    r"(?<![^\W_])[AKQJT](?=[♠-♧])",
    r"(?<![^\W_])[LCDM][IVXLCDM]+(?![^\W_])",
    r"(?<![^\W_])(?:[ivIV]{1,3}[°ø7]? ?[-–—→] ?){2}[ivIV]{1,3}",  # chords in a row
)
_SIGNS = (
    r"[^\w\s.,!?;:'’\-…。！？，、；：।¿¡]",  # any sign that is no mark between words
    rf"[\d_{NUMERALS}]",
    r"[α-ωΑ-Ω](?<![\u0370-\u03ff].)(?![\u0370-\u03ff])",
    r"-(?:-?>|-|(?<=[\u3040-\u30ff\u3400-\u9fff].)(?=\d)|(?<=\d.)|(?<=[ap]m.)(?=\d)|(?<=\dh.)(?=\d)|(?<=\d[a-z].)(?=\d))",
    r"[-.](?<![\w)].)(?=\d)",
    rf"\.(?<=[{CJK}].)(?=\d)",
    rf"\.(?<=[{CJK})）].)(?=[a-z])|\.(?<=[ア-オ].)(?=[{CJK}])",
    r":(?<=[A-Za-z].)(?=[A-Za-z](?![A-Za-z\d]))",
    r"-(?<=[月火水木金土日一二三四五六七][)）].)(?=\d)",
    r"-(?<![\w)].)(?=[A-Za-z](?!\w))",
    r"\s-(?=\s|\Z)|-(?=\s)(?<!\S.)|-(?=\s)(?<=\(.)|-(?<=[²³].)(?=\d)",
    r"[-.](?<![A-Za-z0-9_.].)(?=[A-Za-z0-9_.+-]*+@[\w-])",
    rf"\.(?<![^\W{CJK}].)(?<!/.)(?=\.?/[\w.])",  # a path
    r"\.(?<![^\s(\"'“/].)(?=[a-z]|[A-Z]{2})|\.(?<=\s.)(?=[\"'`)])",  # a hidden file, a folder
    r"!=",
    r"!(?<![^\s(].)(?=[A-Za-z_])",
    rf"!(?<=[\d)].|\b[a-z].)(?={FACTORIAL_AFTER})",
    r"[ℝℕℤℚℂᵀⁿᵐᵏˣⁱʲₐₑₒₓₕₖₗₘₙₚₛₜᵢⱼᵣᵤᵥ]",
    r"'(?=\d)|['’](?!\w)|['’](?<!\w.)",
    r"[:;][-']?[()DPp](?!\w)",
    r":(?<=[a-zäöü]:)(?=in(?:nen)?(?![^\W_]))",  # Schüler:innen
)


def places(
    words: frozenset[str], *, spans: str = "", names: frozenset[str] = frozenset(), within_words: str = ""
) -> re.Pattern[str]:
    """A pattern that matches from anywhere up to the next such place, and not at all where there is none.

    `words` are said otherwise; so are `spans`, a pattern that begins with one of `names`, and `within_words`, another, in one.
    """
    plain = {word for word in words if word[0].isascii() and word[0].isalpha()}
    numbered = {word for word in plain if word.lower() in BEFORE_NUMBER}
    known = [rf"(?:{any_of(plain)})(?![^\W{CJK}])"]
    known += [rf"(?:{any_of(numbered)})(?=\d)"] if numbered else []
    known += [spans] if spans else []
    known += [r"x(?<=[A-Za-z\"'′″½⅓⅔¼¾⅛⅜⅝⅞] x)(?= ?\d)"]  # one side by another: 12 ft x 8 ft
    begins = any_of([*plain, *(name for name in names if name[0].isascii()), "x"])
    start = rf"(?<![^\W_{CJK}])(?={begins})(?:{'|'.join(known)})"
    signs = [*_SIGNS, *([within_words] if within_words else [])]
    signs += [rf"{re.escape(word[0])}(?<![^\W_].){re.escape(word[1:])}(?!\w)" for word in sorted(words - plain)]
    place = rf"(?=[A-Za-z])(?<![A-Za-z])(?:{start}|{'|'.join(_ODD_WORDS)})|{'|'.join(signs)}"
    passed = (
        rf" ?+(?<![A-Za-z万億亿])(?![IVX]|[LCDM][IVXLCDM]|{start})[A-Za-z]++(?!{_ODD})",
        r"(?<=[A-Za-z])[A-Za-z]++" + (r"(?!\.)" if within_words else ""),
        r"[\u3041-\u30ff\u3400-\u9fff]++",
        rf"(?!{place}).",
    )
    return re.compile(rf"(?:{'|'.join(passed)})*+(?=.)", re.DOTALL)


def any_of(words: Iterable[str]) -> str:
    """A pattern for any of `words`, longest first, by first letter: it is tried often, and had better fail fast."""
    groups: dict[str, list[str]] = {}
    for word in sorted(set(words), key=lambda word: (-len(word), word)):
        groups.setdefault(word[0], []).append(re.escape(word[1:]))
    return "|".join(f"{re.escape(first)}(?:{'|'.join(rest)})" for first, rest in groups.items()) or "(?!)"
