"""`mirza bench console`: what a long conversation costs on the screen, to open and to scroll through.

A conversation of many turns is written into a real store in a folder of its own, opened by the full-screen console as
`mirza chat --resume` does, and scrolled page by page from its end to its beginning and back. The screen is Textual's
headless one: laid out and painted, not sent to a terminal. Work is processor time, so that what else the machine does
counts less. The same with few turns tells whether a step's work depends on the length.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import statistics
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from mirza.bench.runfile import Metric, percentile
from mirza.bench.take import resident_mb
from mirza.errors import MirzaError

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from mirza.console.transcript import Transcript
    from mirza.history import History
    from mirza.llm.base import OnProgress
    from mirza.pipeline import Conversation
    from mirza.settings import SettingsTree

TURNS, FEW = 2000, 20
OPENS = 5
"""Of the long conversation: fewer than 4 cannot be compared."""
COLUMNS, LINES = 100, 30
ANSWER = "This is an answer as a voice assistant gives it, of one sentence or two, and some of them are longer. "
"""Every third answer is twice as long, and every fifth has Markdown in it, so that both kinds of widget are there."""


class Opened(BaseModel):
    """A conversation of so many turns, opened and scrolled through."""

    model_config = ConfigDict(extra="forbid")

    turns: int
    open_cpu_s: float
    """Mirza's own work from the start of the console to the first screen with text."""
    open_s: float
    """The same on the wall."""
    steps: int
    """Pages, up and down."""
    step_cpu_ms: list[float]
    widgets_opened: int
    """Entries that had a widget on the first screen."""
    widgets_most: int
    resident_mb: float


class ConsoleReport(BaseModel):
    """What was measured."""

    model_config = ConfigDict(extra="forbid")

    import_cpu_s: float
    """To read the code of the console and of Textual, once a start."""
    few: Opened
    many: Opened
    step_ratio: float
    """The median work of a step in the long conversation over that in the short one."""
    resident_growth_mb: float
    """Memory of the long conversation, over that of the short one."""
    metrics: list[Metric]


def measure(turns: int, pages: int = 0, opens: int = OPENS) -> ConsoleReport:
    """Opens conversations of `FEW` and of `turns` turns, after one that is not counted.

    Args:
        turns: of the long one.
        pages: to scroll back from its end, and forth again; 0 is all of them.
        opens: how often the long one is opened.
    """
    before = time.process_time()
    import mirza.console.tui  # noqa: F401  # pyright: ignore[reportUnusedImport] - only to see what it costs

    import_cpu_s = time.process_time() - before
    asyncio.run(_open(FEW))  # fonts, styles and code are warm after this one
    few, many = asyncio.run(_open(FEW)), asyncio.run(_open(turns, pages))
    opened = [many, *(asyncio.run(_open(turns, 1)) for _ in range(opens - 1))]
    ratio = statistics.median(many.step_cpu_ms) / statistics.median(few.step_cpu_ms)
    growth = many.resident_mb - few.resident_mb
    return ConsoleReport(
        import_cpu_s=import_cpu_s,
        few=few,
        many=many,
        step_ratio=ratio,
        resident_growth_mb=growth,
        metrics=[
            Metric(name="console.open_cpu", unit="s", values=[one.open_cpu_s for one in opened]),
            Metric(name="console.first_screen", unit="s", values=[one.open_s for one in opened]),
            Metric(name="console.step_cpu", unit="ms", values=many.step_cpu_ms),
            Metric(name="console.step_ratio", unit="", values=[ratio]),
            Metric(name="console.widgets", unit="", values=[float(many.widgets_most)]),
            Metric(name="console.resident_growth", unit="MB", values=[growth]),
        ],
    )


@dataclass(slots=True)
class _Watched:
    """What was seen while scrolling."""

    cpu_ms: list[float] = field(default_factory=list[float])
    most: int = 0


async def _open(turns: int, pages: int = 0) -> Opened:
    from mirza.console.session import Session
    from mirza.console.transcript import Transcript
    from mirza.console.tui import MirzaApp, live_loop
    from mirza.settings import SettingsTree

    with tempfile.TemporaryDirectory(prefix="mirza-console-") as folder:
        file = Path(folder) / "conversations.sqlite"
        _write(file, turns)
        cpu_s, wall_s = time.process_time(), time.perf_counter()
        session = Session(SettingsTree(), _build, file)
        await session.resume()
        app, left = MirzaApp(session), asyncio.Event()
        living = asyncio.create_task(live_loop(session, app, left))
        async with app.run_test(size=(COLUMNS, LINES)) as pilot:
            await app.mounted.wait()
            await pilot.pause()  # until it is laid out and painted
            cpu_s, wall_s = time.process_time() - cpu_s, time.perf_counter() - wall_s
            await app.ready.wait()
            transcript = app.query_one(Transcript)
            opened = len(transcript.children)
            watched = _Watched()
            await _scroll(pilot, transcript, "pageup", watched, pages)
            await _scroll(pilot, transcript, "pagedown", watched, pages)
            left.set()
        await living
    return Opened(
        turns=turns,
        open_cpu_s=cpu_s,
        open_s=wall_s,
        steps=len(watched.cpu_ms),
        step_cpu_ms=watched.cpu_ms,
        widgets_opened=opened,
        widgets_most=watched.most,
        resident_mb=resident_mb(),
    )


async def _scroll(pilot: Pilot[int], transcript: Transcript, key: str, watched: _Watched, pages: int) -> None:
    """Pages on until there is nothing more that way; `pages` at most, if it is not 0."""
    for _ in range(pages) if pages else itertools.count():
        place = (transcript.first, transcript.scroll_y)
        before = time.process_time()
        await pilot.press(key)
        await pilot.pause()
        while transcript.moving:
            await pilot.pause(0.001)
        watched.cpu_ms.append(1000 * (time.process_time() - before))
        watched.most = max(watched.most, len(transcript.children))
        if place == (transcript.first, transcript.scroll_y):
            return


def _build(settings: SettingsTree, history: History, on_progress: OnProgress) -> Conversation:
    """A conversation that costs nothing itself."""
    from mirza.llm.scripted import ScriptedLlm
    from mirza.parts import Parts
    from mirza.pipeline import Conversation

    return Conversation(Parts(llm=ScriptedLlm()), settings, history, on_progress)


def _write(file: Path, turns: int) -> None:
    """Keeps a conversation of so many turns, as a Mirza that held it would have."""
    from mirza.llm.base import Message
    from mirza.storage import open_store

    messages: list[Message] = []
    for number in range(turns):
        answer = ANSWER * (2 if number % 3 == 0 else 1)
        messages.append(Message("user", f"What about number {number}?"))
        messages.append(Message("assistant", f"**{number}**: {answer}" if number % 5 == 0 else f"{answer}{number}"))
    with open_store(file)[0] as store:
        store.save(store.create(), 0, 0, messages)


# --- the command -----------------------------------------------------------------------------------------------------


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `mirza bench console` takes."""
    parser.add_argument("--turns", type=int, default=TURNS, metavar="N", help=f"turns of the conversation ({TURNS})")
    parser.add_argument(
        "--pages", type=int, default=0, metavar="N", help="pages to scroll back, and forth again (all of them)"
    )
    parser.add_argument(
        "--opens", type=int, default=OPENS, metavar="N", help=f"how often the long conversation is opened ({OPENS})"
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def run(args: argparse.Namespace) -> int:
    """Prints the report."""
    if args.turns < FEW:
        raise MirzaError("That is too short to tell anything.", f"Give --turns {FEW} or more.")
    report = measure(args.turns, args.pages, args.opens)
    print(report.model_dump_json(indent=1) if args.json else in_words(report))
    return 0


def in_words(report: ConsoleReport) -> str:
    """The report as a person reads it."""
    many, few = report.many, report.few
    median, p95 = statistics.median(many.step_cpu_ms), percentile(many.step_cpu_ms, 0.95)
    return "\n".join(
        [
            f"{many.turns} turns open in {many.open_cpu_s:.2f} s of own work, {many.open_s:.2f} s on the wall "
            f"({few.turns} turns: {few.open_cpu_s:.2f} s); reading the code takes {report.import_cpu_s:.2f} s before",
            f"{many.steps} pages scrolled: {median:.0f} ms of work each, 95 % under {p95:.0f} ms; "
            f"x {report.step_ratio:.2f} of what it is with {few.turns} turns",
            f"widgets {many.widgets_opened} when opened, {many.widgets_most} at most; "
            f"memory {many.resident_mb:.0f} MB, {report.resident_growth_mb:+.1f} MB over {few.turns} turns",
        ]
    )
