"""Abbreviations with more than one reading, by what is around them: `S. 5` is a page, `Abs. 1 S. 2` a sentence of the law."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reading:
    """What is said where `before` ends what is written before, and `after` begins what is written behind; `None` for no abbreviation."""

    said: str | None
    before: re.Pattern[str]
    after: re.Pattern[str]


def _reading(said: str | None, *, before: str = "", after: str = "") -> Reading:
    return Reading(said, re.compile(rf"(?:{before})\Z" if before else ""), re.compile(after))


_NAMED = _reading(None, after=r"(?![\dA-ZÀ-Þ-])")
"""No title unless a name follows."""
_COUNTED = _reading(None, after=r"(?!\d)")
_AFTER_NUMBER = _reading(None, before=r"(?<!\d)(?<!\d )")
_PAGES = {
    code: _reading(pages, before=r"\d ", after=r"(?![\d\w])")
    for code, pages in (("fr", "pages"), ("de", "Seiten"), ("es", "páginas"))
}
"""How long a book is: `254 p.`"""
_INITIALS = _reading(None, after=r"[A-ZÀ-Þ]")
"""No degree before a name: *M. A. Schmidt*."""
_FLOOR = _reading(None, before=r"(?<!\d\. )(?<!\b[Ii]m )(?<!\bins )")
_PAGED = _reading(None, before=r"(?<!\d)(?<!\d )")

_READINGS: dict[str, dict[str, tuple[Reading, ...]]] = {
    "fr": {
        "Me": (_NAMED,),
        "Gal": (_NAMED,),
        "Mal": (_NAMED,),
        "exp.": (_reading("expérience", after=r"(?![\d:])"),),
        "j.": (_reading("journée", before=r"\d(?:e|re|ère) "),),
        "p.": (_PAGES["fr"],),
        "vol.": (_reading("volumes", before=r"\d ", after=r"(?!\d)"),),
        "v.": (
            _reading("voir", after=r"(?:§|art\.|chap\.|p\.|fig\.|note|annexe)"),
            _reading("vers", before=r"\(", after=r"\d{3,4}"),
            _COUNTED,
        ),
        "vv.": (_COUNTED,),
        "port.": (_reading(None, after=r"(?![:\d])"),),
        "Port.": (_reading(None, after=r"(?![:\d])"),),
        "min": (_reading("minute", before=r"\d(?:e|er|re|ème) "),),
        "min.": (_reading("minute", before=r"\d(?:e|er|re|ème) "),),
    },
    "de": {
        "J.": (_AFTER_NUMBER,),
        "Mon.": (
            _reading("Monaten", before=r"\b(?:[Nn]ach|[Ss]eit|[Vv]or|[Ii]n|[Mm]it|[Aa]b|[Vv]on) \d{1,3} "),
            _AFTER_NUMBER,
        ),
        "Wo.": (_AFTER_NUMBER,),
        "s.": (
            _reading(
                "siehe",
                after=r"(?:https?:|www\.|Kap\.|Abb\.|Abschn|Tab\.|Anm\.|Nr\.|Anlage|Anhang|S\. |§|Seite|oben|unten)",
            ),
            _reading(None),
        ),
        "S.": (
            _PAGES["de"],
            _reading("Satz", before=r"(?:§|Art\.|Abs\.)[^,;!?]{0,20}", after=r"\d"),
        ),
        "Bd.": (_reading("Bund", before=r"\d ", after=r"\D"),),
        "Jh.": (_reading("Jahrhunderts", before=r"\bdes \d{1,2}\. (?:(?:und|oder) \d{1,2}\. )?"),),
        "Min.": (_reading("Minute", before=r"\d\. "), _reading("Mindestens", before=r"(?<!\d )", after=r"\d")),
        "OG": (_FLOOR,),
        "EG": (_FLOOR,),
        "DG": (_FLOOR,),
        "GG": (_reading(None, before=r"(?<!\d )(?<!\bdas )(?<!\bdes )(?<!\bdem )(?<!\bim )"),),
        "WK": (_reading(None, before=r"(?<!\. )(?<!\bErste )(?<!\bZweite )"),),
        "M. A.": (_INITIALS,),
        "B. A.": (_INITIALS,),
        "V.": (_COUNTED,),
        "f.": (_PAGED,),
        "ff.": (_PAGED,),
        "u.": (_reading("unter", after=r"\d+ J"),),
        "v.": (_reading("vom", after=r"\d"), _NAMED),
    },
    "es": {
        "J.": (_COUNTED,),
        "CP": (_COUNTED,),
        "RD": (_COUNTED,),
        "FJ": (_COUNTED,),
        "GM": (_reading(None, before=r"(?<![IVX] )(?<!\bPrimera )(?<!\bSegunda )"),),
        "S. M.": (_INITIALS,),
        "d.": (_AFTER_NUMBER,),
        "v.": (_reading(None, after=r"(?!§|art\.|cap\.|págs?\.|pp?\.|fig\.|nota|anexo)"),),
        "p.": (_PAGES["es"],),
        "pp.": (_PAGES["es"],),
        "pág.": (_PAGES["es"],),
        "págs.": (_PAGES["es"],),
        "h.": (_reading(None, after=r"(?!\d{3,4}(?!\d))"),),
        "hab.": (
            _reading("habitación", after=r"\d{1,4}(?!\d)"),
            _reading("habitaciones", after=r"(?:dobles|individuales|triples|libres|con)\b", before=r"\d "),
            _reading("habitación", after=r"(?:doble|individual|triple|libre|con)\b"),
        ),
        "ss.": (_reading("siglos", after=r"[IVX]+(?!\w)"),),
        "vv.": (_COUNTED,),
    },
}


def readings(code: str, written: str) -> tuple[Reading, ...]:
    """The readings of an abbreviation that depend on their place, the first that fits being right."""
    return _READINGS.get(code, {}).get(written, ())
