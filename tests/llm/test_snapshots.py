"""States that outlive a start, and never lie."""

import json
import multiprocessing
import os
import shutil
from dataclasses import replace
from pathlib import Path

import mlx.core as mx
import pytest
from loguru import logger

from mirza.llm.mlx.fingerprint import Provenance, provenance, weights_fingerprint
from mirza.llm.mlx.snapshots import DiskSnapshots, MemorySnapshots, Snapshot

TINY = Path(__file__).parent.parent / "fixtures" / "tiny-qwen35"
MODEL = Provenance("config", "tokenizer", "template", "weights", "float32", "full", "x86_64 cpu", "mlx 0.32.4")


def state(*ids, size=4):
    arrays = {"0.state": mx.arange(size * len(ids)).astype(mx.bfloat16), "1.keys": mx.ones((1, len(ids), 2))}
    return Snapshot(tuple(ids), arrays, {"layers": "2"})


def on_disk(folder, model=MODEL, max_bytes=10**6):
    return DiskSnapshots(folder, model, max_bytes, min_tokens=1)


def only_file(folder):
    (file,) = folder.glob("*.snapshot")
    return file


def same(one, other):
    return (
        one.ids == other.ids
        and one.notes == other.notes
        and one.arrays.keys() == other.arrays.keys()
        and all(
            one.arrays[name].dtype == other.arrays[name].dtype and mx.array_equal(one.arrays[name], other.arrays[name])
            for name in one.arrays
        )
    )


@pytest.fixture
def log():
    lines = []
    sink = logger.add(lambda line: lines.append(str(line)), level="INFO", format="{message}")
    yield lines
    logger.remove(sink)


# --- what is found ---------------------------------------------------------------------------------------------------


def stores(tmp_path):
    return MemorySnapshots(10**6), on_disk(tmp_path)


def test_the_longest_state_that_a_conversation_begins_with_is_found(tmp_path):
    for store in stores(tmp_path):
        for snapshot in (state(1, 2), state(1, 2, 3, 4), state(1, 2, 9, 9, 9, 9)):
            store.put(snapshot)
        assert same(store.find([1, 2, 3, 4, 5]), state(1, 2, 3, 4))
        assert same(store.find([1, 2, 3, 4]), state(1, 2, 3, 4))
        assert same(store.find([1, 2, 3]), state(1, 2))
        assert store.find([2, 1]) is None
        assert store.find([1]) is None
        assert store.find([]) is None


def test_a_state_survives_a_restart_to_the_last_bit(tmp_path):
    on_disk(tmp_path).put(state(1, 2, 3))
    assert same(on_disk(tmp_path).find([1, 2, 3, 4]), state(1, 2, 3))


def test_nothing_is_forgotten_but_what_is_cleared(tmp_path):
    on_disk(tmp_path, replace(MODEL, dtype="float16")).put(state(1, 2))
    for store in stores(tmp_path):
        store.put(state(1, 2))
        store.clear()
        assert store.find([1, 2]) is None
    assert on_disk(tmp_path, replace(MODEL, dtype="float16")).find([1, 2])


def test_short_beginnings_are_not_worth_a_file(tmp_path):
    store = DiskSnapshots(tmp_path, MODEL, 10**6, min_tokens=3)
    store.put(state(1, 2))
    assert store.find([1, 2, 3]) is None
    store.put(state(1, 2, 3))
    assert store.find([1, 2, 3])


def test_a_state_that_is_there_is_not_written_again(tmp_path):
    store = on_disk(tmp_path)
    store.put(state(1, 2))
    before = only_file(tmp_path).stat().st_ino
    assert not store.wants([1, 2])
    store.put(state(1, 2))
    assert only_file(tmp_path).stat().st_ino == before


def test_other_people_cannot_read_a_conversation(tmp_path):
    on_disk(tmp_path).put(state(1, 2))
    assert only_file(tmp_path).stat().st_mode & 0o077 == 0


# --- room ------------------------------------------------------------------------------------------------------------


def test_memory_keeps_what_was_used_last():
    one = state(1, 1)
    store = MemorySnapshots(int(2.5 * one.nbytes))
    store.put(one)
    store.put(state(2, 2))
    assert store.find([1, 1, 7])
    store.put(state(3, 3))
    assert store.find([1, 1])
    assert store.find([2, 2]) is None
    assert store.nbytes == 2 * one.nbytes
    store.put(state(4, 4, size=1000))
    assert store.find([4, 4]) is None
    assert store.nbytes <= 2.5 * one.nbytes


def test_the_folder_keeps_what_was_used_last_whosever_it_is(tmp_path):
    on_disk(tmp_path).put(state(1, 1))
    size = only_file(tmp_path).stat().st_size
    other = on_disk(tmp_path, replace(MODEL, dtype="float16"), int(2.5 * size))
    mine = on_disk(tmp_path, max_bytes=int(2.5 * size))
    age(tmp_path, 100)
    other.put(state(2, 2))
    age(tmp_path, 100)
    assert mine.find([1, 1])
    mine.put(state(3, 3))
    assert other.find([2, 2]) is None
    assert mine.find([1, 1])
    assert mine.find([3, 3])
    assert mine.nbytes <= 2.5 * size
    mine.put(state(4, 4, size=10_000))
    assert mine.find([4, 4]) is None
    assert mine.find([3, 3])


def age(folder, seconds):
    for file in folder.iterdir():
        stat = file.stat()
        os.utime(file, (stat.st_atime, stat.st_mtime - seconds))


def test_no_room_at_all_means_no_files(tmp_path):
    store = on_disk(tmp_path, max_bytes=0)
    store.put(state(1, 2))
    assert not list(tmp_path.iterdir())


def test_what_a_process_that_died_left_is_swept_up(tmp_path):
    stale, fresh = tmp_path / ".a.snapshot.1.tmp", tmp_path / ".b.snapshot.2.tmp"
    stale.write_bytes(b"half")
    age(tmp_path, 7200)
    fresh.write_bytes(b"half")
    on_disk(tmp_path).put(state(1, 2))
    assert not stale.exists()
    assert fresh.exists()


# --- damage ----------------------------------------------------------------------------------------------------------


def test_a_flipped_bit_anywhere_is_a_miss_and_never_a_wrong_state(tmp_path, log):
    on_disk(tmp_path).put(state(1, 2, 3))
    file = only_file(tmp_path)
    whole = file.read_bytes()
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        file.write_bytes(damaged)
        assert on_disk(tmp_path).find([1, 2, 3, 4]) is None, f"byte {place}"
    assert all("not used, and removed" in line for line in log)
    # A bit in the list of tokens may give another list: then it is no state for this conversation, and stays.
    assert len(whole) - 12 < len(log) <= len(whole)


def test_a_flipped_bit_is_found_by_the_process_that_wrote_it_too(tmp_path, log):
    store = on_disk(tmp_path)
    store.put(state(1, 2, 3))
    file = only_file(tmp_path)
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    assert store.find([1, 2, 3]) is None
    assert "checksum" in log[-1]


@pytest.mark.parametrize("keep", [0, 4, 8, 30, 40, 45, 60, -1])
def test_a_file_without_its_end_is_a_miss(tmp_path, keep, log):
    on_disk(tmp_path).put(state(1, 2, 3))
    file = only_file(tmp_path)
    file.write_bytes(file.read_bytes()[:keep])
    assert on_disk(tmp_path).find([1, 2, 3]) is None
    assert log


def test_when_the_longest_is_damaged_the_next_is_used(tmp_path):
    store = on_disk(tmp_path)
    store.put(state(1, 2))
    short = only_file(tmp_path)
    store.put(state(1, 2, 3))
    (long,) = set(tmp_path.glob("*.snapshot")) - {short}
    long.write_bytes(long.read_bytes()[:-1])
    assert same(store.find([1, 2, 3, 4]), state(1, 2))


@pytest.mark.parametrize("field", list(MODEL.__slots__))
def test_whatever_differs_in_the_model_its_states_are_not_used(tmp_path, field, log):
    on_disk(tmp_path, replace(MODEL, **{field: "another"})).put(state(1, 2))
    assert on_disk(tmp_path).find([1, 2]) is None
    assert f"{field} another instead of" in log[-1]


def test_a_file_under_another_models_name_is_not_used_either(tmp_path, log):
    on_disk(tmp_path, replace(MODEL, dtype="float16")).put(state(1, 2))
    file = only_file(tmp_path)
    file.rename(tmp_path / file.name.replace(replace(MODEL, dtype="float16").key, MODEL.key))
    assert on_disk(tmp_path).find([1, 2]) is None
    assert "float16 instead of float32" in log[-1]


def test_a_state_under_the_name_of_other_tokens_is_not_used(tmp_path):
    store = on_disk(tmp_path)
    store.put(state(1, 2))
    first = only_file(tmp_path)
    content = first.read_bytes()
    store.put(state(3, 4))
    (second,) = set(tmp_path.glob("*.snapshot")) - {first}
    second.write_bytes(content)
    assert store.find([3, 4]) is None
    assert same(store.find([1, 2]), state(1, 2))


def test_a_full_disk_is_a_line_in_the_log(tmp_path, log, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    store = on_disk(tmp_path)
    store.put(state(1, 2))
    assert store.find([1, 2]) is None
    assert "No space left" in log[-1]
    assert not list(tmp_path.iterdir())


def test_a_snapshot_that_another_process_removed_is_a_miss(tmp_path):
    store = on_disk(tmp_path)
    store.put(state(1, 2))
    only_file(tmp_path).unlink()
    assert store.find([1, 2]) is None


def hammer(folder, start, out):
    store = on_disk(Path(folder), max_bytes=6_000)
    wrong = found = 0
    for turn in range(60):
        number = (start + turn) % 12
        store.put(state(number, number + 1))
        snapshot = store.find([number, number + 1, 7])
        if snapshot is not None:
            found += 1
            wrong += not same(snapshot, state(number, number + 1))
    out.put((found, wrong, store.nbytes))


def test_two_processes_share_a_folder(tmp_path):
    context = multiprocessing.get_context("spawn")
    out = context.Queue()
    workers = [context.Process(target=hammer, args=(str(tmp_path), start, out)) for start in (0, 5)]
    for worker in workers:
        worker.start()
    results = [out.get(timeout=120) for _ in workers]
    for worker in workers:
        worker.join(timeout=30)
    assert all(found > 0 and wrong == 0 for found, wrong, _ in results)
    assert on_disk(tmp_path).nbytes <= 6_000


# --- which model -----------------------------------------------------------------------------------------------------


def test_one_changed_weight_is_another_model(tmp_path):
    folder = Path(shutil.copytree(TINY, tmp_path / "model"))
    before = weights_fingerprint(folder)
    assert before == weights_fingerprint(TINY)
    weights = mx.load(str(folder / "model.safetensors"))
    name = sorted(name for name, array in weights.items() if array.size > 1000)[3]
    weights[name] = weights[name] * 1.01
    mx.eval(weights)
    mx.save_safetensors(str(folder / "model.safetensors"), weights, {"format": "mlx"})
    assert weights_fingerprint(folder) != before


def test_template_type_and_cache_are_part_of_where_a_state_comes_from(tmp_path):
    ours = provenance(TINY, template="a", dtype="float32")
    assert ours == provenance(TINY, template="a", dtype="float32")
    assert ours.key == provenance(TINY, template="a", dtype="float32").key
    others = [
        provenance(TINY, template="b", dtype="float32"),
        provenance(TINY, template="a", dtype="bfloat16"),
        provenance(TINY, template="a", dtype="float32", cache="4 bits"),
    ]
    assert len({ours.key, *(other.key for other in others)}) == 4
    folder = Path(shutil.copytree(TINY, tmp_path / "model"))
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "extra": 1}))
    assert provenance(folder, template="a", dtype="float32").key != ours.key
