"""States of the model that outlive a turn and a start: in memory, and on disk so that the next start is warm.

A snapshot is what a cache holds after some tokens. It is used only for a conversation that begins with exactly these
tokens, and only by the model that computed it. On disk each is one file, put in place all at once, with a checksum over
everything in it. Whatever is wrong with a file (a flipped bit, a missing end, another model, another version), the
answer is a miss and a line in the log: the tokens are fed again, and no token is ever wrong.
"""

# pyright: reportUnknownMemberType=false
from __future__ import annotations

import hashlib
import io
import json
import os
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import cast

import mlx.core as mx
from loguru import logger

from mirza.llm.mlx.fingerprint import Provenance

MAGIC = b"MIRZA-1\n"
"""What a snapshot file begins with; then come 32 bytes of SHA-256 over the rest, which is a safetensors file."""
DIGEST_BYTES = 32
SUFFIX = ".snapshot"
STALE_S = 3600.0
"""A temporary file this much older than a new one was left by a process that died."""
WORTH_TOKENS = 256
"""Shorter beginnings are fed again in less time than they are read (as in the S system)."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the cache holds after `ids`: arrays by a name of the session's choosing, and its own notes about them."""

    ids: tuple[int, ...]
    arrays: dict[str, mx.array]
    notes: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.arrays.values())


class MemorySnapshots:
    """The snapshots used last, up to `max_bytes` of them."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._kept: OrderedDict[tuple[int, ...], Snapshot] = OrderedDict()

    def put(self, snapshot: Snapshot) -> None:
        """Keeps it, and lets go of those that were not used for longest. One too large for itself is not kept."""
        self._kept.pop(snapshot.ids, None)
        self._kept[snapshot.ids] = snapshot
        while self.nbytes > self._max_bytes:
            self._kept.popitem(last=False)

    def find(self, ids: Sequence[int]) -> Snapshot | None:
        """The longest snapshot that `ids` begins with."""
        found = _longest(self._kept, ids)
        if found is None:
            return None
        self._kept.move_to_end(found)
        return self._kept[found]

    def clear(self) -> None:
        self._kept.clear()

    @property
    def nbytes(self) -> int:
        return sum(snapshot.nbytes for snapshot in self._kept.values())


@dataclass(frozen=True, slots=True)
class _Entry:
    ids: tuple[int, ...]
    size: int


class DiskSnapshots:
    """Snapshots of one model in a folder, up to `max_bytes` of all models together.

    Several processes may share the folder. `encode` touches MLX and belongs on its thread; `write` does not.
    """

    def __init__(self, folder: Path, provenance: Provenance, max_bytes: int, min_tokens: int = WORTH_TOKENS) -> None:
        self._folder = folder
        self._provenance = provenance
        self._max_bytes = max_bytes
        self._min_tokens = min_tokens
        self._entries: dict[str, _Entry] = {}
        self._refresh()
        self._mention_others()

    def put(self, snapshot: Snapshot) -> None:
        """Writes it, unless it is there already, or too short to be worth it."""
        if self.wants(snapshot.ids):
            self.write(snapshot.ids, self.encode(snapshot))

    def wants(self, ids: Sequence[int]) -> bool:
        """Whether a snapshot after these tokens would be written."""
        return self._max_bytes > 0 and len(ids) >= self._min_tokens and not (self._folder / self._name(ids)).exists()

    def encode(self, snapshot: Snapshot) -> bytes:
        """The whole file."""
        metadata = {
            "ids": json.dumps(snapshot.ids),
            "provenance": json.dumps(asdict(self._provenance)),
            "notes": json.dumps(snapshot.notes),
        }
        payload = io.BytesIO()
        mx.save_safetensors(payload, snapshot.arrays, metadata)
        return MAGIC + hashlib.sha256(payload.getbuffer()).digest() + payload.getbuffer()

    def write(self, ids: Sequence[int], file_bytes: bytes) -> None:
        """Puts an encoded snapshot in its place, at once; the oldest leave. A full disk is a line in the log."""
        if len(file_bytes) > self._max_bytes:
            logger.debug("A snapshot of {} bytes is larger than the room for all of them", len(file_bytes))
            return
        name = self._name(ids)
        temporary = self._folder / f".{name}.{os.getpid()}.tmp"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            temporary.touch(mode=0o600)  # a conversation is personal, as tokens too
            with temporary.open("wb") as stream:
                stream.write(file_bytes)
                stream.flush()
                os.fsync(stream.fileno())
            temporary.replace(self._folder / name)
            self._entries[name] = _Entry(tuple(ids), len(file_bytes))
            self._make_room((self._folder / name).stat().st_mtime)
        except OSError as error:
            logger.warning("A snapshot could not be written to {}: {}", self._folder, error)
            temporary.unlink(missing_ok=True)

    def find(self, ids: Sequence[int]) -> Snapshot | None:
        """The longest whole snapshot that `ids` begins with. What is damaged is removed."""
        self._refresh()
        candidates = {entry.ids: name for name, entry in self._entries.items()}
        while (found := _longest(candidates, ids)) is not None:
            name = candidates.pop(found)
            snapshot = self._read(name)
            if snapshot is not None and snapshot.ids == found:
                return snapshot
            self._entries.pop(name, None)
        return None

    def clear(self) -> None:
        """Removes this model's snapshots."""
        self._refresh()
        for name in self._entries:
            (self._folder / name).unlink(missing_ok=True)
        self._entries.clear()

    @property
    def nbytes(self) -> int:
        """Bytes on disk, of all models."""
        return sum(size for _, size, _ in self._files())

    # --- how ---------------------------------------------------------------------------------------------------------

    def _name(self, ids: Sequence[int]) -> str:
        digest = hashlib.sha256(json.dumps(list(ids)).encode()).hexdigest()
        return f"{self._provenance.key}-{digest[:32]}{SUFFIX}"

    def _refresh(self) -> None:
        """Takes note of what other processes wrote or removed."""
        ours = self._provenance.key
        there = {file.name: (file, size) for file, size, _ in self._files() if file.name.startswith(ours)}
        self._entries = {name: entry for name, entry in self._entries.items() if name in there}
        for name in there.keys() - self._entries.keys():
            file, size = there[name]
            metadata = _metadata(file)
            ids = _ids(metadata.get("ids", "")) if metadata is not None else None
            if ids is None:
                self._discard(file, "its beginning cannot be read")
                continue
            self._entries[name] = _Entry(ids, size)

    def _read(self, name: str) -> Snapshot | None:
        file = self._folder / name
        try:
            content = file.read_bytes()
            os.utime(file)  # used now: it leaves last
        except FileNotFoundError:
            return None
        except OSError as error:
            logger.warning("The snapshot {} cannot be read: {}", file, error)
            return None
        payload = memoryview(content)[len(MAGIC) + DIGEST_BYTES :]
        if hashlib.sha256(payload).digest() != content[len(MAGIC) : len(MAGIC) + DIGEST_BYTES]:
            return self._discard(file, "its checksum does not fit")
        arrays, metadata = cast(
            "tuple[dict[str, mx.array], dict[str, str]]",
            mx.load(io.BytesIO(payload), format="safetensors", return_metadata=True),
        )
        mx.eval(arrays)
        theirs = _table(metadata["provenance"])
        if theirs != asdict(self._provenance):
            return self._discard(file, self._provenance.difference(theirs))
        return Snapshot(_ids(metadata["ids"]) or (), arrays, _table(metadata["notes"]))

    def _discard(self, file: Path, reason: str) -> None:
        logger.warning("The snapshot {} is not used, and removed: {}", file, reason)
        file.unlink(missing_ok=True)

    def _mention_others(self) -> None:
        others = [file for file, _, _ in self._files() if file.name not in self._entries]
        if others and not self._entries:
            metadata = _metadata(others[0]) or {}
            difference = self._provenance.difference(_table(metadata.get("provenance", "")))
            logger.info("The {} snapshots in {} are of another model: {}", len(others), self._folder, difference)

    def _make_room(self, now: float) -> None:
        """`now` is on the clock of the file system, so that no other clock is needed."""
        for temporary in self._folder.glob(f".*{SUFFIX}.*.tmp"):
            try:
                if now - temporary.stat().st_mtime > STALE_S:
                    temporary.unlink()
            except FileNotFoundError:
                pass
        files = sorted(self._files(), key=lambda entry: entry[2])
        total = sum(size for _, size, _ in files)
        for file, size, _ in files:
            if total <= self._max_bytes:
                break
            file.unlink(missing_ok=True)
            self._entries.pop(file.name, None)
            total -= size

    def _files(self) -> Iterator[tuple[Path, int, float]]:
        """Each snapshot file, its size, and when it was last used."""
        if not self._folder.is_dir():
            return
        for file in self._folder.glob(f"*{SUFFIX}"):
            try:
                stat = file.stat()
            except FileNotFoundError:
                continue
            yield file, stat.st_size, stat.st_mtime


def _longest(known: OrderedDict[tuple[int, ...], Snapshot] | dict[tuple[int, ...], str], ids: Sequence[int]):
    wanted = tuple(ids)
    fitting = (have for have in known if have == wanted[: len(have)])
    return max(fitting, key=len, default=None)


def _metadata(file: Path) -> dict[str, str] | None:
    """What a snapshot file says of itself, without reading its arrays; not yet to be trusted."""
    try:
        with file.open("rb") as stream:
            if stream.read(len(MAGIC)) != MAGIC:
                return None
            stream.seek(DIGEST_BYTES, os.SEEK_CUR)
            size = int.from_bytes(stream.read(8), "little")
            header: object = json.loads(stream.read(size)) if size < file.stat().st_size else None
    except (OSError, ValueError):
        return None
    metadata = cast("dict[str, object]", header).get("__metadata__") if isinstance(header, dict) else None
    return cast("dict[str, str]", metadata) if isinstance(metadata, dict) else None


def _ids(text: str) -> tuple[int, ...] | None:
    try:
        ids: object = json.loads(text)
    except ValueError:
        return None
    numbers = cast("list[object]", ids) if isinstance(ids, list) else [None]
    return tuple(cast("list[int]", numbers)) if all(isinstance(number, int) for number in numbers) else None


def _table(text: str) -> dict[str, str]:
    try:
        table: object = json.loads(text)
    except ValueError:
        return {}
    return cast("dict[str, str]", table) if isinstance(table, dict) else {}
