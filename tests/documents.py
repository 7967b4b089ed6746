"""The documentation as the tests read it: its code blocks, and the commands in them."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from mirza.folders import PROJECT

PAGES = (PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md")))


@dataclass(frozen=True, slots=True)
class Command:
    """One command that a page tells its reader to type."""

    page: Path
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.page.name}: {' '.join(self.words)}"


def blocks(page: Path, language: str = "") -> list[str]:
    """The fenced blocks of a page that are marked with `language`."""
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def commands(program: str) -> list[Command]:
    """Every `program ...` that a page shows: in a block, in a table's cell, in the middle of a sentence."""
    found: dict[Command, None] = {}
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        lines = [line for block in blocks(page) for line in block.splitlines()]
        inline = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL))
        for line in [*lines, *inline]:
            command = line.rpartition("| ")[2] if "| " in line else line
            if command.split(" ")[0] == program:
                found[Command(page, tuple(shlex.split(command)))] = None
    return list(found)
