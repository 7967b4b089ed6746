"""The file of a run: what was measured, on what, by which bytes. `mirza bench compare` sets two of them side by side.

A metric keeps every single value; medians and spreads are made when they are shown. `SCHEMA` goes up with every change
that a reader would notice.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from mirza.errors import MirzaError

SCHEMA = 1


class Better(StrEnum):
    """Which of two values of a metric is the better one."""

    LESS = "less"
    MORE = "more"
    NEITHER = "neither"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Metric(_Part):
    """Something measured, as often as it was."""

    name: str
    unit: str
    """`s`, `ms`, `MB`, `tokens`, `1/s`, `%`, or empty for a count or a ratio."""
    better: Better = Better.LESS
    values: list[float]
    of: list[str] = []
    """What each value is of, where runs have values of the same things: they are compared one by one then."""

    @property
    def median(self) -> float:
        """The middle value."""
        return statistics.median(self.values)

    @property
    def p95(self) -> float:
        """The value that 95 of 100 do not pass; the highest one of fewer than 20."""
        return percentile(self.values, 0.95)


class Section(_Part):
    """One benchmark of a run: its metrics, and all that it found, as it prints it with --json."""

    name: str
    command: str
    """The command that makes it again."""
    seconds: float = 0.0
    load_before: float = 0.0
    load_after: float = 0.0
    pace_before: dict[str, float] = {}
    """Seconds of work that is always the same (`mirza.bench.pace`): how quick the machine was."""
    pace_after: dict[str, float] = {}
    failed: str = ""
    """Why there are no figures, if there are none."""
    metrics: list[Metric] = []
    data: JsonValue = None


class Run(_Part):
    """All that was measured in one go."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    schema_version: int = SCHEMA
    made: str
    """When, ISO 8601 in UTC."""
    provenance: JsonValue
    """The model's files by their hashes, the machine, the versions."""
    sections: list[Section] = []

    def section(self, name: str) -> Section | None:
        """The section of that name."""
        return next((section for section in self.sections if section.name == name), None)


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` of them do not pass."""
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def read_run(file: Path) -> Run:
    """A run that was written before.

    Raises:
        MirzaError: it is not there, or is no run file of this version.
    """
    try:
        run = Run.model_validate_json(file.read_bytes())
    except OSError as error:
        raise MirzaError(f"The run file {file} cannot be read ({error.strerror}).", "Check its name.") from error
    except ValidationError as error:
        raise MirzaError(f"{file} is no run file.", "`mirza bench all --output DIR` writes one.") from error
    if run.schema_version != SCHEMA:
        raise MirzaError(
            f"{file} is a run file of version {run.schema_version}, and this Mirza reads version {SCHEMA}.",
            "Make the run again.",
        )
    return run


def write_run(run: Run, file: Path) -> None:
    """Writes a run, whole or not at all.

    Raises:
        MirzaError: it cannot be written.
    """
    write_text(file, run.model_dump_json(indent=1))


def write_text(file: Path, text: str) -> None:
    """Writes a file, whole or not at all.

    Raises:
        MirzaError: it cannot be written.
    """
    part = file.with_name(f".{file.name}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(file)
    except OSError as error:
        raise MirzaError(f"The file {file} cannot be written ({error.strerror}).", "Name another folder.") from error
