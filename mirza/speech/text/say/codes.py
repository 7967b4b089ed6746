"""Codes: what is read digit by digit, or letter by letter, and names like `B2B`. The kinds of numbers have files of their own."""

from __future__ import annotations

import re
from collections.abc import Callable

from mirza.speech.text.language import units
from mirza.speech.text.say import identifiers, phones, registers, versions
from mirza.speech.text.say.base import Rule, Speaker
from mirza.speech.text.say.chemistry import is_formula
from mirza.speech.text.say.money import CODES
from mirza.speech.text.say.spelling import grouped, grouped_digits, pause, spelled

_CARD = re.compile(r"\d{4}(?:[ -]\d{4}){2,3}(?!\d)")
_LOCAL = re.compile(r"0\d{1,4}[-/ ]\d{2,4}(?:[- ]?\d{2,4}){1,3}(?!\d)|\(0\d{1,4}\) ?\d{2,4}(?:[- ]?\d{2,4}){1,3}(?!\d)")
_SERIAL = re.compile(r"(?=[\d-]*\d{4})\d+(?:-\d+){3,}(?![\w-])")
_HEX = re.compile(r"0x[\da-fA-F]+|#[\da-fA-F]{6}(?!\w)|#(?:([a-fA-F])\1\1|(?=\w*\d)(?=\w*[a-fA-F])[\da-fA-F]{3})(?!\w)")
_DASHED = re.compile(r"\d{2,}(?:-\d{2,}){2,}(?!\w)")
_LETTERS = re.compile(
    r"(?=[A-Za-z-]*\d)[A-Za-z]+(?:[-‑]?\d+(?:\.\d+)?)+(?:[-‑]?[A-Za-z]{1,4}(?![A-Za-z]))?(?:\d*[A-Za-z]*)*(?!\w)",
    re.ASCII,
)
_NAMED_RANGE = re.compile(
    r"([A-Z]{1,2})(\d{1,2})[-–](\1)(\d{1,2})(?![\w-])|([A-Z]{1,2}\d{1,4}):([A-Z]{1,2}\d{1,4})(?![\w:])"
)
"""`J2-J3`, and the cells of a table, `A1:B10`."""
_DIGITS_FIRST = re.compile(
    r"\d+(?:[A-Z]+\d+)+[A-Z]*(?!\w)|\d+[A-Z]{1,3}(?:\d+[A-Z]*)?(?!\w)|(?!\d+x\d)\d+[A-Za-z]+\d[\dA-Za-z]*(?!\w)",
    re.ASCII,
)
_LONG = re.compile(r"\d{16,}|0\d+(?![.,:/hH]?\d)(?![ \xa0]?[°º][ \xa0]?\d)")
_EMERGENCY = re.compile(r"notruf|notfall|\bwähl|\bruf|anruf|polizei|feuerwehr|rettung", re.IGNORECASE)
_CODE_CUES = frozenset(
    "code pin zip postcode id otp password passcode konto postleitzahl plz geheimzahl código clave contraseña "
    "codice extension poste room account acct routing imei isbn issn pmid ssn upc ean sku serial tracking".split()
)
_CJK_CUE = re.compile(
    r"(?:邮编|验证码|密码|编号|代码|房间号?|端口|[学工单账卡尾]号|QQ|分机|内線|番号|コード|パスワード|ポート|ID|话[^，。]{0,20}转)[：:はが是为]?\s?\Z"
)
_FLIGHT = re.compile(r"[A-Z]{2}\d{3,4}")
_AFTER_CUE = re.compile(r"\d{4,15}(?![\d.,:/-]*\d)")
_YEAR = re.compile(r"(?:19|20)\d\d")
_PRODUCT = re.compile(r"[A-Z][a-z]{2,}-\d")
"""`Llama-3.1-8B` is a name, and no code."""
_PIECES = re.compile(r"\d+(?:\.\d+)?|[A-Za-z]+")


def rules(speaker: Speaker) -> list[Rule]:
    """Everything that is spelled out."""
    own = _Codes(speaker)
    return [
        *identifiers.rules(speaker),
        *phones.rules(speaker),
        *registers.rules(speaker),
        Rule("0", _CARD, own.groups, then=r"[- ]\d", least=4),
        *versions.rules(speaker),
        Rule("0$", _HEX, own.lettered, then="x", first="#"),
        Rule("0", re.compile(r"\d{3}-\d{2}-\d{4}(?!\d)"), own.groups, then=r"-\d", least=3),
        Rule("0", _SERIAL, own.groups, then=r"-\d(?:-\d|\d[-\d])"),
        *_in_one_language(speaker, own),
        Rule("0", _LOCAL, own.groups, then=r"[-/ ]\d", least=2, zero=True),
        Rule("0", _AFTER_CUE, own.after_cue, least=4),
        Rule(
            "0",
            re.compile(r"\d{3,5}(?=室|房|号房|热线|号室|会议室|教室|病房|包[间厢房]|宿舍)"),
            own.long,
            then="[室房号热会教病包宿]",
            least=3,
        ),
        Rule("a", _NAMED_RANGE, own.named_range, first="A-Z"),
        Rule("a", _LETTERS, own.letters, first="A-Za-z"),
        Rule("0", _DIGITS_FIRST, digits_first(speaker), then="[A-Za-z]"),
        Rule("0", _DASHED, dashed(own.groups), then=r"-\d\d[-\d]", least=2),
        Rule("0", re.compile(r"\d{1,3}(?:-\d{1,3}){2,}(?![\w-])", re.ASCII), own.counted, then=r"-\d(?:-\d|\d[-\d])"),
        Rule("0", _LONG, own.long, least=2, zero=True),
    ]


def _in_one_language(speaker: Speaker, own: _Codes) -> list[Rule]:
    """What only one language writes so."""
    rules = {
        "en": [
            Rule("0", re.compile(r"(?:(?<=, [A-Z]{2} )|(?<=ZIP ))\d{5}(?:-\d{4})?(?![\d-])"), own.groups, least=5),
            Rule(
                "0",
                re.compile(r"(?:(?<=chmod )|(?<=area code )|(?<=CVV )|(?<=CVC ))\d{3,4}(?![\d.,]*\d)"),
                own.long,
                least=3,
            ),
            Rule(
                "0",
                re.compile(
                    r"(?<=[A-Z][A-Z] )[1-9]\d{3}(?![\d.,:%/-]*\d|[^\W_]| ?[%€$]| (?!(?:with|and|or|is|was|has|to|for|at|in|on|card|cards|can)\b)[a-z])"
                ),
                own.model,
                least=4,
            ),
            Rule("0", re.compile(r"(?<=, )\d{5}(?= [A-ZÄÖÜÉ][a-zäöüé])"), own.long, then=" [A-ZÄÖÜÉ]", least=5),
            Rule("0", re.compile(r"(?:911|999|112|988|311|411)(?![\d.,:%/-]*\d)"), own.emergency, least=3),
        ],
        "zh": [Rule("0", re.compile(r"(?<=[打拨警话])1(?:10|19|20|22)(?!\d)"), own.long, least=3)],
        "de": [
            Rule(
                "$",
                re.compile(r"(?<=Fax: )[-–](\d{1,4})(?!\d)"),
                lambda match: speaker.numbers.digits(match[1]),
                first="-–",
            ),
            Rule("0", re.compile(r"(116)[ \xa0]?(11\d|00\d)(?!\d)"), own.helpline, least=3),
            Rule(
                "0",
                re.compile(r"(?:112|110)(?![\d.,:%/-]*\d)(?! ?(?:[A-ZÄÖÜ€%]|[cmk]?m\b|kg\b))"),
                own.emergency,
                least=3,
            ),
            Rule("0", re.compile(r"\d{5}(?= [A-ZÄÖÜ][a-zäöü])"), postcode(speaker), then=" [A-ZÄÖÜ]", least=5),
        ],
        "ja": [Rule("0", re.compile(r"\d{3}-\d{4}(?![\d-]|\.\d)"), own.groups, then=r"-\d", least=3)],
    }
    return rules.get(speaker.code, [])


class _Codes:
    def __init__(self, speaker: Speaker) -> None:
        self._speaker, self._between = speaker, pause(speaker)

    def groups(self, match: re.Match[str]) -> str:
        return grouped(self._speaker, match.group())

    def lettered(self, match: re.Match[str]) -> str:
        return spelled(self._speaker, match.group().lstrip("#"))

    def letters(self, match: re.Match[str]) -> str | None:
        if match.group() in self._speaker.language.abbreviations:
            return None
        if zone := re.fullmatch(r"(UTC|GMT)-(\d{1,2})", match.group()):
            return self._speaker.join(zone[1], self._speaker.words.minus, self._speaker.number(zone[2]))
        if difference := re.fullmatch(r"([a-z])-(\d+)", match.group()):
            minus = self._speaker.words.subtracted if self._speaker.code == "zh" else self._speaker.words.minus
            return self._speaker.join(f"{difference[1]} ", minus, f" {self._speaker.number(difference[2])}")
        if re.match(r"[a-z]{2,}-\d|ISBN\d|[AD]C\d+V\Z|[A-Za-z]+0\d{1,3}-\d", match.group()):
            return None  # a word and a number, mid-1980s
        if match.string[match.end() : match.end() + 1] == "%" or re.match(r"\.\d", match.string[match.end() :]):
            return None
        if (
            _FLIGHT.fullmatch(match.group())
            and self._speaker.word_before(match.string, match.start()).lower() == "flight"
        ):
            return spelled(self._speaker, match.group())
        return _name(self._speaker, match.group())

    def named_range(self, match: re.Match[str]) -> str | None:
        """*J deux à J trois*, *A1 bis A4*"""
        if match[5]:
            return self._speaker.join(
                _name(self._speaker, match[5]) or "", self._speaker.words.to, _name(self._speaker, match[6]) or ""
            )
        if int(match[2]) >= int(match[4]):
            return None
        first, last = (_name(self._speaker, f"{match[1]}{number}") for number in (match[2], match[4]))
        return self._speaker.join(first or "", self._speaker.words.to, last or "")

    def long(self, match: re.Match[str]) -> str:
        return self._speaker.numbers.called(match.group())

    def after_cue(self, match: re.Match[str]) -> str | None:
        lead = match.string[max(0, match.start() - 24) : match.start()]
        if _CJK_CUE.search(lead):
            return self._speaker.numbers.called(match.group())
        before = re.findall(r"[^\W\d_]+", lead)
        return (
            self._speaker.numbers.digits(match.group())
            if any(word.lower() in _CODE_CUES for word in before[-2:])
            else None
        )

    def counted(self, match: re.Match[str]) -> str:
        joiner = "の" if self._speaker.code == "ja" else self._between
        return joiner.join(self._speaker.number(part) for part in match.group().split("-"))

    def emergency(self, match: re.Match[str]) -> str | None:
        if self._speaker.code == "de":
            return self._speaker.numbers.digits(match.group()) if _EMERGENCY.search(match.string) else None
        called = self._speaker.word_before(match.string, match.start()).lower() in ("call", "dial", "or", "text")
        return self._speaker.numbers.digits(match.group()) if called else None

    def helpline(self, match: re.Match[str]) -> str:
        return grouped_digits(self._speaker, f"{match[1]} {match[2]}")

    def model(self, match: re.Match[str]) -> str:
        """*RTX forty ninety*"""
        return self._speaker.numbers.year(int(match.group()))


def postcode(speaker: Speaker) -> Callable[[re.Match[str]], str | None]:
    """`10115 Berlin`, after a comma or alone: no number of people."""

    def say(match: re.Match[str]) -> str | None:
        lead = match.string[: match.start()].rstrip()[-1:]
        return speaker.numbers.digits(match.group()) if lead in (",", ":", "") else None

    return say


def digits_first(speaker: Speaker) -> Callable[[re.Match[str]], str | None]:
    """`4K`, `3D`, `2FA`: left to units and ordinals where they know it."""

    def say(match: re.Match[str]) -> str | None:
        if speaker.code in ("fr", "es") and re.fullmatch(r"[12]m\d\d", match.group()):
            return None  # how tall someone is
        tail = re.sub(r"^\d+", "", match.group())
        compound = re.match(r"/m?L", match.string[match.end() :])
        if compound and f"{tail}{compound.group()}" in units(speaker.code):
            return None
        named = re.match(r" [A-Z]", match.string[match.end() :])
        if tail in CODES:
            return None  # 1USD
        if tail in units(speaker.code) or (tail in speaker.language.money.scales and tail not in ("K",)):
            return None if not (named and tail == "B") else _name(speaker, match.group())
        return _name(speaker, match.group())

    return say


def dashed(grouped: Callable[[re.Match[str]], str]) -> Callable[[re.Match[str]], str | None]:
    """`12-34-56`: no date, no sum, so a code."""

    def say(match: re.Match[str]) -> str | None:
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}|\d{2}-\d{2}-\d{4}", match.group()):
            return None
        return grouped(match)

    return say


def _name(speaker: Speaker, name: str) -> str | None:
    """A name with digits in it: letters as they are, short numbers as numbers, long ones digit by digit."""
    pieces = _PIECES.findall(name)
    many = len(pieces) > 3 and not _PRODUCT.match(name)
    codelike = not is_formula(name) and (many or any(len(piece) > 3 and piece.isdigit() for piece in pieces))
    if len(pieces) == 2 and _YEAR.fullmatch(pieces[1]) and speaker.spaced and pieces[0].isupper():
        return f"{pieces[0]} {speaker.numbers.year(int(pieces[1]))}"
    said: list[str] = []
    for piece in pieces:
        if not piece[0].isdigit():
            said.append(" ".join(piece) if (codelike or many) and piece.isupper() else piece)
        elif "." in piece:
            said.append(speaker.number(piece.replace(".", ",") if speaker.language.comma_decimal else piece))
        elif codelike or (len(piece) > 1 and piece[0] == "0") or (len(piece) == 3 and name[0].islower()):
            said.append(speaker.numbers.digits(piece))
        else:
            said.append(speaker.number(piece))
    return " ".join(said)
