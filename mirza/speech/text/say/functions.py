"""Functions: *f of x*, *P of A given B*, *sine of x*, *limit as x approaches zero of*, *absolute value of x*."""

from __future__ import annotations

import re
import unicodedata

from mirza.speech.text.language import Language
from mirza.speech.text.say.base import Rule, Speaker
from mirza.speech.text.say.sums import FORMULA

_STARRED = re.compile(r"(?<=(?<![^\W_])[A-Z])\*(?![A-Za-z\d_*(])")
"""`A*`, a search and a mark; after a word a star calls for a note."""
_TERM = r"[-−]?(?:\d+(?:\.\d+)?[a-zA-Zθπ]?|[a-zA-Zα-ωΑ-Ω]{1,3})[²³′'!]?"
_SIGN = r" ?(?:[-+−*/·^,<>=≤≥≠∩∪|]| and | or ) ?"
_SUM = rf"{_TERM}(?:{_SIGN}{_TERM}){{0,5}}"
_ARGUMENT = re.compile(rf"\((?=(?:{_SUM}|[\da-zA-Z² ]* ?log [\da-z² ]+|[\da-zA-Z²³^]{{1,6}})\))")
_FUNCTION = re.compile(r"(?<![^\W_])(?:[fghuvCFGPEO][′']{0,2}|Pr|Var)\Z")
_CHANCE = re.compile(r"(?<![^\W_])(?:[PpE]|Pr)\([^()]*\Z")
_ABSOLUTE = re.compile(rf"\|(?={_SUM}\|)")
_LIMIT = re.compile(r"lim(?:_?[{(]|_| )?([a-z]) ?(?:→|->|to) ?([-+−]?)(\d+|∞|[a-z](?!\w))[})]?")
_OF = {"en": "of", "fr": "de", "de": "von", "es": "de", "zh": "", "ja": ""}
_GIVEN = {"en": "given", "fr": "sachant", "de": "gegeben", "es": "dado"}
_SIZE = {"en": "absolute value of", "fr": "valeur absolue de", "de": "Betrag von", "es": "valor absoluto de"}
_LIMITS = {
    "en": "limit as {} approaches {} of", "fr": "limite quand {} tend vers {} de", "de": "Limes für {} gegen {} von",
    "es": "límite cuando {} tiende a {} de",
}  # fmt: skip
_LOGS = {"en": "log base {} of", "fr": "log base {} de", "de": "Log zur Basis {} von", "es": "log base {} de"}
_LOG = re.compile(r"log(?:_\{?(\d{1,2}|[a-z])\}?|([₀-₉]+))(?: ?\(| (?=[\w\d]))")
_NAMES = {
    "sin": "sine", "cos": "cosine", "tan": "tangent", "sec": "secant", "csc": "cosecant", "cot": "cotangent",
    "ln": "natural log", "log": "log", "arcsin": "arc sine", "arccos": "arc cosine", "arctan": "arc tangent",
    "sinh": "hyperbolic sine", "cosh": "hyperbolic cosine", "tanh": "hyperbolic tangent", "sqrt": "square root",
}  # fmt: skip
_OTHER_NAMES = {
    "fr": {"sin": "sinus", "cos": "cosinus", "tan": "tangente"},
    "de": {"sin": "Sinus", "cos": "Kosinus", "tan": "Tangens"},
    "es": {"sin": "seno de", "cos": "coseno de", "tan": "tangente de"},
}


def triggers(language: Language) -> frozenset[str]:
    """Names of functions that are said in full."""
    return (
        frozenset(_NAMES) | {f"{name}²" for name in _NAMES} | {"lim"}
        if language.code == "en"
        else frozenset(["lim", "sin", "cos", "tan"])
    )


def rules(speaker: Speaker) -> list[Rule]:
    """Brackets behind a function's name, bars, and what a name stands for."""
    functions = _Functions(speaker)
    found = [Rule("$", _ARGUMENT, functions.called, first="(")]
    found.append(Rule("$", _STARRED, lambda _: speaker.words.star, first="*"))
    if speaker.spaced:
        found.append(Rule("$", re.compile(r"\|"), functions.given, first="|"))
        found.append(Rule("$", _ABSOLUTE, functions.absolute, first="|"))
        found.append(Rule("a", _LOG, functions.log, first="l"))
        found.append(Rule("a", _LIMIT, functions.limit, first="l"))
    if speaker.code == "en":
        names = "|".join(_NAMES)
        named = re.compile(rf"({names})(?:\(|(?=[²³^]| ?(?!a )\d*[a-zθαβφω](?!\w)| ?\d{{1,3}}°| ?[√π]))")
        found.append(Rule("a", named, functions.named, first="".join(sorted({name[0] for name in _NAMES}))))
    if speaker.code in _OTHER_NAMES:
        found.append(Rule("a", re.compile(r"(sin|cos|tan)(?=\(|[²³^]| [xθαβφωt](?!\w))"), functions.other, first="sct"))
    return found


class _Functions:
    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker
        self._code = speaker.code

    def called(self, match: re.Match[str]) -> str | None:
        """*f of x*"""
        start = match.start()
        return _OF[self._code] if _FUNCTION.search(match.string, max(0, start - 4), start) else None

    def given(self, match: re.Match[str]) -> str | None:
        """*P of A given B*"""
        return _GIVEN[self._code] if _CHANCE.search(match.string, max(0, match.start() - 40), match.start()) else None

    def absolute(self, match: re.Match[str]) -> str | None:
        """*absolute value of x*, at the first of two bars that nothing is joined to."""
        before = match.string[: match.start()]
        if before.count("|") % 2 or re.search(r"[^\W\d]\Z", before):
            return None
        return _SIZE[self._code]

    def limit(self, match: re.Match[str]) -> str:
        """*limit as x approaches zero of*"""
        name, sign, bound = match[1], match[2], match[3]
        words = self._speaker.words
        said = words.infinity if bound == "∞" else self._speaker.number(bound) if bound.isdecimal() else bound
        side = {"-": words.minus, "−": words.minus, "+": words.plus}.get(sign, "")
        limit = _LIMITS[self._code].format(name, self._speaker.join(side, said))
        first, _, rest = limit.partition(" ")
        return rest if self._speaker.word_before(match.string, match.start()).lower() == first.lower() else limit

    def log(self, match: re.Match[str]) -> str:
        """*log base two of*"""
        base = match[1] or unicodedata.normalize("NFKC", match[2])
        return _LOGS[self._code].format(self._speaker.number(base) if base.isdecimal() else base)

    def named(self, match: re.Match[str]) -> str:
        """*sine of x*, *cosine theta*"""
        of = match[1] == "sqrt" or match.group().endswith("(")
        return f"{_NAMES[match[1]]} of" if of else _NAMES[match[1]]

    def other(self, match: re.Match[str]) -> str | None:
        """*sinus x*; in Spanish, where *sin* is a word, only of what is plainly computed"""
        spaced = match.string[match.end() : match.end() + 1] == " "
        if self._code == "es" and spaced and not FORMULA.search(match.string):
            return None
        return _OTHER_NAMES[self._code][match[1]]
