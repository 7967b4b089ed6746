"""Where models are on this disk, and whether they are whole.

Each model has a folder `<cache>/models/<name>/` with its files and a manifest, `mirza.json`, that says where they came
from and what their checksums are. A folder appears all at once, when everything in it was checked.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import platformdirs

from mirza.errors import ModelDamaged, ModelNotFound
from mirza.models.choice import catalogue, find, fits
from mirza.models.kinds import GB, HubRepository, Model, Purpose

MANIFEST = "mirza.json"
CHUNK_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class StoredFile:
    """What a file was when it was put here."""

    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """Where a model's files came from, and what they were."""

    sources: tuple[str, ...]
    files: dict[str, StoredFile]


def models_folder(cache: Path | None = None) -> Path:
    """The folder of all models: in `cache`, or where the system keeps an application's caches."""
    return (cache or Path(platformdirs.user_cache_dir("mirza", appauthor=False))) / "models"


def resolve(name: str) -> Model:
    """The catalogue's model called `name`, or the hub repository `owner/name`, taken as a language model."""
    if name.count("/") == 1 and not name.startswith((".", "~", "/")):
        source = HubRepository(name, "main", 0)
        return Model(name, Purpose.LLM, "a repository of the hub", "see its page", 2 * GB, (source,))
    return find(name)


def folder_of(model: Model, cache: Path | None = None) -> Path:
    """Where `model` is, or would be."""
    return models_folder(cache) / model.name.replace("/", "--")


def is_pulled(model: Model, cache: Path | None = None) -> bool:
    """Whether it is on this disk, from the source that the catalogue names now, each file with its size."""
    try:
        path(model.name, cache)
    except (ModelNotFound, ModelDamaged):
        return False
    return True


def pulled(cache: Path | None = None) -> Sequence[Model]:
    """The catalogue's models that are on this disk."""
    return [model for model in catalogue() if is_pulled(model, cache)]


def path(name: str, cache: Path | None = None) -> Path:
    """The folder of a model: a name of the catalogue, a hub repository, or a folder of one's own. Looks at sizes only.

    Raises:
        ModelNotFound: it is not on this disk; the message has the command that gets it.
        ModelDamaged: a file is missing or has another size.
    """
    own = Path(name).expanduser()
    if own.is_dir() and ("/" in name or "\\" in name or name.startswith((".", "~"))):
        return own
    if own.is_absolute() or name.startswith((".", "~")):
        raise ModelNotFound(f"There is no folder {own}.", "Check the spelling, or see `mirza models list`.")
    model = resolve(name)
    folder = folder_of(model, cache)
    manifest = read_manifest(folder, name)
    if manifest is None:
        raise ModelNotFound(f"The model {name} is not on this disk.", f"Get it: `mirza models pull {name}`.")
    pinned = all(not isinstance(source, HubRepository) or source.revision != "main" for source in model.sources)
    if pinned and manifest.sources != tuple(str(source) for source in model.sources):
        raise ModelNotFound(
            f"The model {name} on this disk is another version.", f"Get it: `mirza models pull {name}`."
        )
    for inner, stored in manifest.files.items():
        file = folder / inner
        if not file.is_file() or file.stat().st_size != stored.size_bytes:
            raise _damaged(name, file)
    return folder


def best_llm(memory_bytes: int, cache: Path | None = None) -> Model:
    """What `llm.model = "auto"` means: the largest language model on this disk that fits, or else the embedded one."""
    here = [model for model in pulled(cache) if model.purpose is Purpose.LLM and fits(model, memory_bytes)]
    embedded = next(model for model in catalogue() if model.purpose is Purpose.LLM and model.default)
    return max(here, key=lambda model: (model.on_hub, model.memory_bytes), default=embedded)


def verified_path(name: str, cache: Path | None = None) -> Path:
    """`path`, after comparing every checksum; for models small enough to do that at each start (100 MB take 0.1 s)."""
    folder = path(name, cache)
    if (folder / MANIFEST).exists():
        verify(name, cache)
    return folder


def verify(name: str, cache: Path | None = None, on_bytes: Callable[[int], None] = lambda _: None) -> None:
    """Reads every byte of a pulled model; `on_bytes` is told of each part read.

    Raises:
        ModelNotFound: it is not on this disk.
        ModelDamaged: a file is not what it was when it was pulled; the message names it.
    """
    folder = path(name, cache)
    manifest = read_manifest(folder, name)
    for inner, stored in manifest.files.items() if manifest else ():
        if sha256_of(folder / inner, on_bytes) != stored.sha256:
            raise _damaged(name, folder / inner)


def remove(name: str, cache: Path | None = None) -> int:
    """Deletes a pulled model and what is left of unfinished pulls; returns the bytes freed.

    Raises:
        ModelNotFound: nothing of it is on this disk.
    """
    folder = folder_of(resolve(name), cache)
    leftovers = [place for place in (folder, partial_of(folder)) if place.exists()]
    if not leftovers:
        raise ModelNotFound(f"The model {name} is not on this disk.", "`mirza models list` shows what is.")
    freed = sum(file.stat().st_size for place in leftovers for file in place.rglob("*") if file.is_file())
    for place in leftovers:
        shutil.rmtree(place)
    return freed


def partial_of(folder: Path) -> Path:
    """Where a pull gathers its files until all are checked."""
    return folder.with_name(folder.name + ".partial")


def read_manifest(folder: Path, name: str) -> Manifest | None:
    """The manifest of a folder; `None` where there is none.

    Raises:
        ModelDamaged: it cannot be read.
    """
    file = folder / MANIFEST
    if not file.exists():
        return None
    try:
        content = cast("dict[str, object]", json.loads(file.read_text(encoding="utf-8")))
        sources = cast("list[str]", content["sources"])
        files = cast("dict[str, list[object]]", content["files"])
        stored = {inner: StoredFile(int(str(size)), str(sha256)) for inner, (size, sha256) in files.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _damaged(name, file) from error
    return Manifest(tuple(sources), stored)


def write_manifest(folder: Path, sources: Sequence[str]) -> None:
    """Notes where the files of `folder` came from, and what they are now."""
    files = {
        file.relative_to(folder).as_posix(): [file.stat().st_size, sha256_of(file)]
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.name != MANIFEST
    }
    (folder / MANIFEST).write_text(json.dumps({"sources": list(sources), "files": files}, indent=1), encoding="utf-8")


def sha256_of(file: Path, on_bytes: Callable[[int], None] = lambda _: None) -> str:
    """The checksum of a file, in hexadecimal."""
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while chunk := stream.read(CHUNK_BYTES):
            digest.update(chunk)
            on_bytes(len(chunk))
    return digest.hexdigest()


def _damaged(name: str, file: Path) -> ModelDamaged:
    return ModelDamaged(
        f"{file} of the model {name} is damaged or incomplete.", f"Get it again: `mirza models pull {name}`."
    )
