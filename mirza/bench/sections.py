"""A report that grows part by part: what is measured is on the disk before the next part begins.

A part may take only so long. A run that is cut off, or a part that fails, loses nothing of what came before.
"""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from mirza.errors import MirzaError


class TookTooLong(Exception):
    """A part of a run did not end in its time."""


@dataclass(slots=True)
class Sections:
    """The report of a run, and where it is kept."""

    report: dict[str, Any]
    only: Sequence[str]
    """The parts that are wanted."""
    limit_s: float
    """For each part; 0 is no limit."""
    output: Path | None
    on_progress: Callable[[str], None]

    def run(self, name: str, key: str, work: Callable[[], Iterator[Any]]) -> None:
        """Measures one part, if it is wanted. `work` yields the part as far as it is known, again and again."""
        if name not in self.only:
            return
        self.on_progress(name)
        start = time.perf_counter()
        try:
            with time_limit(self.limit_s):
                for self.report[key] in work():
                    self.save()
        except TookTooLong:
            self.fail(name, f"it did not end within {self.limit_s:g} s")
        except RuntimeError as error:  # what MLX raises; the other parts may well be possible
            self.fail(name, str(error))
        self.report["seconds"][name] = round(time.perf_counter() - start, 2)
        self.save()

    def fail(self, name: str, why: str) -> None:
        """Notes that a part, or something in one, could not be measured."""
        self.report["failed"][name] = why

    def save(self) -> None:
        """Writes the report, whole or not at all.

        Raises:
            MirzaError: it cannot be written.
        """
        if self.output is None:
            return
        part = self.output.with_name(f".{self.output.name}.part")
        try:
            part.write_text(json.dumps(self.report, ensure_ascii=False, indent=1), encoding="utf-8")
            part.replace(self.output)
        except OSError as error:
            raise MirzaError(
                f"The run file {self.output} cannot be written ({error.strerror}).", "Name another with --output."
            ) from error


@contextmanager
def time_limit(seconds: float) -> Generator[None]:
    """Raises `TookTooLong` in the block after so many seconds, at Python's next step; 0 is never.

    For the main thread of a system with alarm signals. A call into a library that does not return is not cut off.
    """
    if not seconds:
        yield
        return

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise TookTooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
