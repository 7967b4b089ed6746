"""What `mirza bench engine` measures, and that it says where its numbers come from."""

import hashlib
import json
import time
from pathlib import Path

import mlx.core as mx
import pytest

from mirza.bench.contest import SCENES, Asked, compete
from mirza.bench.engine import BUDGETS, Plan, measure
from mirza.bench.measures import as_it_runs
from mirza.bench.peers import Server
from mirza.bench.provenance import memory, provenance
from mirza.bench.sections import Sections
from mirza.errors import MirzaError

TINY = Path(__file__).parent.parent / "fixtures" / "tiny-qwen35"


@pytest.fixture(scope="module")
def report():
    only = ("bytes", "decoding", "drafting", "first-speech", "turns")
    return measure(Plan(str(TINY), runs=1, tokens=8, contexts=(64,), peers=False, only=only))


def test_a_run_says_which_bytes_ran_and_on_what(report):
    model = report["provenance"]["model"]
    assert (model["type"], model["layers"], model["heads"], model["kv_heads"]) == ("qwen3_5", 4, 4, 2)
    assert model["dtype"] in {"float32", "float16"}
    assert {"config.json", "tokenizer.json", "chat_template.jinja", "model.safetensors"} <= model["sha256"].keys()
    tokenizer = hashlib.sha256((TINY / "tokenizer.json").read_bytes()).hexdigest()
    assert model["sha256"]["tokenizer.json"] == tokenizer
    assert report["provenance"]["versions"]["mlx-vlm"] == "0.7.10"
    assert report["provenance"]["machine"]["cores"] >= 1
    assert isinstance(report["provenance"]["machine"]["mlx_environment"], dict)
    assert report["schema"] == 2


def test_decoding_is_measured_plain_and_drafted_against_the_bare_loop(report):
    rates = {rate["how"]: rate for rate in report["decoding"]}
    assert rates.keys() == {"mlx-vlm's bare loop", "mirza, plain", "mirza, MTP"}
    assert rates["mlx-vlm's bare loop"]["against_bare"] == 1
    for rate in rates.values():
        assert 0 < min(rate["runs"]) <= rate["tokens_per_s"] <= max(rate["runs"])
        assert rate["against_bare_least"] <= rate["against_bare"] <= rate["against_bare_most"]
    assert 0 < rates["mirza, MTP"]["accepted_share"] <= 1


def test_bytes_of_everything_that_is_kept_are_counted(report):
    sizes = report["bytes"]
    assert sizes["model"] > 3_000_000 > sizes["drafter"] > 500_000
    assert 0 < sizes["marks"] < sizes["cache_of_1000_tokens"]
    assert sizes["cache_of_1000_tokens"] <= sizes["snapshot_of_1000_tokens"]


def test_a_warm_turn_feeds_its_own_message_and_no_more(report):
    turns = {(row["contestant"], row["scene"]): row for row in report["turns"]}
    for contestant in ("mirza", "mirza, MTP"):
        assert turns[contestant, "cold"]["reused_tokens"] == 0
        for scene in ("warm", "after a thought", "budget raised", "budget lowered", "after a restart"):
            row = turns[contestant, scene]
            fed = row["prompt_tokens"] - row["reused_tokens"]
            assert 0 < fed < 32, f"{scene}: {fed} fed"


def test_the_first_spoken_token_comes_after_the_thought_and_a_warm_question_feeds_itself_alone(report):
    times = {(row["thinking_tokens"], row["cold"]): row for row in report["first_speech"]}
    assert times.keys() == {(budget, cold) for budget in BUDGETS for cold in (True, False)}
    for row in times.values():
        assert 0 < row["first_token_s"] <= row["first_speech_s"]
    thinking = times[BUDGETS[1], False]
    assert thinking["first_speech_s"] > thinking["first_token_s"]
    assert times[0, False]["prefilled_tokens"] < 32 < times[0, True]["prefilled_tokens"]


def test_drafts_that_are_right_and_wrong_in_turn_change_no_token(report):
    assert [row["depth"] for row in report["forced_drafts"]] == [1, 2, 3]
    for row in report["forced_drafts"]:
        assert row["first_difference"] is None
        assert 0 < row["accepted"] < row["drafted"]


def test_each_section_is_on_the_disk_before_the_next_begins(tmp_path):
    file = tmp_path / "run.json"
    seen = []

    def look(what):
        seen.append((what, json.loads(file.read_text()) if file.exists() else {}))

    plan = Plan(str(TINY), runs=1, tokens=8, contexts=(64,), only=("token", "memory"))
    last = measure(plan, look, file)
    assert [what for what, _ in seen] == ["loading", "memory", "token"]
    at_the_end = seen[-1][1]
    assert at_the_end["memory"]["peak"] > 0
    assert "token" not in at_the_end
    assert json.loads(file.read_text()) == json.loads(json.dumps(last))
    assert last["seconds"].keys() == {"weights", "load", "memory", "token"}
    assert list(tmp_path.iterdir()) == [file]


def test_a_section_that_takes_too_long_keeps_what_it_has_and_the_next_one_runs():
    report = {"seconds": {}, "failed": {}}
    sections = Sections(report, ("endless", "short"), 0.2, None, lambda _: None)

    def endless():
        yield [1]
        yield [1, 2]
        while True:
            time.sleep(0.01)

    sections.run("endless", "endless", endless)
    sections.run("short", "short", lambda: iter([3]))
    sections.run("unwanted", "unwanted", lambda: iter([4]))
    assert (report["endless"], report["short"]) == ([1, 2], 3)
    assert "unwanted" not in report
    assert report["failed"] == {"endless": "it did not end within 0.2 s"}


def test_a_section_that_the_library_cannot_do_says_so_and_the_next_one_runs():
    report = {"seconds": {}, "failed": {}}
    sections = Sections(report, ("broken", "short"), 0, None, lambda _: None)

    def broken():
        yield 1
        raise RuntimeError("no memory")

    sections.run("broken", "broken", broken)
    sections.run("short", "short", lambda: iter([3]))
    assert (report["broken"], report["short"], report["failed"]) == (1, 3, {"broken": "no memory"})


def test_a_run_file_that_cannot_be_written_is_an_error_that_names_it(tmp_path):
    sections = Sections({}, (), 0, tmp_path / "nowhere" / "run.json", lambda _: None)
    with pytest.raises(MirzaError, match=r"run\.json cannot be written"):
        sections.save()


class Slow:
    """Answers at its own speed, from nothing."""

    def __init__(self, name, first_s):
        self.name, self.first_s = name, first_s
        self.asked, self.heard, self.restarts, self.closed = [], [], 0, False

    def ask(self, messages, budget, cut_after=None):
        self.asked.append([message.content for message in messages])
        return Asked("Fine.", self.first_s, self.first_s, self.first_s)

    def between_turns(self, heard):
        self.heard.append(heard)

    def restart(self):
        self.restarts += 1

    def close(self):
        self.closed = True


def test_contestants_hold_the_same_conversation_in_turns_and_the_first_does_not_count():
    one = Slow("one", 0.1)
    *_, rows = compete([lambda: one], runs=2, on_progress=lambda _: None, on_failure=_raise)
    assert len(one.asked) == 3 * len(SCENES)
    assert one.restarts == 3
    assert one.closed
    assert one.heard.count("Fine.") == 3  # only what was cut off is said to have been heard
    beginnings = {asked[0] for asked in one.asked}
    assert len(beginnings) == 3  # no cache knows the next conversation's beginning
    assert {row.scene for row in rows} == {scene.name for scene in SCENES}
    assert all(row.first_token_s == 0.1 and row.runs == 2 for row in rows)


def _raise(error):
    raise error


def test_a_server_that_does_not_start_says_why_and_the_next_contestant_goes_on(tmp_path):
    failed = []
    two = Slow("two", 0.2)
    peers = [lambda: Server(tmp_path / "no-model-here", "mlx_lm.no_server"), lambda: two]
    *_, rows = compete(peers, runs=1, on_progress=lambda _: None, on_failure=failed.append)
    assert {row.contestant for row in rows} == {"two"}
    (error,) = failed
    assert error.what.startswith("mlx_lm.no_server did not start: ")
    assert "mlx_lm.no_server" in error.what.partition(": ")[2]


def test_on_a_cpu_all_run_a_float32_copy_of_the_same_weights(tmp_path):
    copy = as_it_runs(TINY, tmp_path / "copy")
    if mx.default_device().type != mx.DeviceType.cpu:
        assert copy == TINY
        return
    full, half = (mx.load(str(folder / "model.safetensors")) for folder in (copy, TINY))
    assert full.keys() == half.keys()
    assert {array.dtype for array in full.values()} == {mx.float32}
    assert all(mx.array_equal(full[name].astype(half[name].dtype), half[name]) for name in half)
    assert as_it_runs(copy, tmp_path / "again") == copy


def test_memory_is_counted_after_what_was_asked_for_is_there():
    before = memory()
    array = mx.zeros((1024, 1024))
    mx.eval(array)
    after = memory()
    assert after.active - before.active >= 4 * 1024 * 1024
    assert after.peak >= after.active
    assert after.resident_peak > 0


def test_a_model_from_the_hubs_cache_is_named_with_its_revision(tmp_path):
    snapshot = tmp_path / "models--someone--tiny" / "snapshots" / "abc123"
    snapshot.parent.mkdir(parents=True)
    snapshot.symlink_to(TINY)
    model = provenance(snapshot, "float16")["model"]
    assert (model["repository"], model["revision"]) == ("someone/tiny", "abc123")
