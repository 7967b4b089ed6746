"""Conversations on disk: killed, shared, damaged, deleted; nothing acknowledged is lost."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from mirza.errors import StorageError
from mirza.events import ToolCall
from mirza.llm.base import Message
from mirza.recorder import Recorder
from mirza.storage import Overtaken, SessionSettings, Store, open_store
from mirza.storage_file import MIGRATIONS


def user(text: str) -> Message:
    return Message("user", text)


def mirza(text: str) -> Message:
    return Message("assistant", text)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "conversations.sqlite"


@pytest.fixture
def store(path: Path):
    with open_store(path)[0] as store:
        yield store


def talk(store: Store, *messages: Message, settings: SessionSettings | None = None) -> int:
    conversation = store.create(settings=settings)
    store.save(conversation, 0, 0, messages)
    return conversation


# --- what is kept


def test_a_conversation_comes_back_as_it_was(store: Store, path: Path):
    call = ToolCall("1", "clock", '{"zone": "Europe/Paris"}')
    said = [
        user("What time is it in Paris? 🕰 \x00 e\u0301 \u202e"),
        Message("assistant", "", (call,)),
        Message("tool", "10:05", tool_call_id="1"),
        mirza("Five past ten."),
    ]
    settings = SessionSettings(thinking_budget="1.5s", voice="amy")
    conversation = talk(store, *said, settings=settings)
    store.close()
    with open_store(path)[0] as again:
        assert again.last() == conversation
        assert again.messages(conversation) == said
        assert again.settings(conversation) == settings


def test_undoing_a_turn_and_asking_again_replaces_it(store: Store):
    conversation = talk(store, user("one"), mirza("1"), user("two"), mirza("2"))
    store.save(conversation, 1, kept=2, messages=[user("three")])
    assert store.messages(conversation) == [user("one"), mirza("1"), user("three")]
    assert not store.search("two")


def test_the_list_shows_the_last_one_first_and_no_empty_ones(store: Store):
    first = talk(store, user("  About\n the   weather "), mirza("Fine."))
    second = talk(store, user("x" * 100))
    store.create()
    store.rename(second, "Holidays")
    assert [(line.id, line.title, line.messages) for line in store.list()] == [
        (second, "Holidays", 1),
        (first, "About the weather", 2),
    ]


def test_a_number_that_is_not_there_is_an_error_that_says_what_to_do(store: Store):
    for read in (store.messages, store.summary, store.delete, store.settings):
        with pytest.raises(StorageError, match=r"no conversation 7.*/sessions"):
            read(7)


def test_the_file_is_for_its_owner_only(store: Store, path: Path):
    talk(store, user("secret"))
    assert path.stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o077 == 0


# --- search


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("cafe", "Où est le café ?"),
        ("EST caf", "Où est le café ?"),
        ("天气", "今天天气怎么样"),
        ("100%", "Is it 100% sure?"),
        ('say "hello', 'She did say "hello" twice'),
        ("AND", "salt AND pepper"),
    ],
)
def test_search_finds_words_in_any_script(store: Store, words: str, found: str):
    talk(store, user("Où est le café ?"), user("今天天气怎么样"), user("Is it 100% sure?"))
    talk(store, user('She did say "hello" twice'), user("salt AND pepper"))
    assert [hit.excerpt for hit in store.search(words)] == [found]


@pytest.mark.parametrize("words", ["", "  ", '"', "*", "()", "%", "-", "NEAR(", "天%"])
def test_odd_search_words_find_nothing_and_break_nothing(store: Store, words: str):
    talk(store, user("hello"), mirza("今天"))
    assert store.search(words) == []


# --- deleting


def test_a_deleted_conversation_is_in_none_of_the_files(store: Store, path: Path):
    secret = "zanzibar"
    kept = talk(store, user("keep me"))
    doomed = [talk(store, *(user(f"{secret} {n} {'x' * n * 7}") for n in range(size))) for size in (1, 30, 300)]
    for conversation in doomed:
        store.save(conversation, 1, kept=0, messages=[user(secret + "!"), mirza("ok" * 2000)])
        store.rename(conversation, f"All about {secret}")
    for conversation in doomed:
        store.delete(conversation)
    remains = {file.name for file in path.parent.iterdir() if secret.encode() in file.read_bytes()}
    assert remains == set()
    assert [line.id for line in store.list()] == [kept]
    assert store.search("keep")


def test_a_deleted_number_is_not_given_again(store: Store):
    conversation = talk(store, user("hello"))
    store.delete(conversation)
    assert store.create() > conversation


# --- two at once


def test_two_mirzas_write_at_the_same_time_and_both_keep_everything(path: Path):
    def hold(name: str) -> None:
        with open_store(path)[0] as store:
            conversation = store.create(title=name)
            for turn in range(60):
                store.save(conversation, turn, turn * 2, [user(f"{name} {turn}"), mirza("yes")])

    threads = [threading.Thread(target=hold, args=(name,)) for name in ("left", "right", "third")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with open_store(path)[0] as store:
        assert sorted((line.title, line.messages) for line in store.list()) == [
            ("left", 120),
            ("right", 120),
            ("third", 120),
        ]


def test_a_late_save_cannot_overwrite_another_mirzas_turn(store: Store, path: Path):
    conversation = talk(store, user("hello"))
    with open_store(path)[0] as other:
        other.save(conversation, 1, 1, [mirza("from the other")])
    with pytest.raises(Overtaken):
        store.save(conversation, 1, 1, [mirza("from this one")])
    assert store.messages(conversation) == [user("hello"), mirza("from the other")]


async def test_the_same_conversation_resumed_twice_becomes_two(path: Path):
    seed = open_store(path)[0]
    conversation = talk(seed, user("hello"))
    one, two = Recorder(seed), Recorder(open_store(path)[0])
    await one.resume(conversation)
    await two.resume(conversation)
    assert not await one.keep([user("hello"), mirza("one")])
    notice = await two.keep([user("hello"), mirza("two")])
    assert "number 2" in notice
    assert not await two.keep([user("hello"), mirza("two"), user("and on")])
    assert one.store.messages(conversation) == [user("hello"), mirza("one")]
    assert one.store.messages(2) == [user("hello"), mirza("two"), user("and on")]
    one.close()
    two.close()


# --- the recorder


async def test_the_recorder_writes_only_what_differs(path: Path):
    recorder = Recorder(open_store(path)[0])
    await recorder.keep([])
    assert recorder.conversation is None
    await recorder.keep([user("a"), mirza("b")])
    await recorder.keep([user("a"), mirza("b")])
    assert recorder.store.revision(1) == 1
    await recorder.keep([user("a"), mirza("b, cut")])
    assert recorder.store.messages(1) == [user("a"), mirza("b, cut")]
    await recorder.begin()
    await recorder.keep([user("new")])
    assert recorder.store.messages(2) == [user("new")]
    assert recorder.store.messages(1) == [user("a"), mirza("b, cut")]
    recorder.close()


# --- the disk


FILL = """
import resource, sys
from pathlib import Path
from mirza.errors import StorageError
from mirza.llm.base import Message
from mirza.storage import open_store

store, _ = open_store(Path(sys.argv[1]))
conversation = store.create()
store.save(conversation, 0, 0, [Message("user", "before")])
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, resource.RLIM_INFINITY))
try:
    store.save(conversation, 1, 1, [Message("assistant", "x" * 500_000)])
except StorageError as error:
    print(error)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
store.save(conversation, 1, 1, [Message("assistant", "after")])
print([message.content for message in store.messages(conversation)])
"""


def test_a_disk_that_takes_no_more_loses_nothing_and_recovers(path: Path):
    """A real refusal by the system: the file may not grow (the nearest thing to a full disk without being root)."""
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY
    done = subprocess.run([sys.executable, "-c", FILL, str(path)], capture_output=True, text=True, check=True)
    error, after = done.stdout.splitlines()
    assert "conversations.sqlite" in error
    assert after == "['before', 'after']"


async def test_a_full_disk_is_said_and_the_turn_is_written_when_there_is_room(path: Path):
    store = open_store(path)[0]
    recorder = Recorder(store)
    await recorder.keep([user("before")])
    limit = store._database  # SQLite's own limit on pages is how it reports a full disk
    pages = limit.execute("PRAGMA page_count").fetchone()[0]
    limit.execute(f"PRAGMA max_page_count = {pages}")
    turn = [user("before"), mirza("x" * 50_000)]
    with pytest.raises(StorageError, match=r"disk is full.*Make room"):
        await recorder.keep(turn)
    assert store.messages(1) == [user("before")]
    limit.execute("PRAGMA max_page_count = 1000000")
    await recorder.keep([*turn, user("more")])
    assert store.messages(1) == [*turn, user("more")]
    recorder.close()


def test_a_folder_that_cannot_be_made_is_an_error_that_names_it(tmp_path: Path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StorageError, match=r"file/conversations\.sqlite.*paths\.data"):
        open_store(tmp_path / "file" / "conversations.sqlite")


def test_another_program_that_holds_the_file_is_named_as_the_reason(store: Store, path: Path):
    store._database.execute("PRAGMA busy_timeout = 50")  # ten seconds otherwise
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageError, match="Another program holds"):
        store.create()
    holder.execute("ROLLBACK")
    holder.close()
    assert store.create() == 1


# --- damage


def spoil_the_header(data: bytearray) -> None:
    data[:16] = b"not a database!!"


def spoil_the_middle(data: bytearray) -> None:
    for page in range(4096, len(data), 4096):
        data[page : page + 200] = b"\xff" * 200


def cut_it_short(data: bytearray) -> None:
    del data[len(data) // 2 :]


@pytest.mark.parametrize("spoil", [spoil_the_header, spoil_the_middle, cut_it_short])
def test_a_damaged_file_is_put_aside_and_said_so(path: Path, spoil):
    with open_store(path)[0] as store:
        talk(store, *(user(f"message {n} " + "x" * 500) for n in range(200)))
    data = bytearray(path.read_bytes())
    spoil(data)
    path.write_bytes(data)
    store, notice = open_store(path)
    assert "damaged" in notice
    (aside,) = path.parent.glob("*.damaged-*.sqlite")
    assert str(aside) in notice
    assert aside.read_bytes() == data
    assert store.list() == []
    talk(store, user("a fresh start"))
    store.close()
    assert open_store(path)[1] == ""


def test_two_that_find_the_damage_together_put_one_file_aside(path: Path):
    path.parent.mkdir()
    path.write_bytes(b"rubbish" * 1000)

    def start() -> None:
        open_store(path)[0].close()

    threads = [threading.Thread(target=start) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(list(path.parent.glob("*.damaged-*.sqlite"))) == 1


# --- schema


@pytest.mark.parametrize("version", range(1, len(MIGRATIONS)))
def test_a_file_of_each_earlier_version_is_brought_up_to_date(path: Path, version: int):
    path.parent.mkdir()
    old = sqlite3.connect(path)
    for script in MIGRATIONS[:version]:
        old.executescript(script)
    old.execute(f"PRAGMA user_version = {version}")
    old.execute("INSERT INTO conversations (title, session, created_at, changed_at) VALUES ('old', '{}', 1, 1)")
    old.execute(
        "INSERT INTO messages (conversation, position, role, content, tool_calls, tool_call_id) "
        "VALUES (1, 0, 'user', 'hello from before', '', '')"
    )
    old.commit()
    old.close()
    with open_store(path)[0] as store:
        assert store.messages(1) == [user("hello from before")]
        store.save(1, store.revision(1), 1, [mirza("welcome")])
        assert len(store.search("hello")) == 1


def test_a_file_of_a_newer_mirza_is_left_alone(path: Path):
    with open_store(path)[0] as store:
        store._database.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    with pytest.raises(StorageError, match=r"newer Mirza.*Update"):
        open_store(path)
    assert path.read_bytes() == before


# --- killed

TALKER = r"""
import os
import sys
from pathlib import Path
from mirza.llm.base import Message
from mirza.storage import open_store

store, notice = open_store(Path(sys.argv[1]))
assert not notice, notice
conversation = store.create()
for turn in range(100_000):
    store.save(conversation, turn, 2 * turn, [Message("user", f"{turn} " + "q" * 300), Message("assistant", f"{turn}")])
    os.write(1, f"{conversation} {turn}\n".encode())  # the acknowledgement, whole or not at all
"""


def test_killed_two_hundred_times_every_acknowledged_turn_is_there(path: Path):
    # A child forks from one that has imported everything, so that 200 lives take seconds, not minutes.
    nursery = f"""
import os, sys, signal
sys.argv = ["talker", {str(path)!r}]
source = compile({TALKER!r}, "talker", "exec")
import mirza.storage
for line in sys.stdin:
    ready, child_side = os.pipe()
    child = os.fork()
    if child == 0:
        exec(source)
    os.close(ready); os.close(child_side)
    print("born", child, flush=True)
    os.waitpid(child, 0)
    print("dead", flush=True)
"""
    acknowledged: dict[int, int] = {}
    mother = subprocess.Popen(
        [sys.executable, "-c", nursery], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    assert mother.stdin is not None and mother.stdout is not None
    for life in range(200):
        print("go", file=mother.stdin, flush=True)
        while (line := mother.stdout.readline().split()) != ["dead"]:
            assert line, "the mother process ended"
            if line[0] == "born":
                # from its first millisecond, while it opens the file, to well into the conversation
                threading.Timer((life % 40) * 0.0012, kill, (int(line[1]),)).start()
            else:
                conversation, turn = map(int, line)
                acknowledged[conversation] = turn
    mother.stdin.close()
    mother.wait()
    store, notice = open_store(path)
    assert notice == ""
    assert len(acknowledged) > 50
    for conversation, last in acknowledged.items():
        messages = store.messages(conversation)
        assert len(messages) in {2 * last + 2, 2 * last + 4}  # the one in the air may have arrived, never half of it
        assert [int(message.content) for message in messages[1::2]] == list(range(len(messages) // 2))
    assert store._database.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    store._database.execute("INSERT INTO words (words) VALUES ('integrity-check')")
    store.close()


def kill(child: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)


# --- long


def test_opening_a_conversation_of_2000_turns_reads_only_what_is_shown(store: Store):
    turns = [message for n in range(2000) for message in (user(f"question {n}"), mirza(f"answer {n} " + "word " * 40))]
    conversation = talk(store, *turns)
    steps = 0

    def count() -> None:
        nonlocal steps
        steps += 1

    store._database.set_progress_handler(count, 1000)
    shown = store.messages(conversation, len(turns) - 40)
    few, steps = steps, 0
    whole = store.messages(conversation)
    store._database.set_progress_handler(None, 0)
    assert shown == turns[-40:] and whole == turns
    assert few * 10 < steps or few <= 2
