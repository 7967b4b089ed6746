"""Measures and percentages. The names of units are CLDR's, by babel."""

from __future__ import annotations

import re
from functools import lru_cache

from babel.units import format_unit

from mirza.speech.text.language import units
from mirza.speech.text.numbers import COUNTING, FEMININE, MASCULINE
from mirza.speech.text.say.base import SPACE, Rule, Speaker

_FEET = re.compile(r"(\d)['′](?:[ ]?(\d{1,2})(?:[\"″”]|''))?(?!\w)")


def rules(speaker: Speaker) -> list[Rule]:
    """Percentages, measures, and feet with inches."""
    number = speaker.number_pattern
    symbols = "|".join(re.escape(symbol) for symbol in sorted(units(speaker.code), key=len, reverse=True))
    to = rf"(?:{SPACE}?[-–—]{SPACE}?({number}))?"
    percent = re.compile(rf"({number}){to}{SPACE}?([%‰])")
    measure = re.compile(
        rf"({number}){to}(?:{SPACE}|-)?({symbols})(?![^\W_\u3040-\u30ff\u3400-\u9fff]|['’][^\W_])(?:/({symbols}|[^\W\d_]{{3,12}})(?!\w))?"
    )
    measures = _Measures(speaker)
    found = [Rule("0", percent, measures.percent), Rule("0", measure, measures.measure)]
    if speaker.code == "en":
        found.insert(0, Rule("0", _FEET, measures.feet))
    return found


def named(speaker: Speaker, literal: str, unit: str) -> str:
    """A count of a unit, by its name in CLDR: *two hours*."""
    value = speaker.value(literal)
    few = value < 2 if speaker.code == "fr" else value == 1 and literal == "1"
    pattern = _pattern(speaker.code, unit, few)
    return pattern.format(speaker.number(literal, _gender(speaker, pattern)))


class _Measures:
    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker

    def percent(self, match: re.Match[str]) -> str:
        speaker = self._speaker
        sign = speaker.words.percent if match[3] == "%" else speaker.words.per_mille
        first = speaker.number(match[1])
        amount = speaker.join(first, speaker.words.to, speaker.number(match[2])) if match[2] else first
        return sign + amount if speaker.code == "zh" else speaker.join(amount, sign)

    def measure(self, match: re.Match[str]) -> str | None:
        speaker = self._speaker
        symbol = match[3]
        if len(symbol) == 1 and symbol.isalpha() and not _measured(match, symbol):
            return None
        said = named(speaker, match[2] or match[1], units(speaker.code)[symbol])
        if match[2]:
            pattern = _pattern(speaker.code, units(speaker.code)[symbol], False)
            both = speaker.join(speaker.number(match[1]), speaker.words.to, speaker.number(match[2]))
            said = pattern.format(both)
        if match[4]:
            per = match[4]
            name = (
                _pattern(speaker.code, units(speaker.code)[per], True).format("").strip()
                if per in units(speaker.code)
                else per
            )
            said = speaker.join(said, speaker.words.per, name)
        return said

    def feet(self, match: re.Match[str]) -> str | None:
        if not match[2] and match.group().endswith("'"):
            return None
        feet = self._speaker.number(match[1])
        return f"{feet} foot {self._speaker.number(match[2])}" if match[2] else f"{feet} feet"


def _measured(match: re.Match[str], symbol: str) -> bool:
    """Whether a single letter is a unit here: `5 K` may be kelvin, `5K` is a run; `4 A` after `Part` is a name."""
    if symbol == "K":
        return match.group()[-2:-1].isspace()
    return True


def _gender(speaker: Speaker, pattern: str) -> str:
    if speaker.code not in ("fr", "de", "es"):
        return COUNTING
    noun = pattern.format("").split()[0] if pattern.format("").split() else ""
    gender = speaker.language.nouns.gender(noun)
    if gender != FEMININE and speaker.code == "de":
        return MASCULINE
    return gender


@lru_cache(maxsize=1024)
def _pattern(code: str, unit: str, few: bool) -> str:
    """The unit's name with `{}` for the number: *{} kilometers*, *每小时{}公里*."""
    count = 1 if few else 2
    words = format_unit(count, unit, length="long", locale=code).replace("\xa0", " ").replace("{", "").replace("}", "")
    words = re.sub(r"\s*-\s*米国", "", words)
    pattern = words.replace(str(count), "{}", 1)
    return pattern.replace(" ", "") if code in ("zh", "ja") else pattern
