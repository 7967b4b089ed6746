"""Amounts of money: *three dollars and fifty cents*, *trois euros cinquante*, *三点五元*."""

from __future__ import annotations

import re

from babel.numbers import get_currency_name

from mirza.speech.text.language import Currency, units
from mirza.speech.text.numbers import FEMININE, MASCULINE
from mirza.speech.text.places import any_of
from mirza.speech.text.say import german
from mirza.speech.text.say.base import SPACE, Rule, Speaker, after_number, begun, first_of
from mirza.speech.text.say.unit_names import per_name

_SIGNS = {
    "US$": "USD", "CA$": "CAD", "C$": "CAD", "AU$": "AUD", "A$": "AUD", "NZ$": "NZD", "HK$": "HKD", "R$": "BRL",
    "$US": "USD", "$CA": "CAD", "MX$": "MXN", "S$": "SGD", "NT$": "TWD", "$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY",
    "₹": "INR", "₩": "KRW", "₽": "RUB", "₺": "TRY", "₫": "VND", "฿": "THB", "₴": "UAH", "₪": "ILS", "₱": "PHP",
    "₦": "NGN", "₿": "BTC", "zł": "PLN", "Kč": "CZK",
}  # fmt: skip
CODES = (
    "USD EUR GBP JPY CNY RMB CHF CAD AUD NZD INR KRW BRL MXN RUB SEK NOK DKK PLN CZK HUF TRY ZAR SGD HKD THB ILS AED SAR "
    "EGP ARS CLP COP PEN UAH VND PHP MYR IDR TWD MAD BTC ETH"
).split()
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
_ALONE = re.compile(r"(?<=[^\W\d_][ \xa0'’])[€£¥₹](?!\w)|(?<=\b(?:de|en|in|of) )\$(?!\w)")
"""A sign without an amount, after a word: *millones de €*."""
_PESOS = re.compile(
    r"\bM\. ?N\.|\b(?:MXN|ARS|COP|CLP)\b|\bpesos?\b|M[eé]xic|Argentin|Colombi|Chile|\bCDMX\b|Guadalajara|Bogotá|Buenos Aires"
)
"""Where a dollar sign is one of pesos."""
_JAPANESE_PER = {
    "人": "一人", "名": "一名", "月": "一か月", "ヶ月": "一か月", "か月": "一か月", "年": "一年", "日": "一日", "週": "一週間", "回": "一回",
    "個": "一個", "枚": "一枚", "本": "一本", "泊": "一泊", "時間": "一時間", "時": "一時間", "分": "一分", "台": "一台", "冊": "一冊",
    "杯": "一杯", "坪": "一坪", "㎡": "一平方メートル", "m²": "一平方メートル", "m2": "一平方メートル", "kg": "一キログラム", "g": "一グラム", "h": "一時間", "100g": "百グラム", "L": "一リットル", "km": "一キロメートル",
}  # fmt: skip
_OWN_NAMES = {"BTC": "bitcoin", "ETH": "ether"}


def triggers() -> frozenset[str]:
    """Codes that an amount follows."""
    return frozenset(CODES)


def rules(speaker: Speaker) -> list[Rule]:
    """Amounts with their sign or code before or after them, and small coins."""
    number = rf"\d{{1,3}}(?:,\d{{3}})+(?!\d)(?:\.\d+)?|\.\d{{2}}(?!\d)|{speaker.number_pattern}"
    names = any_of([*_SIGNS, *CODES])
    scales = any_of([scale for scale in speaker.language.money.scales if "€" not in scale])
    scale_words = any_of(speaker.language.money.scale_words)
    scale = rf"(?:{SPACE}?(?P<scale>{scales})(?![^\W\d_]|\. ?[A-Z]\.)|{SPACE}?(?P<word>{scale_words})(?![^\W\d_\u3040-\u9fff]))?"
    codes = "|".join(CODES)
    again = rf"(?:(?:{scales})?(?={SPACE}?[-–—]{SPACE}?(?:{number}){SPACE}?(?:{scales})(?![^\W\d_])))?"  # $58k–60k
    to = rf"{again}(?:{SPACE}?[-–—]{SPACE}?(?:{names})?(?P<second>{number}))?"
    per = rf"(?:/(?P<per>\d+(?:[kKM](?![^\W_])|{SPACE}?(?:{any_of(units(speaker.code))})(?![^\W_]))|小时|分钟|盎司|公斤|千克|平方?米|公里|千米|加仑|人次|[\u3040-\u9fff]|[^\W\d_\u3040-\u9fff]+)(?:\.(?=[,;)]| [a-z]))?)?"
    own = any_of({"pesos", *(word for name in speaker.language.money.names.values() for word in (name.one, name.many))})
    twice = rf"(?:{SPACE}(?:{own})(?!\w))?" if speaker.spaced else rf"(?:{own})?"  # ￥8,999元, $250 pesos
    ahead = re.compile(
        rf"(?<![A-Z]/)(?P<sign>{names}){SPACE}?(?P<minus>[-−])?(?P<first>{number}){to}{scale}(?:{SPACE}(?P<code>{codes})(?!\w))?{twice}{per}"
    )
    ahead_of = r"|(?<= .)\d" if speaker.code == "en" else ""  # '24 $1.2M; French has *5 €20*
    behind = re.compile(
        rf"(?P<first>{number}){to}{scale}{SPACE}?(?P<sign>{names})(?![^\W\d_]{ahead_of})(?P<minus>\Z(?!\Z))?(?P<code>\Z(?!\Z))?{per}"
    )
    amounts = _Amounts(speaker)
    lost = re.compile(
        rf"(?P<sign>{names})\((?P<first>{number})\)(?:{SPACE}?(?P<scale>{scales})(?![^\W\d_])|{SPACE}(?P<word>{scale_words})\b)?"
    )
    names_per = any_of(_JAPANESE_PER)
    yen = re.compile(rf"({number})([万億]?円)[/／](?:1|一)?({names_per})(?![^\W\d_\u3040-\u309f])")
    japanese = [Rule("0", yen, amounts.yen_per, then=after_number("[万億]?円"))] if speaker.code == "ja" else []
    even = re.compile(
        rf"(?P<first>\d+)(?:,[-–—]{{1,2}}{SPACE}?(?P<sign>€|Euro|EUR|CHF)?|\.[-–—]{{1,2}}{SPACE}(?P<franc>CHF|Fr\.))(?![\w-])"
    )
    after = [*_SIGNS, *CODES, *speaker.language.money.scales, *speaker.language.money.scale_words]
    return [
        *([Rule("0", even, amounts.even, then="[,.][-–—]")] if speaker.code in ("de", "fr") else []),
        Rule("a$", lost, amounts.lost, first=first_of([*_SIGNS, *CODES])),
        Rule("a$", ahead, amounts.say, first=first_of([*_SIGNS, *CODES])),
        Rule("0", behind, amounts.say, then=after_number(rf"{SPACE}?(?:[-–—]|{begun(after)})")),
        *japanese,
        Rule("$", _ALONE, amounts.sign, first="$€£¥₹"),
        Rule("$", re.compile(r"(?<!\w)([$€£])/([A-Za-z]+)?(?=\w|[^\w/])"), amounts.each, first="$€£"),
        Rule(
            "0",
            re.compile(rf"(?:({number})¢?[-–])?({number}){SPACE}?¢"),
            amounts.cents,
            then=after_number(f"{SPACE}?[-–¢]"),
        ),
    ]


class _Amounts:
    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker
        self._money = speaker.language.money

    def say(self, match: re.Match[str]) -> str | None:
        currency = self._currency(match["code"] or match["sign"])
        if match["sign"] == "$" and not match["code"] and self._speaker.code == "es" and _PESOS.search(match.string):
            currency = Currency("peso", "pesos", "centavo", "centavos", MASCULINE)
        words = self._speaker.words
        minus = words.minus if match["minus"] else ""
        per = f"{words.per} {per_name(self._speaker, match['per'])}" if match["per"] else ""
        if match["per"] == "ea" and self._speaker.code == "en":
            per = "each"
        scale = self._money.scales.get(match["scale"] or "", match["word"] or "")
        last = self._own(match["second"] or match["first"])
        value = self._speaker.value(last)
        if match["second"]:
            early = self._own(match["first"])
            coins = (
                currency.cents and not scale and len(self._speaker.split(early)[1]) == 3 and self._speaker.code != "zh"
            )
            first = (
                self._amount(early, self._speaker.value(early), "", currency)
                if coins
                else self._speaker.number(early, currency.gender)
            )
            amount = self._speaker.join(first, words.to, self._amount(last, value, scale, currency))
        else:
            if self._speaker.attributive(match):
                currency = Currency(currency.one, currency.one, currency.cent, currency.cent, currency.gender)
            amount = self._amount(last, value, scale, currency)
            if self._speaker.code == "de" and amount.startswith("ein "):
                article = german.one(self._speaker, match.string, match.start(), currency.one)
                amount = (article or "ein") + amount.removeprefix("ein")
        if per and self._speaker.code == "zh":
            return per + minus + amount
        if per and self._speaker.code == "ja":
            return f"一{per_name(self._speaker, match['per'])}あたり{minus}{amount}"
        return self._speaker.join(minus, amount, per)

    def _own(self, literal: str) -> str:
        """`$1,500`, which is written so in Mexico too: of no other amount would that be one and a half."""
        if self._speaker.language.comma_decimal and _THOUSANDS.fullmatch(literal):
            return literal.replace(",", "")
        return literal

    def lost(self, match: re.Match[str]) -> str:
        """`$(12.4)M`, which is how accountants write a loss."""
        scale = self._money.scales.get(match["scale"] or "", match["word"] or "")
        amount = self._amount(match["first"], self._speaker.value(match["first"]), scale, self._currency(match["sign"]))
        return self._speaker.join(self._speaker.words.minus, amount)

    def even(self, match: re.Match[str]) -> str:
        """`499,- €`, without coins."""
        currency = self._currency("CHF" if match["franc"] else match["sign"] if match["sign"] in CODES else "EUR")
        return self._amount(match["first"], self._speaker.value(match["first"]), "", currency)

    def yen_per(self, match: re.Match[str]) -> str:
        """*一人あたり九百八十円*"""
        return f"{_JAPANESE_PER[match[3]]}あたり{self._speaker.number(match[1])}{match[2]}"

    def sign(self, match: re.Match[str]) -> str:
        """A sign alone: *millones de euros*."""
        return self._currency(match.group()).many

    def each(self, match: re.Match[str]) -> str:
        """*dollars per*, over a column of prices."""
        name = per_name(self._speaker, match[2]) if match[2] else ""
        return self._speaker.join(self._currency(match[1]).many, self._speaker.words.per, name)

    def cents(self, match: re.Match[str]) -> str:
        currency = self._money.names["USD"]
        one = not match[1] and (self._speaker.value(match[2]) == 1 or self._speaker.attributive(match))
        first = self._speaker.join(self._speaker.number(match[1]), self._speaker.words.to) if match[1] else ""
        last = self._speaker.number(match[2], MASCULINE)
        return self._speaker.join(first, last, currency.cent if one else currency.cents)

    def _currency(self, sign: str) -> Currency:
        code = "CNY" if sign == "RMB" else _SIGNS.get(sign, sign)
        if sign == "¥" and self._speaker.code == "zh":
            code = "CNY"
        if own := self._money.names.get(code):
            return own
        if name := _OWN_NAMES.get(code):
            return Currency(name, name, "", "", MASCULINE)
        one = get_currency_name(code, count=1, locale=self._speaker.code)
        many = get_currency_name(code, count=5, locale=self._speaker.code)
        gender = self._speaker.language.nouns.gender(one.split()[0])
        return Currency(one, many, "cent" if self._speaker.code == "en" else "", "cents", gender)

    def _amount(self, literal: str, value: float, scale: str, currency: Currency) -> str:
        if scale:
            return self._scaled(literal, value, scale, currency)
        whole, decimals = self._speaker.split(literal)
        if currency.cents and len(decimals) in (2, 3) and self._speaker.code != "zh":
            return self._with_cents(int(whole or 0), int(decimals[1:].ljust(2, "0")), currency)
        if self._money.of and not decimals and value and value % 1_000_000 == 0:
            return self._speaker.join(self._speaker.number(literal, MASCULINE), self._of(currency.many))
        few = value < 2 if self._speaker.code == "fr" else value == 1
        gender = currency.gender if self._speaker.code != "de" or currency.gender == FEMININE else MASCULINE
        if decimals:
            literal = literal.rstrip("0").rstrip(".,")
        return self._speaker.join(self._speaker.number(literal, gender), currency.one if few else currency.many)

    def _scaled(self, literal: str, value: float, scale: str, currency: Currency) -> str:
        said = self._speaker.number(literal, MASCULINE)
        if not self._speaker.spaced and (times := {"千": 1_000, "百万": 1_000_000}.get(scale)):
            return self._speaker.numbers.cardinal(round(value * times)) + currency.many
        match self._speaker.code:
            case "fr" if scale in ("million", "milliard") and value >= 2:
                scale += "s"
            case "es" if scale in ("millones", "billones") and value == 1:
                scale = scale.replace("ones", "ón")
            case "de" if scale[0].isupper() and value == 1:
                said, scale = "eine", scale.removesuffix("en") + ("e" if scale.startswith("Milliard") else "")
            case _:
                pass
        named = self._of(currency.many) if scale.startswith(("milli", "millo", "milló", "bill")) else currency.many
        return self._speaker.join(said, scale, named)

    def _of(self, name: str) -> str:
        """*d'euros*, *de dollars*"""
        if self._speaker.code == "fr" and name[0].lower() in "aeiouéèêh":
            return f"d'{name}"
        return self._speaker.join(self._money.of, name)

    def _with_cents(self, whole: int, cents: int, currency: Currency) -> str:
        cardinal, join = self._speaker.numbers.cardinal, self._speaker.join
        coin = currency.cent if cents == 1 else currency.cents
        gender = currency.gender if self._speaker.code != "de" or currency.gender == FEMININE else MASCULINE
        said_cents = cardinal(cents, MASCULINE)
        few = whole < 2 if self._speaker.code == "fr" else whole == 1
        said = join(cardinal(whole, gender), currency.one if few else currency.many)
        if not cents:
            return said
        if not whole:
            return join(said_cents, coin)
        match self._speaker.code:
            case "en":
                return join(said, "and", said_cents, coin)
            case "es":
                return join(said, "con", cardinal(cents) if cents >= 10 else join(said_cents, coin))
            case "ja":
                return join(said, said_cents, coin)
            case "fr" | "de" if cents < 10:
                return join(said, self._speaker.words.ampersand, said_cents, coin)
            case _:
                return join(said, cardinal(cents))
