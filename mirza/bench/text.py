"""`mirza bench text`: what making speakable pieces costs, by kind of text, and whether it grows with the text only."""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from mirza.errors import MirzaError
from mirza.speech.text import SpeechText

TOKEN_CHARS = 4
"""About what a token of a language model holds."""

_PROSE = (
    "The old man walked down to the river and looked at the boats for a long time. It was a cold morning, and nobody "
    "else was there. Why had he come? He did not know; perhaps it was the light on the water. "
)
_ANSWER = (
    "**Sure!** The trip takes {small}.5 hours and costs about ${large}.99, leaving on March {small}, 20{two} at "
    "{small}:{two} am. You can book it at [the site](https://example.com) or call 555-{large}-4{large}. It is {two} °C "
    "there ({two} °F), so pack light.\n\n"
)
_LIST = (
    "## Shopping\n\n- **{large} g** of flour\n- {small} eggs\n- 1/{small} cup of milk\n\n1. Mix it.\n2. Bake it for "
    "{two}-{two} min.\n\n"
)
KINDS = {
    "prose": (_PROSE, "en"),
    "answer": (_ANSWER, "en"),
    "lists": (_LIST, "en"),
    "chinese": ("今天天气很好，我们去公园散步吧。气温是{two}°C。", "zh"),
    "thought": ("<think>" + _PROSE, "en"),
    "no stop": ("word and more words ", "en"),
    "brackets": ("[", "en"),
    "stars": ("*a ", "en"),
}
"""A bit of each kind, and its language. Numbers are drawn anew in each repetition: one digit, two, three."""


def text_of(kind: str, characters: int) -> str:
    """A text of that kind, the same each time."""
    bit, _ = KINDS[kind]
    draw = random.Random(1)
    bits: list[str] = []
    length = 0
    while length < characters:
        numbers = {"small": draw.randint(2, 9), "two": draw.randint(10, 59), "large": draw.randint(100, 999)}
        bits.append(bit.format(**numbers) if "{" in bit else bit)
        length += len(bits[-1])
    return "".join(bits)[:characters]


@dataclass(frozen=True, slots=True)
class Cost:
    """What one text took, in seconds of this process's own work.

    `seconds` is for the text in two halves, `seconds_by_token` in deltas of a token, as a quarter of it took four
    times, both when its numbers have been said before; `words_seconds` is what finding words for those of the first
    half took the first time, nearly all of it in unicode-rbnf and babel. `growth` is the time for all of the text over
    that for its first half: 2 is linear.
    """

    kind: str
    characters: int
    pieces: int
    seconds: float
    words_seconds: float
    seconds_by_token: float
    growth: float
    runs: Sequence[float] = ()
    """`seconds` of each; what stands there is their median."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `mirza bench text` takes."""
    parser.add_argument("--characters", type=int, default=1_000_000, metavar="N", help="length of each text (1000000)")
    parser.add_argument("--runs", type=int, default=1, metavar="N", help="of each text (1)")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def run(args: argparse.Namespace) -> int:
    """Prints the report."""
    if args.runs < 1:
        raise MirzaError(f"A text cannot be said {args.runs} times.", "Give --runs 1 or more.")
    costs = measure([*KINDS], args.characters, args.runs)
    if args.json:
        print(json.dumps({"text": [asdict(cost) for cost in costs]}))
        return 0
    print(
        f"{'kind':10} {'characters':>10} {'pieces':>8} {'whole s':>9} {'words s':>9} {'by token s':>11} {'growth':>7}"
    )
    for cost in costs:
        print(
            f"{cost.kind:10} {cost.characters:10} {cost.pieces:8} {cost.seconds:9.3f} {cost.words_seconds:9.3f} "
            f"{cost.seconds_by_token:11.3f} {cost.growth:7.2f}"
        )
    return 0


def measure(kinds: Sequence[str], characters: int, runs: int = 1) -> list[Cost]:
    """The cost of a text of each kind; they take turns, so that a slow second of the machine is not one text's."""
    said: dict[str, list[tuple[float, float, int]]] = {kind: [] for kind in kinds}
    at_first: dict[str, float] = {}
    for kind in kinds:
        _say("Warm up. 1 2", KINDS[kind][1], TOKEN_CHARS)
        at_first[kind], _, _ = _say(text_of(kind, characters)[: characters // 2], KINDS[kind][1], characters)
    for _ in range(runs):
        for kind in kinds:
            said[kind].append(_say(text_of(kind, characters), KINDS[kind][1], characters // 2))
    return [_cost(kind, characters, at_first[kind], said[kind]) for kind in kinds]


def _cost(kind: str, characters: int, at_first: float, said: Sequence[tuple[float, float, int]]) -> Cost:
    whole, half = statistics.median(run[0] for run in said), statistics.median(run[1] for run in said)
    by_token, _, _ = _say(text_of(kind, characters)[: characters // 4], KINDS[kind][1], TOKEN_CHARS)
    return Cost(
        kind=kind,
        characters=characters,
        pieces=said[0][2],
        seconds=whole,
        words_seconds=max(0.0, at_first - half),
        seconds_by_token=4 * by_token,
        growth=whole / half if half else 0.0,
        runs=[run[0] for run in said],
    )


def _say(text: str, language: str, size: int) -> tuple[float, float, int]:
    """Seconds for all of `text`, in deltas of `size`; seconds for its first half; pieces."""
    speech = SpeechText(language)
    pieces = 0
    half = 0.0
    began = time.process_time()
    for at in range(0, len(text), max(size, 1)):
        if not half and 2 * at >= len(text):
            half = time.process_time() - began
        pieces += len(speech.push(text[at : at + size]))
    pieces += len(speech.flush())
    return time.process_time() - began, half, pieces
