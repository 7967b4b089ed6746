"""Any text, cut anywhere: no exception, the same pieces, nothing lost, bounded delay, time that grows with the text only."""

from __future__ import annotations

import itertools
import random
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from mirza.bench.text import KINDS, text_of
from mirza.speech.text import SpeechText, emphasis
from mirza.speech.text.language import language_for, units
from mirza.speech.text.line import Line
from mirza.speech.text.say.base import Rule
from mirza.speech.text.say.rules import rules_for
from mirza.speech.text.stops import STOPS, Stops
from tests.speech.text_help import LANGUAGES, chunked, corpus, pieces

BITS = [
    *"abzDEF0159 \n.,!?;:'\"-_*~`#>|<[]()&$\\{}=^%/@+é«»ß。？！，、「」日本かな…😀👩🇫²½٣",
    "\u00a0", "\u202f", "\u200d", "\x00", "\x1f", "\t", "\r", "◁", "【", "】", "†", "  ", "\n\n",
    "<think>", "</think>", "<tool_call>", "</tool_call>", "```", "**", "[1]", "](http://x.y", "&amp;", "<b>", "</b>",
    "\\frac{", "\\(", "$x$", "1. ", "- ", "| ", "|---|", "Dr. ", "etc. ", "U.S. ", "The ", "<|channel|>", "final<|message|>",
    "thinking>", " tag", '{"name":', " and ", " because ", "3.", "![", "z. B. ", "XIV", "5 km", "$3.50", "14:30", "www.a.de",
]  # fmt: skip
OTHER = "it"
"""A language without forms of its own."""
MESSY = st.lists(st.sampled_from(BITS), max_size=60).map("".join)
CUTS = st.lists(st.integers(1, 9), min_size=1, max_size=8)
QUIETLY = settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])


def deltas(text: str, sizes: list[int]) -> list[str]:
    """`text` cut into the sizes given, over and over."""
    found: list[str] = []
    at = 0
    while at < len(text):
        size = sizes[len(found) % len(sizes)]
        found.append(text[at : at + size])
        at += size
    return found


@QUIETLY
@given(MESSY | st.text(max_size=200), CUTS, st.sampled_from([*LANGUAGES, OTHER]))
def test_the_same_text_gives_the_same_pieces_however_it_is_cut(text: str, sizes: list[int], language: str):
    whole = pieces([text], language)
    assert pieces(deltas(text, sizes), language) == whole
    assert pieces(list(text), language) == whole


@QUIETLY
@given(MESSY | st.text(max_size=200), CUTS, st.sampled_from([*LANGUAGES, OTHER]))
def test_pieces_are_slices_in_order_and_can_be_heard_in_part(text: str, sizes: list[int], language: str):
    end = 0
    for piece in pieces(deltas(text, sizes), language):
        assert end <= piece.start < piece.end
        assert text[piece.start : piece.end] == piece.written
        end = piece.end
        heard = [piece.written_upto(step / 7) for step in range(8)]
        assert heard[0] == "" and heard[-1] == piece.written
        assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(heard))


PARTS = [
    "word",
    " more words ",
    " and",
    ",",
    ", ",
    " (",
    ") ",
    ".",
    "!?",
    " ",
    "three",
    "tres, dos",
    "日本",
    "。",
    "、が",
    "a.b",
    "’s",
]


@QUIETLY
@given(
    st.lists(st.tuples(st.sampled_from(["keep", "put", "skip"]), st.sampled_from(PARTS), st.booleans())), st.booleans()
)
def test_a_line_that_is_tidy_as_it_is_would_not_be_changed_by_tidying_it(
    steps: list[tuple[str, str, bool]], spaced: bool
):
    line = Line(spaced=spaced)
    for step, part, flag in steps:
        match step:
            case "keep":
                line.keep(part, 0, len(part))
            case "put":
                line.put(part.strip(), len(part), tight=flag)
            case _:
                line.skip(1, apart=flag)
    assert line.finish() == line.tidied()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_stop_before_a_capital_is_one_whether_or_not_all_is_weighed(language: str):
    stops = Stops(language_for(language).breaks)
    rng = random.Random(2)
    texts = [case.written for other in LANGUAGES for case in corpus(other)]
    for text in [*texts, *("".join(rng.choice(BITS) for _ in range(40)) for _ in range(500))]:
        for at, char in enumerate(text):
            if char in STOPS and char != "\n":
                assert stops.cut(text, at, final=False) == stops.weighed(text, at, final=False), text[at:]


STARRED = ["**", "***", "*", "word", " two words", "3", " ", "(", ")", ".", ", ", "\n", "\n- ", "_", "`", "日本"]


@QUIETLY
@given(st.lists(st.sampled_from(STARRED), max_size=20).map("".join))
@example("- **345 g** of flour, **bold**, 2**8 and (**so**) **\n")
def test_bold_words_are_read_as_star_by_star(text: str):
    whole = pieces([text])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(emphasis, "BOLD", re.compile("(?!)"))
        assert pieces([text]) == whole


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_piece_waits_longer_because_text_comes_in_small_deltas(language: str):
    for case in corpus(language)[::4]:
        if len(case.written) > 200:
            continue  # so long a text may be cut anywhere
        speech = SpeechText(language, quick_first=False)
        count = 0
        for at in range(0, len(case.written), 4):
            count += len(speech.push(case.written[at : at + 4]))
            assert count == len(SpeechText(language, quick_first=False).push(case.written[: at + 4])), case.written[
                : at + 4
            ]


LETTERS = st.characters(categories=["Lu", "Ll", "Lo"]).filter(lambda char: unicodedata.numeric(char, None) is None)
WORDS = st.lists(st.text(LETTERS, min_size=2, max_size=9), min_size=1, max_size=30)


@QUIETLY
@given(
    WORDS,
    st.sampled_from([" ", ", ", ". ", "! ", " (", ") ", "\n", " 😀 ", " **", "** ", " — ", "\n- "]),
    st.sampled_from([*LANGUAGES, OTHER]),
)
def test_no_letter_is_lost(words: list[str], between: str, language: str):
    text = between.join(words)
    # A letter of another width is the same letter: "Ａ" is said as "A".
    said = unicodedata.normalize("NFKC", "".join(piece.spoken for piece in pieces(chunked(text, 3), language)))
    expected = [char for char in unicodedata.normalize("NFKC", text) if char.isalpha()]
    position = 0
    for char in said:
        if position < len(expected) and char == expected[position]:
            position += 1
    assert position == len(expected) or _said_otherwise(text, language)


def _said_otherwise(text: str, language: str) -> bool:
    """Whether there is a word that a table says otherwise, a Greek letter, a Roman numeral, or a laugh in Japanese."""
    if language == "ja" and re.search(r"(?<=[^\x00-\x7f])[wｗ]", text):
        return True
    table = SpeechText(language).language
    known = {word.strip(".").lower() for word in (*table.abbreviations, *table.symbols)}
    return any(
        word.lower() in known or re.fullmatch("[IVX]+", word) or set(word) & set(table.symbols)
        for word in re.findall(r"\w+", text)
    )


@QUIETLY
@given(st.lists(st.sampled_from(["word", "it", "42", "3.5", "and", "my", "don't", "naïve"]), min_size=80, max_size=200))
def test_text_without_an_end_is_spoken_before_it_ends(words: list[str]):
    speech = SpeechText()
    waiting = 0
    for word in words:
        waiting += len(word) + 1
        for piece in speech.push(word + " "):
            waiting -= len(piece.written)
        assert waiting < 420


@QUIETLY
@given(MESSY)
def test_nothing_that_no_one_would_say_is_left(text: str):
    for piece in pieces([text]):
        assert not re.search(r"[0-9*_`<>\[\]{}|\\#=^~$%&@+/\x00-\x08\x0b-\x1f]", piece.spoken), piece.spoken
        assert not any(unicodedata.category(char) in ("So", "Cc", "Cn") for char in piece.spoken), piece.spoken
        assert not any(char.isdigit() for char in piece.spoken), piece.spoken


NOTATION = "0123456789aAbBxfFnN  ..,,::--/⁻⁺²³¹₂½¼×^_{}()[]°%€$#@'′″+=−–~*|\\<>&!?\n√∑∫∞πΩ№§†‰・年月日点h円元"


@pytest.mark.parametrize("language", LANGUAGES)
def test_signs_and_numbers_in_any_order_are_spoken_without_digits(language: str):
    rng = random.Random(5)
    for _ in range(1000):
        text = "".join(rng.choice(NOTATION) for _ in range(rng.randrange(2, 24)))
        said = " ".join(piece.spoken for piece in pieces([text], language))
        assert not any(char.isdigit() for char in said), text


def _amount(rng: random.Random, comma: bool) -> str:
    """A number as people group and part it; in a language with a decimal comma also as English does."""
    point, groups = rng.choice([(",", [".", "\u202f", ""]), (".", [","])] if comma else [(".", [",", ""])])
    whole = f"{rng.choice([0, 1, 2, 7, 12, 99, 345, 1000, 1234, 12345, 1234567]):,}".replace(",", rng.choice(groups))
    digits = rng.choice([0, 0, 1, 2, 2, 3, 4])
    return whole + (point + "".join(rng.choice("0123456789") for _ in range(digits)) if digits else "")


@pytest.mark.parametrize("language", LANGUAGES)
def test_amounts_leave_no_mark_between_two_words(language: str):
    rng = random.Random(3)
    table = language_for(language)
    before = ["$", "€", "£", "¥", "US$", "CHF ", "USD ", "-", "−", "+", "~", "±", "≈", "<", "≤"]
    after = ["€", " €", " $", " USD", "元", "円", "k€", " M€", "M", "%", " %", "°C", " °F", " ‰", *units(language)]
    for _ in range(500):
        amount = _amount(rng, table.comma_decimal)
        text = rng.choice([rng.choice(before) + amount, amount + rng.choice(after)])
        said = " ".join(piece.spoken for piece in pieces([f"Xx {text} yY."], language))
        assert not re.search(r"\w[.,]\w|[^\w\s.,'’‑-]", said), (text, said)


def calls(work: Callable[[], object]) -> int:
    """How many calls of functions, ours and C's, `work` makes: time without a clock."""
    count = 0

    def profile(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("size", [4, 10**6], ids=["by token", "whole"])
@pytest.mark.parametrize("kind", list(KINDS))
def test_work_grows_with_the_text_only(kind: str, size: int):
    language = KINDS[kind][1]
    text = text_of(kind, 8000)
    pieces([text], language)  # numbers that were said before are remembered
    small = calls(lambda: pieces(chunked(text[:4000], size), language))
    large = calls(lambda: pieces(chunked(text, size), language))
    assert large < 2.3 * small + 200


@pytest.mark.parametrize(
    ("kind", "whole", "by_token"),
    # a third over what they were when this was written, so that one more look at each character, or another object for it, is seen
    [
        ("prose", 1.2, 4.2), ("answer", 5.0, 10.6), ("lists", 10.6, 16.8), ("chinese", 6.1, 13.2), ("thought", 0.1, 2.2),
        ("no stop", 0.4, 2.9), ("brackets", 0.1, 3.1), ("stars", 10.9, 13.5),
    ],
)  # fmt: skip
def test_a_character_costs_a_few_calls_at_most(kind: str, whole: float, by_token: float):
    language = KINDS[kind][1]
    text = text_of(kind, 8000)
    pieces([text], language)
    assert calls(lambda: pieces([text], language)) / len(text) < whole
    assert calls(lambda: pieces(chunked(text, 4), language)) / len(text) < by_token


def _rules_that_match(rules: Iterable[Rule], text: str, at: int) -> set[str]:
    return {rule.pattern.pattern for rule in rules if rule.pattern.match(text, at)}


@QUIETLY
@given(MESSY, st.sampled_from(LANGUAGES))
@example(" ".join(case.written for language in LANGUAGES for case in corpus(language)), "en")
@example(" ".join(case.written for language in LANGUAGES for case in corpus(language)), "de")
def test_no_rule_that_could_match_is_passed_over(text: str, language: str):
    rules = rules_for(language_for(language))
    for at, char in enumerate(text):
        kind = "0" if char.isdecimal() else "a" if char.isalpha() else "$"
        all_of_them = [rule for rule in rules.rules if kind in rule.begins]
        assert _rules_that_match(rules.asked(text, at), text, at) == _rules_that_match(all_of_them, text, at), text[at:]
