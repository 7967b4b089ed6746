"""`mirza bench text`: what making speakable pieces costs, by kind of text, and whether it grows with the text only."""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict, dataclass

from mirza.speech.text import SpeechText

TOKEN_CHARS = 4
"""About what a token of a language model holds."""

_PROSE = (
    "The old man walked down to the river and looked at the boats for a long time. It was a cold morning, and nobody "
    "else was there. Why had he come? He did not know; perhaps it was the light on the water. "
)
_ANSWER = (
    "**Sure!** The trip takes 3.5 hours and costs about $49.99, leaving on March 3, 2024 at 9:30 am. You can book it "
    "at [the site](https://example.com) or call 555-123-4567. It is 20 °C there (68 °F), so pack light.\n\n"
)
_LIST = "## Shopping\n\n- **250 g** of flour\n- 3 eggs\n- 1/2 cup of milk\n\n1. Mix it.\n2. Bake it for 10-15 min.\n\n"
KINDS = {
    "prose": (_PROSE, "en"),
    "answer": (_ANSWER, "en"),
    "lists": (_LIST, "en"),
    "chinese": ("今天天气很好，我们去公园散步吧。气温是20°C。", "zh"),
    "thought": ("<think>" + _PROSE, "en"),
    "no stop": ("word and more words ", "en"),
    "brackets": ("[", "en"),
    "stars": ("*a ", "en"),
}


@dataclass(frozen=True, slots=True)
class Cost:
    """What one text took. `growth` is the time for all of it over that for its first half: 2 is linear."""

    kind: str
    characters: int
    pieces: int
    seconds: float
    seconds_by_token: float
    growth: float


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `mirza bench text` takes."""
    parser.add_argument("--characters", type=int, default=1_000_000, metavar="N", help="length of each text (1000000)")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def run(args: argparse.Namespace) -> int:
    """Prints the report."""
    SpeechText().push("Warm up. 1 2")
    costs = [measure(kind, args.characters) for kind in KINDS]
    if args.json:
        print(json.dumps({"text": [asdict(cost) for cost in costs]}))
        return 0
    print(f"{'kind':10} {'characters':>10} {'pieces':>8} {'whole s':>9} {'by token s':>11} {'growth':>7}")
    for cost in costs:
        print(
            f"{cost.kind:10} {cost.characters:10} {cost.pieces:8} {cost.seconds:9.3f} {cost.seconds_by_token:11.3f} "
            f"{cost.growth:7.2f}"
        )
    return 0


def measure(kind: str, characters: int) -> Cost:
    """The cost of a text of that kind, in seconds of this process's own work."""
    unit, language = KINDS[kind]
    text = (unit * (characters // len(unit) + 1))[:characters]
    half, _ = _time(text[: characters // 2], language, characters)
    whole, pieces = _time(text, language, characters)
    by_token, _ = _time(text, language, TOKEN_CHARS)
    return Cost(kind, characters, pieces, whole, by_token, whole / half if half else 0.0)


def _time(text: str, language: str, size: int) -> tuple[float, int]:
    speech = SpeechText(language)
    began = time.process_time()
    pieces = sum(len(speech.push(text[at : at + size])) for at in range(0, len(text), size)) + len(speech.flush())
    return time.process_time() - began, pieces
