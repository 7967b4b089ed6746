"""The file under `mirza.storage`: opening it, keeping its schema up to date, and what to say when it cannot be used."""

from __future__ import annotations

import errno
import fcntl
import os
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from mirza.errors import StorageError

BUSY_S = 10
"""Seconds to wait for another Mirza's write, which takes milliseconds; deleting may take a second."""

DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
"""What SQLite says of a file that it cannot trust (https://www.sqlite.org/rescode.html)."""

MIGRATIONS = (
    # 1: `messages.id` grows with time, so that it orders across conversations. `words` indexes without a second copy.
    """
    CREATE TABLE conversations (
        id INTEGER PRIMARY KEY AUTOINCREMENT,  -- a deleted conversation's number is not given again
        title TEXT NOT NULL,
        session TEXT NOT NULL,
        created_at REAL NOT NULL,
        changed_at REAL NOT NULL
    );
    CREATE TABLE messages (
        id INTEGER PRIMARY KEY,
        conversation INTEGER NOT NULL REFERENCES conversations (id),
        position INTEGER NOT NULL,
        role TEXT NOT NULL,
        content TEXT NOT NULL,
        tool_calls TEXT NOT NULL,
        tool_call_id TEXT NOT NULL,
        UNIQUE (conversation, position)
    );
    CREATE VIRTUAL TABLE words USING fts5 (
        content, content = 'messages', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2'
    );
    CREATE TRIGGER message_written AFTER INSERT ON messages BEGIN
        INSERT INTO words (rowid, content) VALUES (new.id, new.content);
    END;
    CREATE TRIGGER message_deleted AFTER DELETE ON messages BEGIN
        INSERT INTO words (words, rowid, content) VALUES ('delete', old.id, old.content);
    END;
    """,
    # 2: two Mirzas in one conversation notice each other.
    """
    ALTER TABLE conversations ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX conversations_by_change ON conversations (changed_at);
    """,
)
"""One script a version, in order; `user_version` counts those that ran. Append to it, never edit it."""


def connect(path: Path) -> sqlite3.Connection:
    """A connection in the mode that Mirza relies on, to a file with the present schema.

    Raises:
        sqlite3.Error: it is damaged, locked, or cannot be opened.
        OSError: the file cannot be made.
        StorageError: it was written by a newer Mirza.
    """
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))  # conversations are personal; SQLite's other files follow
    database = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        database.row_factory = sqlite3.Row
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")  # a commit is on the disk, also if the power goes
        database.execute("PRAGMA secure_delete = ON")
        damage = database.execute("PRAGMA quick_check(1)").fetchone()[0]  # 3 ms at 4,000 messages
        if damage != "ok":
            raise _damaged(damage)
        _migrate(database, path)
    except BaseException:
        database.close()
        raise
    return database


def _migrate(database: sqlite3.Connection, path: Path) -> None:
    """Runs the scripts that are missing, each with its number in one transaction."""
    if _version(database) > len(MIGRATIONS):
        raise StorageError(f"{path} was written by a newer Mirza.", "Update this one.")
    for number, script in enumerate(MIGRATIONS, 1):
        if _version(database) >= number:
            continue
        try:
            # `executescript` commits what is open, so the transaction is part of the script.
            database.executescript(f"BEGIN IMMEDIATE; {script} PRAGMA user_version = {number}; COMMIT;")
        except sqlite3.Error:
            if database.in_transaction:
                database.execute("ROLLBACK")
            raise


def _version(database: sqlite3.Connection) -> int:
    return int(database.execute("PRAGMA user_version").fetchone()[0])


def _damaged(what: str) -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError(what)
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    error.sqlite_errorname = "SQLITE_CORRUPT"
    return error


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Opening is for one Mirza at a time: two that find the same damage must not put two files aside."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise explain(error, path) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def put_aside(path: Path) -> Path:
    """Renames the file and its write-ahead log, and returns the new name."""
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
    aside = path.with_name(f"{path.stem}.damaged-{stamp}{path.suffix}")
    try:
        for suffix in ("-wal", "-shm", ""):
            beside = path.with_name(path.name + suffix)
            if beside.exists():
                beside.rename(aside.with_name(aside.name + suffix))
    except OSError as error:
        raise explain(error, path) from error
    return aside


def explain(error: sqlite3.Error | OSError, path: Path) -> StorageError:
    """What went wrong with the file, for a person."""
    if isinstance(error, OSError):
        code = {errno.ENOSPC: sqlite3.SQLITE_FULL}.get(error.errno or 0, sqlite3.SQLITE_CANTOPEN)
    else:
        # an error that Python's own module raises (a closed database, for one) carries no code: then it is None
        code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    match code:
        case sqlite3.SQLITE_FULL:
            return StorageError(
                f"The disk is full: {path} cannot be written.",
                "Make room; what was saved is safe, and the rest is saved as soon as there is room.",
            )
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StorageError(f"Another program holds {path}.", "Close it, or try again.")
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return StorageError(f"{path} is damaged.", "Start Mirza again: it puts it aside and begins a new one.")
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM | sqlite3.SQLITE_IOERR:
            return StorageError(
                f"{path} cannot be written ({error}).",
                "Check the folder and its permissions, or choose another with `paths.data`.",
            )
        case _:
            return StorageError(f"{path} cannot be used ({error}).", "Please report this.")
