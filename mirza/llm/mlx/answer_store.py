"""The tokens of a conversation's answers on disk: with them, its text gives the same ids after a restart.

One small file a conversation, put in place at once, with a checksum. What does not fit is a miss: the answers are
encoded from their text, and fed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from loguru import logger

from mirza.events import ToolCall
from mirza.llm.mlx.memory import Said

SUFFIX = ".answers"
FILES_AT_MOST = 200


class AnswerStore:
    """Answers of one model, told apart by `key`, in a folder that several processes may share."""

    def __init__(self, folder: Path, key: str) -> None:
        self._folder = folder
        self._key = key

    def save(self, name: str, answers: Sequence[Said]) -> None:
        """Writes the answers of the conversation `name`. A full disk is a line in the log."""
        payload = json.dumps([_row(said) for said in answers]).encode()
        file = self._file(name)
        temporary = file.with_suffix(f".{os.getpid()}.tmp")
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(hashlib.sha256(payload).hexdigest().encode() + b"\n" + payload)
            temporary.replace(file)
            self._make_room()
        except OSError as error:
            logger.warning("Answers could not be written to {}: {}", self._folder, error)
            temporary.unlink(missing_ok=True)

    def load(self, name: str) -> list[Said] | None:
        """What `save` wrote; `None` where there is nothing, or it is damaged."""
        file = self._file(name)
        try:
            digest, _, payload = file.read_bytes().partition(b"\n")
        except OSError:
            return None
        if hashlib.sha256(payload).hexdigest().encode() != digest:
            logger.warning("The answers in {} are not used, and removed: the checksum does not fit", file)
            file.unlink(missing_ok=True)
            return None
        return [_said(row) for row in cast("list[dict[str, object]]", json.loads(payload))]

    def _file(self, name: str) -> Path:
        return self._folder / f"{self._key}-{hashlib.sha256(name.encode()).hexdigest()[:32]}{SUFFIX}"

    def _make_room(self) -> None:
        files = sorted(self._folder.glob(f"*{SUFFIX}"), key=lambda file: file.stat().st_mtime)
        for file in files[:-FILES_AT_MOST]:
            file.unlink(missing_ok=True)


def _row(said: Said) -> dict[str, object]:
    calls = [[call.id, call.name, call.arguments] for call in said.calls]
    return {"text": said.text, "calls": calls, "ids": said.ids, "texts": said.texts, "thought": said.thought}


def _said(row: dict[str, object]) -> Said:
    thought = cast("list[int] | None", row["thought"])
    return Said(
        text=cast(str, row["text"]),
        calls=tuple(ToolCall(*call) for call in cast("list[tuple[str, str, str]]", row["calls"])),
        ids=tuple(cast("list[int]", row["ids"])),
        texts=tuple(cast("list[str]", row["texts"])),
        thought=None if thought is None else tuple(thought),
    )
