"""Fetching repositories of the Hugging Face hub."""

# pyright: reportUnknownVariableType=false

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from pathlib import Path

import httpx2  # what huggingface_hub speaks HTTP with, and lets its errors through
from huggingface_hub import HfApi, snapshot_download
from huggingface_hub.errors import OfflineModeIsEnabled

from mirza.errors import DownloadError
from mirza.models.fetch import OnBytes
from mirza.models.kinds import HubRepository

PATTERNS = ["*.safetensors", "*.json", "*.jinja", "*.txt", "*.model", "LICENSE*", "README.md"]
HUB_ERRORS = (httpx2.HTTPError, httpx2.InvalidURL, OfflineModeIsEnabled, OSError)


def hub_reachable(endpoint: str | None = None, timeout_s: float = 3.0) -> bool:
    """Whether the hub answers. Asked at setup only, never while Mirza talks."""
    api = HfApi(endpoint=endpoint)
    try:
        return httpx2.head(api.endpoint, timeout=timeout_s).status_code < 500
    except HUB_ERRORS:
        return False


def look_up(source: HubRepository, endpoint: str | None = None) -> HubRepository:
    """The same repository with its revision made exact and its size as the hub has it now.

    Raises:
        DownloadError: the hub does not answer, or has no such repository or revision.
    """
    try:
        info = HfApi(endpoint=endpoint).model_info(
            source.repository, revision=source.revision, files_metadata=True, timeout=20
        )
    except HUB_ERRORS as error:
        raise _hub_failed(source, error) from error
    size_bytes = sum(sibling.size or 0 for sibling in info.siblings or ())
    return HubRepository(source.repository, info.sha or source.revision, size_bytes)


def fetch_hub(source: HubRepository, folder: Path, on_bytes: OnBytes, endpoint: str | None = None) -> None:
    """The repository's files in `folder`; files and parts of files that are there are kept.

    Raises:
        DownloadError: the hub does not answer, or broke off.
    """

    def download() -> None:
        snapshot_download(
            source.repository,
            revision=source.revision,
            local_dir=folder,
            allow_patterns=PATTERNS,
            endpoint=endpoint,
        )

    # The library draws bars of its own; what has arrived is read off the disk, which holds across its versions.
    with ThreadPoolExecutor(1) as pool:
        job = pool.submit(download)
        while True:
            try:
                job.result(timeout=0.5)
                break
            except FutureTimeout:
                on_bytes(sum(file.stat().st_size for file in list(folder.rglob("*")) if file.is_file()))
            except HUB_ERRORS as error:
                raise _hub_failed(source, error) from error
    shutil.rmtree(folder / ".cache", ignore_errors=True)
    on_bytes(source.size_bytes)


def _hub_failed(source: HubRepository, error: Exception) -> DownloadError:
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return DownloadError(
        f"{source} could not be fetched: {reason}",
        "Check the network and the name, then try again: what has arrived is kept. "
        "The embedded model needs no hub: `mirza models pull smollm2-135m`.",
    )
