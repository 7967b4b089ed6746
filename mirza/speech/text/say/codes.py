"""Codes: what is read digit by digit, or letter by letter. Phone numbers, accounts, versions, names like `B2B`."""

from __future__ import annotations

import re
from collections.abc import Callable

from mirza.speech.text.language import units
from mirza.speech.text.say.base import MANY_DIGITS, Rule, Speaker
from mirza.speech.text.say.chemistry import is_formula
from mirza.speech.text.say.money import CODES

_IBAN = re.compile(r"[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![\w])")
_CARD = re.compile(r"\d{4}(?:[ -]\d{4}){2,3}(?!\d)")
_INTERNATIONAL = re.compile(r"(?:\+|00)\d{1,3}(?:[ .\xa0-]?\(?\d{1,4}\)?){2,6}(?!\d)")
_AMERICAN = re.compile(r"(?:1[-. ])?\(?\d{3}\)?[-. ]\d{3}[-. ]\d{4}(?!\d)|\d{3}-\d{4}(?![\d-])")
_FRENCH = re.compile(r"0\d(?:[ .\xa0-]\d{2}){4}(?!\d)|0[1-9]\d{8}(?!\d)")
_LOCAL = re.compile(r"0\d{1,4}[-/ ]\d{2,4}(?:[- ]?\d{2,4}){1,3}(?!\d)|\(0\d{1,4}\) ?\d{2,4}(?:[- ]?\d{2,4}){1,3}(?!\d)")
_SPANISH = re.compile(
    r"[89]\d(?:[ .-]\d{3}[ .-]\d{2}[ .-]?\d{2}|(?:[ .-]\d{2}){2}[ .-]\d{3})(?!\d)|[6789]\d{2}[ -]?\d{3}[ -]?\d{3}(?!\d)|[6789]\d{2}(?: \d{2}){3}(?!\d)|"
    r"\d{2}[ -]\d{4}[ -]\d{4}(?!\d)|[2-9]\d{2}[ -]\d{3}[ -]\d{4}(?!\d)"
)
_CHINESE = re.compile(r"1[3-9]\d(?:[ -]?\d{4}){2}(?!\d)|[48]00(?:-\d{3,4}){2}(?!\d)")
_HARDWARE = re.compile(r"[\dA-F]{2}(?:[:-][\dA-F]{2}){5}(?!\w)")
"""The address of a network card."""
_IP = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}(?:(?P<sign>[:/])\d{1,5})?(?![\w.]*\d)")
_VERSION = re.compile(
    r"[vV]?\d+(?:\.\d+){2,5}(?!\d)(?:-(?:alpha|beta|rc|dev|pre)(?:\.?\d+)?(?!\w))?|[vV]\d+(?:\.\d+)?(?!\d)(?:-(?:alpha|beta|rc|dev|pre)(?:\.?\d+)?(?!\w))?"
)
_REGISTERED = re.compile(r"(?:FR|DE|ES|BE|AT|IT)?[ ]?\d{2,}(?:[ \xa0\u202f]\d{2,})+(?!\d)")
"""A number of a company or a person, in groups."""
_REGISTERED_WHOLE = re.compile(r"\d{7,}(?!\d)")
_PERSON = re.compile(r"\d{1,3}(?:[ \xa0\u202f]\d{2,3}){4,}(?!\d)")
_REGISTERS = re.compile(
    r"(?:siret|siren|rcs|tva|nir|sécu|sociale|intracom(?:\.|munautaire)|steuer-?id|\w+nummer|idnr\.?|postfach|"
    r"(?:compte|dossier|contrat|client|afiliación|cuenta|expediente|konto)(?=\s*(?:n[°.º]|:)))[\s.:°ºn]{0,6}(?:[A-Z]{2} ?)?\Z",
    re.IGNORECASE,
)
_FILED = re.compile(r"(?<![\d/])\d+/\d{5,}(?:/\d+)?(?![\d/])")
_SHORT_NUMBER = re.compile(r"(?:(?<=le )|(?<=au ))[13]\d{3}(?![.,]?\d|[:/%-]|[ \xa0\u202f]?[€\d])")
_CALLS = re.compile(r"compos|appel|télépho|joign|joindre|numéro|serveur|urgence", re.IGNORECASE)
_ENGINE = re.compile(r"V\d{1,2}")
_SERIAL = re.compile(r"(?=[\d-]*\d{4})\d+(?:-\d+){3,}(?![\w-])")
_UUID = re.compile(r"[\da-fA-F]{8}(?:-[\da-fA-F]{4}){3}-[\da-fA-F]{12}(?!\w)")
_DOI = re.compile(r"10\.\d{4,5}/[\w./()-]*\w")
_ARXIV = re.compile(r"(?<=arXiv:)\d{4}\.\d{4,5}(?:v(\d+))?(?!\w)")
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
_LONG = re.compile(r"\d{16,}|0\d+(?![.,:/hH]?\d)")
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
    numbers, words = speaker.numbers, speaker.words
    pause = words.pause + (" " if speaker.language.spaced else "")

    def grouped_digits(written: str) -> str:
        return pause.join(numbers.called(group) for group in re.split(r"\D+", written) if group)

    def grouped(match: re.Match[str]) -> str:
        plus = words.plus if match.group().startswith("+") else ""
        return speaker.join(plus, grouped_digits(match.group()))

    def pairs(match: re.Match[str]) -> str | None:
        digits = re.sub(r"\D", "", match.group())
        if speaker.code != "fr" or len(digits) != 10:
            return None
        return pause.join(_french_pair(speaker, digits[at : at + 2]) for at in range(0, 10, 2))

    def international(match: re.Match[str]) -> str | None:
        digits = re.sub(r"\D", "", match.group())
        if not 8 <= len(digits) <= 15:
            return None
        if speaker.code == "fr" and match.group().startswith("+33"):
            rest = digits[2:].lstrip("0")
            heads = [rest[0], *(rest[at : at + 2] for at in range(1, len(rest), 2))]
            country = speaker.join(words.plus, numbers.cardinal(33))
            return pause.join([country, *(_french_pair(speaker, head) for head in heads)])
        if speaker.code == "es" and match.group().startswith("+34"):
            country = speaker.join(words.plus, numbers.cardinal(34))
            return pause.join([country, grouped_digits(match.group()[3:])])
        return grouped(match)

    def iban(match: re.Match[str]) -> str:
        characters = re.sub(r"\s", "", match.group())
        groups = [characters[at : at + 4] for at in range(0, len(characters), 4)]
        return pause.join(_spelled(speaker, group) for group in groups)

    def uuid(match: re.Match[str]) -> str:
        return pause.join(_spelled(speaker, group) for group in match.group().split("-"))

    def doi(match: re.Match[str]) -> str:
        """*ten dot one zero three eight slash nature one four five three nine*"""
        prefix, _, suffix = match.group().partition("/")
        name = [numbers.digits(part) if part.isdecimal() else part for part in re.findall(r"\d+|[A-Za-z]+", suffix)]
        publisher = numbers.digits(prefix.partition(".")[2])
        return speaker.join(numbers.cardinal(10), words.dot, publisher, words.slash, *name)

    def arxiv(match: re.Match[str]) -> str:
        first, _, second = match.group().partition("v")[0].partition(".")
        version = f"v {speaker.number(match[1])}" if match[1] else ""
        return speaker.join(numbers.digits(first), words.dot, numbers.digits(second), version)

    def hardware(match: re.Match[str]) -> str:
        return pause.join(_spelled(speaker, pair) for pair in re.split("[:-]", match.group()))

    def ip(match: re.Match[str]) -> str:
        address, _, port = match.group().partition(match["sign"] or ":")
        said = f" {words.dot} ".join(_ip_part(speaker, part) for part in address.split("."))
        said = said if speaker.language.spaced else said.replace(" ", "")
        if match["sign"] == "/":
            return speaker.join(said, words.slash, speaker.number(port))
        return said + (pause + numbers.digits(port) if port else "")

    def version(match: re.Match[str]) -> str | None:
        text = match.group()
        if _ENGINE.fullmatch(text) and speaker.spaced:
            return None
        if re.fullmatch(r"\d{1,2}\.\d{1,2}\.(?:\d{4}|\d{2})", text) and speaker.language.comma_decimal:
            return None  # a date
        if re.fullmatch(r"\d{1,3}(?:\.\d{3})+", text) and speaker.language.comma_decimal:
            return None  # thousands
        text, _, stage = text.partition("-")
        parts = text.lstrip("vV").split(".")
        dot = speaker.point(".") if speaker.code != "fr" else "point"
        said = f" {dot} ".join(speaker.number(part) for part in parts)
        said = said if speaker.language.spaced else said.replace(" ", "")
        name = {"zh": "版本", "ja": "バージョン", "es": "versión"}.get(speaker.code, "version")
        if stage:
            said = speaker.join(said, *(_version_part(speaker, part) for part in re.findall(r"\d+|[a-z]+", stage)))
        called = speaker.word_before(match.string, match.start()).lower() in (name, "version", "versión") or (
            not speaker.spaced and speaker.word_before(match.string, match.start()).endswith((name, f"{name}号"))
        )
        return speaker.join(
            ("" if called else name if speaker.code != "de" else "Version") if text[0] in "vV" else "", said
        )

    def named_version(match: re.Match[str]) -> str | None:
        if speaker.word_before(match.string, match.start()).lower() not in speaker.language.version_cues:
            return None
        dot = "point" if speaker.code == "fr" else speaker.point(".")
        return speaker.join(speaker.number(match[1]), dot, speaker.number(match[2]))

    def spelled(match: re.Match[str]) -> str:
        return _spelled(speaker, match.group().lstrip("#"))

    def letters(match: re.Match[str]) -> str | None:
        if match.group() in speaker.language.abbreviations:
            return None
        if zone := re.fullmatch(r"(UTC|GMT)-(\d{1,2})", match.group()):
            return speaker.join(zone[1], words.minus, speaker.number(zone[2]))
        if difference := re.fullmatch(r"([a-z])-(\d+)", match.group()):
            minus = words.subtracted if speaker.code == "zh" else words.minus
            return speaker.join(f"{difference[1]} ", minus, f" {speaker.number(difference[2])}")
        if re.match(r"[a-z]{2,}-\d|ISBN\d|[AD]C\d+V\Z|[A-Za-z]+0\d{1,3}-\d", match.group()):
            return None  # a word and a number, mid-1980s
        if match.string[match.end() : match.end() + 1] == "%" or re.match(r"\.\d", match.string[match.end() :]):
            return None
        if _FLIGHT.fullmatch(match.group()) and speaker.word_before(match.string, match.start()).lower() == "flight":
            return _spelled(speaker, match.group())
        return _name(speaker, match.group())

    def named_range(match: re.Match[str]) -> str | None:
        """*J deux à J trois*, *A1 bis A4*"""
        if match[5]:
            return speaker.join(_name(speaker, match[5]) or "", words.to, _name(speaker, match[6]) or "")
        if int(match[2]) >= int(match[4]):
            return None
        first, last = (_name(speaker, f"{match[1]}{number}") for number in (match[2], match[4]))
        return speaker.join(first or "", words.to, last or "")

    def long(match: re.Match[str]) -> str:
        return numbers.called(match.group())

    def after_cue(match: re.Match[str]) -> str | None:
        lead = match.string[max(0, match.start() - 24) : match.start()]
        if _CJK_CUE.search(lead):
            return numbers.called(match.group())
        before = re.findall(r"[^\W\d_]+", lead)
        return numbers.digits(match.group()) if any(word.lower() in _CODE_CUES for word in before[-2:]) else None

    def registered(match: re.Match[str]) -> str | None:
        return (
            speaker.join(*re.findall("[A-Z]", match.group()), grouped(match))
            if _REGISTERS.search(match.string, 0, match.start())
            else None
        )

    def person(match: re.Match[str]) -> str | None:
        """`2 84 05 75 123 456 78`: groups that are no thousands"""
        groups = match.group().split()
        if all(len(group) == 3 for group in groups[1:]):
            return None
        return pause.join(
            _french_pair(speaker, group) if len(group) == 2 else speaker.number(group) for group in groups
        )

    def short_number(match: re.Match[str]) -> str | None:
        """*le trente-neuf dix-neuf*"""
        if not _CALLS.search(match.string):
            return None
        return " ".join(_french_pair(speaker, pair) for pair in (match.group()[:2], match.group()[2:]))

    def docket(match: re.Match[str]) -> str:
        """*zéro trois tiret dix point neuf cent vingt-et-un*"""
        said = {"-": words.dash, ".": speaker.point("."), "/": words.slash}
        return speaker.join(*(said.get(part) or speaker.number(part) for part in re.findall(r"\d+|\D", match.group())))

    def toll_free(match: re.Match[str]) -> str:
        """`1-800-FLOWERS`"""
        hundred = match[1].endswith("00")
        area = speaker.number(match[1]) if hundred else numbers.digits(match[1])
        return f"{numbers.digits('1')}{pause}{area}{words.pause}"

    def law(match: re.Match[str]) -> str:
        """*article L cent vingt-et-un tiret trois*"""
        return f" {words.dash} ".join(speaker.number(part) for part in match.group().split("-"))

    phones = {
        "en": [
            Rule("0", re.compile(r"1-(8\d\d)-(?=[A-Z]{2})"), toll_free, then="-8", least=1),
            Rule("0$", _AMERICAN, grouped, then=r"[-. ](?:\d{3}|\(\d\d)|\)[-. ]\d\d", first="("),
        ],
        "fr": [
            Rule("0", _FRENCH, pairs, least=2, zero=True),
            Rule("0", _PERSON, person, then=r"[ \xa0\u202f]\d"),
            Rule("0", _SHORT_NUMBER, short_number, least=4),
            Rule(
                "0",
                re.compile(r"(?:(?<=[LRD]\. )|(?<=icle )|(?<=art\. ))\d{1,4}(?:-\d{1,3})+(?![\w-])"),
                law,
                then=r"-\d",
            ),
        ],
        "es": [Rule("0", _SPANISH, grouped, least=2)],
        "zh": [Rule("0", _CHINESE, grouped, least=3)],
    }

    def counted(match: re.Match[str]) -> str:
        joiner = "の" if speaker.code == "ja" else pause
        return joiner.join(speaker.number(part) for part in match.group().split("-"))

    def emergency(match: re.Match[str]) -> str | None:
        if speaker.code == "de":
            return numbers.digits(match.group()) if _EMERGENCY.search(match.string) else None
        called = speaker.word_before(match.string, match.start()).lower() in ("call", "dial", "or", "text")
        return numbers.digits(match.group()) if called else None

    def helpline(match: re.Match[str]) -> str:
        return grouped_digits(f"{match[1]} {match[2]}")

    def model(match: re.Match[str]) -> str:
        """*RTX forty ninety*"""
        return numbers.year(int(match.group()))

    extra = {
        "en": [
            Rule("0", re.compile(r"(?:(?<=, [A-Z]{2} )|(?<=ZIP ))\d{5}(?:-\d{4})?(?![\d-])"), grouped, least=5),
            Rule(
                "0",
                re.compile(r"(?:(?<=chmod )|(?<=area code )|(?<=CVV )|(?<=CVC ))\d{3,4}(?![\d.,]*\d)"),
                long,
                least=3,
            ),
            Rule(
                "0",
                re.compile(
                    r"(?<=[A-Z][A-Z] )[1-9]\d{3}(?![\d.,:%/-]*\d|[^\W_]| ?[%€$]| (?!(?:with|and|or|is|was|has|to|for|at|in|on|card|cards|can)\b)[a-z])"
                ),
                model,
                least=4,
            ),
            Rule("0", re.compile(r"(?<=, )\d{5}(?= [A-ZÄÖÜÉ][a-zäöüé])"), long, then=" [A-ZÄÖÜÉ]", least=5),
            Rule("0", re.compile(r"(?:911|999|112|988|311|411)(?![\d.,:%/-]*\d)"), emergency, least=3),
        ],
        "zh": [Rule("0", re.compile(r"(?<=[打拨警话])1(?:10|19|20|22)(?!\d)"), long, least=3)],
        "de": [
            Rule("$", re.compile(r"(?<=Fax: )[-–](\d{1,4})(?!\d)"), lambda match: numbers.digits(match[1]), first="-–"),
            Rule("0", re.compile(r"(116)[ \xa0]?(11\d|00\d)(?!\d)"), helpline, least=3),
            Rule(
                "0", re.compile(r"(?:112|110)(?![\d.,:%/-]*\d)(?! ?(?:[A-ZÄÖÜ€%]|[cmk]?m\b|kg\b))"), emergency, least=3
            ),
            Rule("0", re.compile(r"\d{5}(?= [A-ZÄÖÜ][a-zäöü])"), postcode(speaker), then=" [A-ZÄÖÜ]", least=5),
        ],
        "ja": [Rule("0", re.compile(r"\d{3}-\d{4}(?![\d-])"), grouped, then=r"-\d", least=3)],
    }
    return [
        Rule("a", _IBAN, iban, first="A-Z"),
        Rule("0a", _UUID, uuid, then=r"[\da-fA-F-]", first="A-Fa-f"),
        Rule("0", _DOI, doi, then=r"\.\d", least=2),
        Rule("0", _ARXIV, arxiv, then=r"\.\d", least=4),
        Rule("0a", _HARDWARE, hardware, then=r"[A-F]?[-:][\dA-F]{2}[-:]|[A-F][-:][\dA-F]{2}", first="A-F"),
        Rule("0$", _INTERNATIONAL, international, first="+", least=3, zero=True),
        *phones.get(speaker.code, []),
        Rule("0a", _REGISTERED, registered, then=r"[ \xa0\u202f]\d\d", first="FDEBAI", least=2),
        Rule("0", _REGISTERED_WHOLE, registered, least=MANY_DIGITS),
        Rule("0", re.compile(r"(?<=[°º.] )\d+-\d+\.\d+(?![\d-])"), docket, then=r"-\d"),
        Rule("0", _FILED, grouped, then=r"/\d{3}"),
        Rule("0", _CARD, grouped, then=r"[- ]\d", least=4),
        Rule("0", _IP, ip, then=r"\.(?:\d{1,2}\.|\d{3})"),
        Rule("0a", _VERSION, version, then=r"\.(?:\d{1,2}\.|\d{3})", first="vV"),
        Rule("0", re.compile(r"(\d+)\.(\d+)(?![\d.,]*\d)"), named_version, then=r"\.\d"),
        Rule("0$", _HEX, spelled, then="x", first="#"),
        Rule("0", re.compile(r"\d{3}-\d{2}-\d{4}(?!\d)"), grouped, then=r"-\d", least=3),
        Rule("0", _SERIAL, grouped, then=r"-\d(?:-\d|\d[-\d])"),
        *extra.get(speaker.code, []),
        Rule("0", _LOCAL, grouped, then=r"[-/ ]\d", least=2, zero=True),
        Rule("0", _AFTER_CUE, after_cue, least=4),
        Rule(
            "0",
            re.compile(r"\d{3,5}(?=室|房|号房|热线|号室|会议室|教室|病房|包[间厢房]|宿舍)"),
            long,
            then="[室房号热会教病包宿]",
            least=3,
        ),
        Rule("a", _NAMED_RANGE, named_range, first="A-Z"),
        Rule("a", _LETTERS, letters, first="A-Za-z"),
        Rule("0", _DIGITS_FIRST, digits_first(speaker), then="[A-Za-z]"),
        Rule("0", _DASHED, dashed(grouped), then=r"-\d\d[-\d]", least=2),
        Rule("0", re.compile(r"\d{1,3}(?:-\d{1,3}){2,}(?![\w-])", re.ASCII), counted, then=r"-\d(?:-\d|\d[-\d])"),
        Rule("0", _LONG, long, least=2, zero=True),
    ]


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


def _version_part(speaker: Speaker, part: str) -> str:
    return speaker.number(part) if part.isdigit() else part


def _french_pair(speaker: Speaker, pair: str) -> str:
    if pair[0] == "0" and len(pair) == 2:
        return f"{speaker.numbers.cardinal(0)} {speaker.numbers.cardinal(int(pair[1]))}"
    return speaker.numbers.cardinal(int(pair))


def _ip_part(speaker: Speaker, part: str) -> str:
    """In English, Chinese and Japanese the digits of an address are said one by one, elsewhere as numbers."""
    if speaker.language.comma_decimal:
        return speaker.numbers.cardinal(int(part))
    return speaker.numbers.digits(part)


def _spelled(speaker: Speaker, characters: str) -> str:
    """Letter by letter and digit by digit."""
    said = [speaker.numbers.digits(char) if char.isdigit() else char.upper() for char in characters]
    return " ".join(said)


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
