"""Signs: said where they mean something, passed over where they only look nice."""

from __future__ import annotations

import re

from mirza.speech.text.blocks import ITEM
from mirza.speech.text.language import units
from mirza.speech.text.say import brackets, pictures, sums
from mirza.speech.text.say.base import MODULO, Rule, Speaker
from mirza.speech.text.say.sums import FORMULA, LETTER, LONE_LETTER, Sums, is_operand
from mirza.speech.text.say.unit_names import per_name

_ITEM = re.compile(ITEM)
_DASH = re.compile(r"\s*(?:[—―]|–|--+)\s*|\s-(?=\s|\Z)")
_SIGNS = r"〜～%‰°#@&+×÷±*/√∞§©®™∑∫\^~=\-−⋅∙"
_BARE = re.compile(f"[{_SIGNS}]")
_SCORE = re.compile(r"[^\W\d_]{2,} \d+\Z")
_TERM = re.compile(r"(?<![^\W_])\d*[a-z][²³]?\Z")
_PRODUCT = re.compile(r"· ?(?=\d|\(|√|[^\W\d_](?![^\W\d_]))")
_FACTOR = re.compile(r"(?:[\d⁰¹²³⁴-⁹)]|(?<![^\W\d_])[^\W\d_]) ?\Z")
"""A dot in the middle between two factors; between words it only parts them."""
_FOR_ALL = re.compile(r"(?:\b(?:tout|[Ss]oit|alle|jedes|[Ss]ei|todo|[Ss]ea)|∀|∃) ?\w\w?\s?\Z")
_ELEMENT = {"fr": "appartenant à", "de": "aus", "es": "perteneciente a"}
"""*pour tout n appartenant à*"""
_SECTIONS = {"en": "s", "fr": "s", "de": "en", "es": "s"}
"""*die Paragrafen*"""
_HASH = {"en": "hash", "fr": "dièse", "de": "Raute", "es": "almohadilla"}
_SOLFEGE = re.compile(r"\b(?:[Dd]o|[Rr][eé]|[Mm]i|[Ff]a|[Ss]ol|[Ll]a|[Ss]i)\Z")
_PER_TIME = re.compile(
    r"/(dL|mL|L|ms|s|yr|mo|wk|hr|sec|min|Min|Std|sq mi|sq km|sq ft|mi²|km²|km2|m²|m2|m³|mm³|mm²|cm³|[µμ][lL]|[md]?[lL]|ha|kg|j)(?!\w)"
)
_THOUSANDS = re.compile(r"\d[kKM]\Z")
_ALL, _STAR = (
    re.compile(r"\b(?:SELECT|select|import|rm|ls|cp|cat|grep)(?: -\w+)* \Z"),
    {"en": "star", "fr": "étoile", "de": "Stern", "es": "asterisco"},
)
"""Before a star that stands for all there is."""
_MODULO = re.compile(MODULO)
_ALONE = frozenset(["ha", "kg", "s", "ms"])
_HOUR = re.compile(r"\d(?: ?[ap]\.?m\.?| ?h| Uhr)?\Z")
_NEXT_TERM = re.compile(r"\s*[A-Za-z](?:\(|(?![\w'’])\s*(?:[-+*/=²³^)]|\Z))")
_UNTIL = re.compile(r"(?:noon|midnight|midday|midi|minuit|Mitternacht|mediodía|medianoche)\b")
_PRIME = {"en": "prime", "fr": "prime", "de": "Strich", "es": "prima", "zh": "撇", "ja": "プライム"}


def rules(speaker: Speaker) -> list[Rule]:
    """What is asked last: one or a few signs."""
    arithmetic = Sums(speaker)
    signs = _Signs(speaker, arithmetic)
    symbols = re.escape("".join(sign for sign in speaker.language.symbols if not "\u0370" <= sign <= "\u03ff"))
    found = [
        Rule("$", _ITEM, lambda _: speaker.words.pause, first=ITEM),
        *pictures.rules(speaker),
        *brackets.rules(speaker),
        Rule("$", re.compile("⋯"), lambda _: "dot dot dot" if speaker.code == "en" else speaker.words.pause, first="⋯"),
        Rule("$", re.compile(r"\*\*(?=\s?\d)"), lambda _: speaker.words.power.format("").strip(), first="*"),
        Rule("$", re.compile(r"(?<=\s)\.(?=[\"'`)])"), lambda _: speaker.words.dot, first="."),
        *([Rule("$", re.compile(r"(?<= )\|\|(?= )"), lambda _: "or", first="|")] if speaker.code == "en" else []),
        *(
            [Rule("$", re.compile(r"(?<![^\s(])!(?=[A-Za-z_])"), lambda _: "not", first="!")]
            if speaker.code == "en"
            else []
        ),
        Rule("$", _PRODUCT, signs.product, first="·"),
        Rule(
            "$",
            re.compile(r"(?:(?<=\s)|\A)==(?=[^\W\d_]{2})|(?<=[^\W\d_]{2})==(?=[\s.,;:!?)]|\Z)"),
            lambda _: "",
            first="=",
        ),
        Rule("$", re.compile("&&"), lambda _: speaker.words.ampersand, first="&"),
        Rule("$", _PER_TIME, signs.per_time, first="/"),
        Rule("$", re.compile(r"\+\+"), lambda _: speaker.join(speaker.words.plus, speaker.words.plus), first="+"),
        *sums.rules(arithmetic),
        Rule(
            "$",
            re.compile(r"\.(?=\d)"),
            lambda _: speaker.join(speaker.numbers.cardinal(0), speaker.point(".")),
            first=".",
        ),
        Rule("$", re.compile(r"(?<=\d)-(?=[a-z](?![\w-]))"), signs.less, first=r"\-"),
        Rule("$", re.compile(r"(?<=\d)-(?=[^\W\d_])"), lambda _: "-", tight=True, first=r"\-"),
        Rule("$", _DASH, signs.dash, first=r"\s—―–\-"),
        Rule("$", re.compile(r"(?<=[年月日号点时時分秒])[~〜～](?=\d)"), lambda _: speaker.words.to, first="~〜～"),
        *([] if speaker.spaced else [Rule("$", re.compile(r"#(\d+)(?![A-Za-z_])"), signs.numbered, first="#")]),
        Rule("$", re.compile(r"#(?=\w)"), signs.hash, first="#"),
        Rule("$", _BARE, signs.bare, first=_SIGNS),
        Rule(
            "$", re.compile(r"(?<![A-Za-z][fghFGPuv])(?<=[fghFGPuv])['′]{1,2}(?=\([a-z\d])"), signs.derived, first="'′"
        ),
        Rule("$", re.compile(r"(?<=[A-Za-z])′(?=[\s(=,.;)])"), lambda _: _PRIME[speaker.code], first="′"),
        Rule("$", re.compile(r"(?<=\d)★(?!★)|(?<=\d )★(?!★)"), lambda _: _STARS[speaker.code], first="★"),
        Rule("$", re.compile(r"_+"), lambda _: "", first="_"),
        Rule("a", re.compile(r"([a-z])([a-z])(?=[²³])"), signs.factors, first="a-z"),
        Rule("$a", re.compile(f"[{symbols}]"), signs.name, first=symbols),
        Rule("$a", re.compile(r"[πα-ωΑ-Ω](?![α-ωά-ώΑ-Ω])"), signs.symbol, first="πα-ωΑ-Ω"),
    ]
    return found


class _Signs:
    def __init__(self, speaker: Speaker, arithmetic: Sums) -> None:
        self._sums = arithmetic
        self._speaker = speaker
        self._words = speaker.words

    def symbol(self, match: re.Match[str]) -> str | None:
        before = match.string[match.start() - 1 : match.start()]
        greek = "\u0370" <= before <= "\u03ff"
        return None if greek else self._speaker.language.symbols.get(match.group())

    def name(self, match: re.Match[str]) -> str | None:
        """A sign that has a word; after *Element von* in the dative."""
        said = self._speaker.language.symbols.get(match.group())
        if match.group() == "∈" and _FOR_ALL.search(match.string, 0, match.start()):
            return _ELEMENT.get(self._speaker.code, said)
        if said and said.startswith("die ") and match.string[: match.start()].rstrip().endswith(("∈", "⊂")):
            return f"den {said[4:]}"
        return said

    def product(self, match: re.Match[str]) -> str | None:
        """*m times a*"""
        text, at = match.string, match.start()
        spaced = text[at - 1 : at].isspace() and not re.match(r"· ?10[⁻⁰¹²³⁴-⁹^]", text[at:])
        if not _FACTOR.search(text, 0, at) or (spaced and not FORMULA.search(text)):
            return self._words.pause if text[at - 1 : at].isspace() else None  # it parts what is listed
        return self._words.times

    def factors(self, match: re.Match[str]) -> str | None:
        """*a x squared*"""
        return None if match.group() in units(self._speaker.code) else f"{match[1]} {match[2]}"

    def per_time(self, match: re.Match[str]) -> str | None:
        """*days per year*"""
        before = self._speaker.cue_before(match.string, match.start())
        counted = match.string[match.start() - 1 : match.start()]
        if (
            (
                len(before) < 3
                and counted != "%"
                and not (
                    (counted.isdigit() or _THOUSANDS.search(match.string, 0, match.start())) and match[1] not in _ALONE
                )
            )
            or before.lower() == "max"
            or match[1] not in units(self._speaker.code)
        ):
            return None
        return f"{self._words.per} {per_name(self._speaker, match[1])}"

    def less(self, match: re.Match[str]) -> str | None:
        """*one minus p*, in a formula."""
        return self._words.subtracted if FORMULA.search(match.string) else None

    def derived(self, match: re.Match[str]) -> str:
        """*f prime of x*"""
        return self._speaker.join(*[_PRIME[self._speaker.code]] * len(match.group()))

    def dash(self, match: re.Match[str]) -> str:
        before = match.string[: match.start()].rstrip()[-1:]
        after = match.string[match.end() :].lstrip()[:1]
        if before and before in "年月日号点时分" and after.isdigit():
            return self._words.to
        if _UNTIL.match(match.string, match.end()) and _HOUR.search(match.string, 0, match.start()):
            return self._words.to
        minus = "-" in match.group() and "--" not in match.group()
        if minus and (after.isalnum() or after == "(") and _TERM.search(match.string[: match.start()].rstrip()):
            return self._words.subtracted if FORMULA.search(match.string) else self._words.pause
        if minus and before == ")" and _NEXT_TERM.match(match.string, match.end()):
            return self._words.subtracted
        if minus and is_operand(before, ")") and is_operand(after, "("):
            score = _SCORE.search(match.string, 0, match.start()) and re.match(
                r" \d+ [^\W\d_]{2}", match.string[match.end() :]
            )
            return self._words.to if score else self._words.subtracted
        return self._words.pause

    def numbered(self, match: re.Match[str]) -> str:
        """`#123` in Chinese and Japanese, where the word comes last."""
        return self._speaker.number(match[1]) + ("号" if self._speaker.code == "zh" else "番")

    def hash(self, match: re.Match[str]) -> str:
        number = re.match(r"\d+(?![^\W_\u3040-\u9fff])|[A-Z]{1,3}-?\d", match.string[match.end() :])
        return self._words.number if number else self._words.hashtag

    def bare(self, match: re.Match[str]) -> str | None:
        words, text = self._words, match.string
        before, after = (
            text[match.start() - 1 : match.start()] if match.start() else "",
            text[match.end() : match.end() + 1],
        )
        match match.group():
            case "%":
                return "modulo" if _MODULO.match(text, match.end()) else words.percent
            case "‰":
                return words.per_mille
            case "°":
                return words.degrees
            case "#":
                if _SOLFEGE.search(text, 0, match.start()):
                    return self._speaker.language.symbols.get("♯", words.sharp)
                if (not before or before in " («") and (not after or after in ",;.)» "):
                    return _HASH.get(self._speaker.code, "")  # the sign itself
                return words.sharp if before and before in "ABCDEFG" else ""
            case "@":
                return words.at
            case "&":
                return words.ampersand
            case "+":
                return self._sums.plus(text, match.start(), before, after)
            case "×" | "*" | "⋅" | "∙":
                all_of_them = match.group() == "*" and _ALL.search(text, 0, match.start())
                return _STAR.get(self._speaker.code, words.times) if all_of_them else words.times
            case "÷":
                return words.divided
            case "±":
                return words.plus_minus
            case "√":
                return words.root
            case "∞":
                return words.infinity
            case "§":
                if before == "§":
                    return ""
                return words.section + (_SECTIONS.get(self._speaker.code, "") if after == "§" else "")
            case "©":
                return words.copyright
            case "®":
                return words.registered
            case "™":
                return words.trademark
            case "∑":
                return words.sum
            case "∫":
                return words.integral
            case "〜" | "～":
                joins = before and (before.isalnum() or before in "%℃℉°") and (after.isalnum() or after in "-−")
                counted = (
                    re.search(r"[\d℃℉%°時分日月年円歳点时元岁万億頃末世紀半]\Z", text[: match.start()]) is not None
                )
                return words.to if joins and counted else ""
            case "~":
                if after.isdigit() and before and (before.isdigit() or before in "%°CF℃℉月日年时"):
                    return words.to
                if before.isalpha():
                    return ""  # HEAD~3
                if words.about == "unos" and re.match(r"1(?![\d.,])", text[match.end() :]):
                    return "aproximadamente"
                return words.about if after.isdigit() or after in ("$", "€", "£") else ""
            case "/":
                return self._sums.slash(text, match.start(), before, after)
            case "−":
                term = before.isdigit() or after.isdigit() or LONE_LETTER.search(text, 0, match.start())
                return "" if LETTER.match(before) and LETTER.match(after) and not term else words.minus
            case "-":
                return words.subtracted if is_operand(before, ")") and is_operand(after, "(") else ""
            case _:
                return ""


_STARS = {"en": "stars", "fr": "étoiles", "de": "Sterne", "es": "estrellas", "zh": "星", "ja": "つ星"}
