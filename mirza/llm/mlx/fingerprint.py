"""Which model, exactly: what a state that was computed once depends on, and must find again to be used.

Weights are sampled, a few blocks of every tensor: reading 5 GB at each start would cost more than a snapshot saves. A
fine-tuned copy of the same shapes differs in some block of some tensor all the same.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import cast

import mlx.core as mx

BLOCK_BYTES = 512
LIBRARIES = ("mlx", "mlx-vlm", "mlx-lm")


@dataclass(frozen=True, slots=True)
class Provenance:
    """Everything that the numbers in a cache depend on. Two that are equal may share them."""

    config: str
    tokenizer: str
    template: str
    weights: str
    dtype: str
    cache: str
    """How keys and values are kept, e.g. `full` or `4 bits`."""
    device: str
    versions: str

    @property
    def key(self) -> str:
        """A short name."""
        return _digest([json.dumps(asdict(self), sort_keys=True).encode()])[:16]

    def difference(self, other: dict[str, str]) -> str:
        """What is different in `other`, in words."""
        parts = [
            f"{name} {theirs[:24]} instead of {ours[:24]}"
            for name, ours in cast("dict[str, str]", asdict(self)).items()
            if (theirs := other.get(name, "none")) != ours
        ]
        return ", ".join(parts)


def provenance(folder: Path, *, template: str, dtype: str, cache: str = "full") -> Provenance:
    """The provenance of what the model in `folder` computes here; `template` is the text of its chat template."""
    device = mx.default_device()
    return Provenance(
        config=file_digest(folder / "config.json"),
        tokenizer=_digest(
            file.name.encode() + b":" + file_digest(file).encode()
            for file in sorted(folder.glob("*token*"))
            if file.is_file()
        ),
        template=_digest([template.encode()]),
        weights=weights_fingerprint(folder),
        dtype=dtype,
        cache=cache,
        device=f"{platform.machine()} {'gpu' if device == mx.gpu else 'cpu'}",
        versions=", ".join(f"{name} {_version(name)}" for name in LIBRARIES),
    )


def weights_fingerprint(folder: Path) -> str:
    """A digest over every weights file: its name, its header, and the first, middle and last block of each tensor."""
    return _digest(part for file in sorted(folder.glob("*.safetensors")) for part in _samples(file))


def _samples(file: Path) -> Iterator[bytes]:
    """Format: https://huggingface.co/docs/safetensors, "Format"."""
    with file.open("rb") as stream:
        raw = stream.read(int.from_bytes(stream.read(8), "little"))
        start = stream.tell()
        yield file.name.encode()
        yield raw
        header = cast("dict[str, dict[str, list[int]]]", json.loads(raw))
        for name, entry in sorted(header.items()):
            if name == "__metadata__":
                continue
            first, end = entry["data_offsets"]
            last = max(first, end - BLOCK_BYTES)
            for place in sorted({first, (first + last) // 2, last}):
                stream.seek(start + place)
                yield stream.read(min(BLOCK_BYTES, end - place))


def file_digest(file: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _digest(parts: Iterator[bytes] | list[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"
