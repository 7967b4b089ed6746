"""Moves in chess: *knight f three*, *queen takes d five, check*."""

from __future__ import annotations

import re

from mirza.speech.text.say.base import Rule, Speaker

_SQUARE = r"[a-h][1-8]"
_SUFFIX = r"(?:=(?P<promoted>[QRBNDTFCSLA]))?(?P<end>[+#]|\+\+)?(?:[!?]{1,2}(?=\s|\Z))?(?![\w+#=])"
_CASTLES = r"O-O(?P<long>-O)?"
_NUMBER = re.compile(rf"(\d{{1,3}})\.(?:\.\.|…)? ?(?!\d)(?=(?:[KQRBNDTFCSLA]?[a-h]?[1-8]?x?{_SQUARE}|O-O)(?![\w-]))")
_WORDS = {
    "en": ("takes", "check", "checkmate", "castles kingside", "castles queenside", "promotes to"),
    "fr": ("prend", "échec", "échec et mat", "petit roque", "grand roque", "promotion en"),
    "de": ("schlägt", "Schach", "Schachmatt", "kurze Rochade", "lange Rochade", "wird zu"),
    "es": ("por", "jaque", "jaque mate", "enroque corto", "enroque largo", "corona"),
}
_PIECES = {
    "en": dict(zip("KQRBN", "king queen rook bishop knight".split(), strict=True)),
    "fr": dict(zip("RDTFC" + "KQBN", "roi dame tour fou cavalier roi dame fou cavalier".split(), strict=True)),
    "de": dict(zip("KDTLS" + "QRBN", "König Dame Turm Läufer Springer Dame Turm Läufer Springer".split(), strict=True)),
    "es": dict(zip("RDTAC" + "KQBN", "rey dama torre alfil caballo rey dama alfil caballo".split(), strict=True)),
}
"""The letters of the language, then those of English where they are free: German `D` is the queen, French `R` the king."""


_ELEMENTS = frozenset("Ra Rb Re Rf Rg Rh Ba Be Bh Na Nb Nd Ne Db Ta Tb Tc Te Fe Ca Cd Ce Cf Sb Se Sg La Ac Ag".split())
"""What begins like a move and may be an ion: `Ca2+`."""
_GAME = re.compile(
    r"\d\.\s?\S|O-O|[KQRBNDTFCSLA][a-h]?x[a-h][1-8]|\b(?:chess|échecs|Schach|ajedrez|knights?|bishops?|rooks?|gambit|"
    r"cavalier|Springer|Läufer|caballo|alfil|checkmate|Schachmatt)\b",
    re.IGNORECASE,
)


def triggers(code: str) -> frozenset[str]:
    """What is a move and has no digit."""
    return frozenset(["O-O", "O-O-O"]) if code in _WORDS else frozenset()


def rules(speaker: Speaker) -> list[Rule]:
    """Castling, a piece's move, a pawn's, and the number before a move."""
    if speaker.code not in _WORDS:
        return []
    pieces = _PIECES[speaker.code]
    takes, check, mate, short, long, promotes = _WORDS[speaker.code]
    move = re.compile(
        rf"(?P<piece>[{''.join(pieces)}])(?P<from>[a-h]?[1-8]?)(?P<takes>x?)(?P<to>{_SQUARE}){_SUFFIX}|"
        rf"(?P<pawn>[a-h])x(?P<taken>{_SQUARE}){_SUFFIX.replace('promoted', 'promotes').replace('end', 'ends')}"
    )

    def square(written: str) -> str:
        return " ".join(speaker.number(char) if char.isdigit() else char for char in written)

    def after(end: str | None, promoted: str | None) -> str:
        said = f" {promotes} {pieces.get(promoted, promoted)}" if promoted else ""
        return said + (f", {mate if end == '#' else check}" if end else "")

    def moved(match: re.Match[str]) -> str | None:
        if match.group()[:2] in _ELEMENTS and not _GAME.search(match.string):
            return None
        if match["pawn"]:
            return f"{match['pawn']} {takes} {square(match['taken'])}" + after(match["ends"], match["promotes"])
        parts = [pieces[match["piece"]], square(match["from"]), takes if match["takes"] else "", square(match["to"])]
        return speaker.join(*parts) + after(match["end"], match["promoted"])

    def castles(match: re.Match[str]) -> str:
        return (long if match["long"] else short) + after(match["end"], None)

    def numbered(match: re.Match[str]) -> str:
        pause = speaker.words.pause
        return (f"{pause} " if match.start() else "") + speaker.number(match[1]) + pause

    return [
        Rule("a", re.compile(_CASTLES + _SUFFIX), castles, first="O"),
        Rule("a", move, moved, first="a-h" + "".join(pieces)),
        Rule("0", _NUMBER, numbered, then=r"\.[.…]{0,2} ?(?:[A-Za-z]|\Z)"),
    ]
