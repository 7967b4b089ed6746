"""Conversations that last: one SQLite file, written so that a crash at any moment loses nothing acknowledged.

The theory. A conversation is a list of messages, and saving means: keep the first `kept` of them, then write these.
Each save is one transaction, flushed to the disk before it returns (WAL, `synchronous=FULL`). Every conversation counts
its saves in `revision`; a save that comes from an older revision is refused with `Overtaken`, so that two Mirzas in the
same conversation can never overwrite each other. Nobody holds a transaction open between calls, so none waits for long.

A damaged file is put aside, never deleted: `open_store` renames it, starts an empty one and says so.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from types import TracebackType

from mirza.errors import StorageError
from mirza.events import ToolCall
from mirza.llm.base import Message
from mirza.storage_file import DAMAGED, connect, explain, locked, put_aside

TITLE_CHARACTERS = 60


class Overtaken(StorageError):
    """Another Mirza has gone on with this conversation meanwhile."""


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """What belongs to a conversation and not to the machine: it comes back with `--resume`. Empty is as configured."""

    thinking_budget: str = ""
    model: str = ""
    engine: str = ""
    """The `llm.engine` whose model that is; empty in what was kept before there was a choice: `mlx`."""
    voice: str = ""
    system: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    """One line of the list of conversations. `title` is the given one, or how the first message begins."""

    id: int
    title: str
    messages: int
    changed_at: datetime
    """UTC."""


@dataclass(frozen=True, slots=True)
class Found:
    """A message in which the words were found, with the words in context."""

    conversation: int
    position: int
    role: str
    excerpt: str


class Store:
    """All conversations of one user. Calls are quick but touch the disk: from an event loop, call them on a thread.

    Every method raises `StorageError` if the disk is full, the file is locked for long, or damaged.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        self._database = connect(path)

    def close(self) -> None:
        with self._lock:
            self._database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    # --- writing

    def create(self, *, title: str = "", settings: SessionSettings | None = None) -> int:
        """A new, empty conversation; its number."""
        session = json.dumps(asdict(settings or SessionSettings()))
        now = _now()
        with self._transaction() as database:
            cursor = database.execute(
                "INSERT INTO conversations (title, session, created_at, changed_at) VALUES (?, ?, ?, ?)",
                (title, session, now, now),
            )
            assert cursor.lastrowid is not None
            return cursor.lastrowid

    def save(self, conversation: int, revision: int, kept: int, messages: Sequence[Message]) -> int:
        """Keeps the first `kept` messages, writes `messages` after them, and returns the new revision.

        On disk when it returns; unchanged if it raises.

        Raises:
            Overtaken: the conversation is no longer at `revision`, or was deleted.
        """
        with self._transaction() as database:
            changed = database.execute(
                "UPDATE conversations SET revision = revision + 1, changed_at = ? WHERE id = ? AND revision = ?",
                (_now(), conversation, revision),
            ).rowcount
            if not changed:
                raise Overtaken(
                    f"Another Mirza has gone on with conversation {conversation}, or deleted it.",
                    "What is said here goes into a conversation of its own.",
                )
            database.execute("DELETE FROM messages WHERE conversation = ? AND position >= ?", (conversation, kept))
            rows = [
                (
                    conversation,
                    kept + offset,
                    message.role,
                    well_formed(message.content),
                    _calls(message),
                    message.tool_call_id,
                )
                for offset, message in enumerate(messages)
            ]
            database.executemany(
                "INSERT INTO messages (conversation, position, role, content, tool_calls, tool_call_id) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                rows,
            )
            return revision + 1

    def rename(self, conversation: int, title: str) -> None:
        """Gives it a title of its own."""
        with self._transaction() as database:
            database.execute("UPDATE conversations SET title = ? WHERE id = ?", (well_formed(title), conversation))

    def set_settings(self, conversation: int, settings: SessionSettings) -> None:
        """Remembers the settings of a conversation."""
        with self._transaction() as database:
            session = json.dumps(asdict(settings))
            database.execute("UPDATE conversations SET session = ? WHERE id = ?", (session, conversation))

    def delete(self, conversation: int) -> None:
        """Deletes it so that its words are in the files no more: rows, index, write-ahead log and free pages.

        What the disk itself remembers of old blocks is out of reach.

        Raises:
            StorageError: there is no such conversation.
        """
        self.summary(conversation)
        with self._transaction() as database:
            database.execute("DELETE FROM messages WHERE conversation = ?", (conversation,))
            database.execute("DELETE FROM conversations WHERE id = ?", (conversation,))
            # The index keeps deleted words until its segments happen to merge; and SQLite's secure_delete does not
            # clear the copies that stay on a page when its rows move to another. Both are rewritten.
            database.execute("INSERT INTO words (words) VALUES ('rebuild')")
        with self._guarded() as database:
            database.execute("VACUUM")
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    # --- reading

    def last(self) -> int | None:
        """The conversation that was last written to, if there is one with anything in it."""
        listed = self.list(limit=1)
        return listed[0].id if listed else None

    def revision(self, conversation: int) -> int:
        """How often it was saved: what `save` wants to be told."""
        return int(self._conversation(conversation)["revision"])

    def settings(self, conversation: int) -> SessionSettings:
        """What belongs to this conversation. Names that this version does not know are left out."""
        stored = json.loads(self._conversation(conversation)["session"])
        return SessionSettings(**{name: stored[name] for name in SessionSettings.__slots__ if name in stored})

    def messages(self, conversation: int, start: int = 0, end: int | None = None) -> list[Message]:
        """Its messages from position `start` up to `end`, in order."""
        self._conversation(conversation)
        with self._guarded() as database:
            rows = database.execute(
                "SELECT role, content, tool_calls, tool_call_id FROM messages "
                "WHERE conversation = ? AND position >= ? AND position < ? ORDER BY position",
                (conversation, start, 2**62 if end is None else end),
            ).fetchall()
        return [_message(row) for row in rows]

    def summary(self, conversation: int) -> Summary:
        """One line about it.

        Raises:
            StorageError: there is no such conversation.
        """
        self._conversation(conversation)
        return next(iter(self._summaries("WHERE c.id = ?", (conversation,))))

    def list(self, *, limit: int = 50) -> list[Summary]:
        """Conversations that hold something, the last one first."""
        where = "WHERE EXISTS (SELECT 1 FROM messages m WHERE m.conversation = c.id)"
        return self._summaries(f"{where} ORDER BY c.changed_at DESC, c.id DESC LIMIT ?", (limit,))

    def said_by_user(self, *, limit: int = 500) -> list[str]:
        """What the user said in all conversations, oldest first."""
        with self._guarded() as database:
            rows = database.execute(
                "SELECT content FROM messages WHERE role = 'user' ORDER BY id DESC LIMIT ?", (limit,)
            ).fetchall()
        return [row["content"] for row in reversed(rows)]

    def search(self, words: str, *, limit: int = 50) -> list[Found]:
        """Messages that hold all of `words` (the beginning of a word is enough), the last one first."""
        if not words.split():
            return []
        if any(_runs_together(character) for character in words):  # no spaces between words: the index has no words
            pattern = "%" + words.strip().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
            query, argument = "SELECT *, content AS excerpt FROM messages WHERE content LIKE ? ESCAPE '\\'", pattern
        else:
            query = (
                "SELECT m.*, snippet(words, 0, '', '', ' … ', 12) AS excerpt FROM words "
                "JOIN messages m ON m.id = words.rowid WHERE words MATCH ?"
            )
            argument = " ".join('"' + word.replace('"', '""') + '"*' for word in words.split())
        with self._guarded() as database:
            rows = database.execute(query + " ORDER BY id DESC LIMIT ?", (argument, limit)).fetchall()
        return [Found(row["conversation"], row["position"], row["role"], row["excerpt"]) for row in rows]

    # --- below: SQLite

    def _conversation(self, conversation: int) -> sqlite3.Row:
        with self._guarded() as database:
            row = database.execute("SELECT * FROM conversations WHERE id = ?", (conversation,)).fetchone()
        if row is None:
            raise StorageError(f"There is no conversation {conversation}.", "`/sessions` lists those there are.")
        return row

    def _summaries(self, which: str, arguments: tuple[int, ...]) -> list[Summary]:
        first = "SELECT content FROM messages m WHERE m.conversation = c.id AND role = 'user' ORDER BY position LIMIT 1"
        count = "SELECT COUNT(*) FROM messages m WHERE m.conversation = c.id"
        with self._guarded() as database:
            rows = database.execute(
                f"SELECT c.*, ({first}) AS first, ({count}) AS messages FROM conversations c {which}", arguments
            ).fetchall()
        return [
            Summary(row["id"], row["title"] or _title(row["first"] or ""), row["messages"], _when(row["changed_at"]))
            for row in rows
        ]

    @contextmanager
    def _guarded(self) -> Generator[sqlite3.Connection]:
        """The connection, for one thread at a time; SQLite's errors become ours."""
        with self._lock:
            try:
                yield self._database
            except sqlite3.Error as error:
                raise explain(error, self.path) from error

    @contextmanager
    def _transaction(self) -> Generator[sqlite3.Connection]:
        """All or nothing. IMMEDIATE takes the write lock first, where waiting is possible, not half-way."""
        with self._guarded() as database:
            database.execute("BEGIN IMMEDIATE")
            try:
                yield database
                database.execute("COMMIT")
            except BaseException:
                if database.in_transaction:  # a full disk makes SQLite roll back by itself
                    database.execute("ROLLBACK")
                raise


def open_store(path: Path) -> tuple[Store, str]:
    """Opens the conversations at `path`, making file and folder where there are none; and a notice, mostly empty.

    A damaged file is renamed with the date, and the notice says so.

    Raises:
        StorageError: the folder cannot be written to, or the file is of a newer Mirza.
    """
    with locked(path):
        try:
            return Store(path), ""
        except OSError as error:
            raise explain(error, path) from error
        except sqlite3.Error as error:
            if error.sqlite_errorcode & 0xFF not in DAMAGED:
                raise explain(error, path) from error
        aside = put_aside(path)
        return Store(path), f"The file of your conversations is damaged. It was put aside as {aside}; a new one begins."


def well_formed(text: str) -> str:
    """The text with half surrogate pairs, which neither UTF-8 nor SQLite can hold, as U+FFFD."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _calls(message: Message) -> str:
    return json.dumps([asdict(call) for call in message.tool_calls]) if message.tool_calls else ""


def _message(row: sqlite3.Row) -> Message:
    calls = tuple(ToolCall(**call) for call in json.loads(row["tool_calls"] or "[]"))
    return Message(row["role"], row["content"], calls, row["tool_call_id"])


def _title(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= TITLE_CHARACTERS else line[: TITLE_CHARACTERS - 1] + "…"


def _runs_together(character: str) -> bool:
    """Scripts written without spaces: Thai to Khmer, and all from the CJK radicals to the Hangul-free ideographs."""
    return "\u0e00" <= character <= "\u0fff" or "\u1780" <= character <= "\u17ff" or "\u2e80" <= character <= "\u9fff"


def _now() -> float:
    return datetime.now(UTC).timestamp()


def _when(timestamp: float) -> datetime:
    return datetime.fromtimestamp(timestamp, UTC)
