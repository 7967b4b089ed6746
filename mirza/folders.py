"""Mirza's folders. It writes nowhere else."""

from __future__ import annotations

import shutil
from pathlib import Path

import platformdirs

from mirza.errors import StorageError
from mirza.settings import PathSettings

PROJECT = Path(__file__).resolve().parent.parent
"""Where `config/` and `assets/` are."""


def data_folder(paths: PathSettings) -> Path:
    """Conversations and logs; made if it is not there."""
    return _made(paths.data or Path(platformdirs.user_data_dir("mirza", appauthor=False)))


def conversations_file(paths: PathSettings) -> Path:
    """Where conversations are kept; its folder is made, the file is not."""
    return data_folder(paths) / "conversations.sqlite"


def cache_folder(paths: PathSettings) -> Path:
    """Models and snapshots; made if it is not there. Everything in it can be had again."""
    return _made(paths.cache or Path(platformdirs.user_cache_dir("mirza", appauthor=False)))


def forget_snapshots(paths: PathSettings) -> None:
    """Deletes every state of a language model on this disk: they hold conversations, as tokens. They are made again."""
    shutil.rmtree(snapshot_folder(paths), ignore_errors=True)


def snapshot_folder(paths: PathSettings) -> Path:
    """States of language models, so that the next start is warm; it need not exist."""
    return cache_folder(paths) / "snapshots"


def user_file() -> Path:
    """The user's settings; it need not exist."""
    return Path(platformdirs.user_config_dir("mirza", appauthor=False)) / "mirza.toml"


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"The folder {folder} cannot be made: {error.strerror or error}.",
            "Make room or give rights, or name another: `mirza settings set paths.data FOLDER` (or paths.cache).",
        ) from error
    return folder
