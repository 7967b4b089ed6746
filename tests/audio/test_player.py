"""The queue for the loudspeaker: nothing lost, nothing said twice, and what was heard counted to the sample."""

import gc
import threading
import weakref

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mirza.audio.player import RAMP_S, Chunk, Player

RATE = 16_000
RAMP = round(RAMP_S * RATE)

lengths = st.lists(st.integers(1, 5_000), min_size=1, max_size=8)
pulls = st.lists(st.integers(0, 3_000), min_size=1, max_size=40)


def counting(length: int, start: int = 0) -> np.ndarray:
    """Samples that say where they come from."""
    return np.arange(start + 1, start + length + 1, dtype=np.float32)


def queued(player: Player, sizes: list[int]) -> np.ndarray:
    """Puts one chunk of each size, each its own piece; returns all their samples."""
    start = 0
    for piece, size in enumerate(sizes):
        player.put(Chunk(counting(size, start), piece))
        start += size
    return counting(start)


@given(lengths, pulls)
@settings(max_examples=200, deadline=None)
def test_whatever_the_device_asks_for_it_gets_every_sample_once_and_then_silence(sizes: list[int], asked: list[int]):
    player = Player(RATE)
    everything = queued(player, sizes)

    played = np.concatenate([player.pull(n) for n in [*asked, len(everything)]])

    assert np.array_equal(played[: len(everything)], everything[: len(played)])
    assert not played[len(everything) :].any()
    assert player.position == len(played)


@given(lengths, pulls, st.floats(0, 0.3))
@settings(max_examples=200, deadline=None)
def test_at_any_time_heard_counts_exactly_the_samples_that_left_the_loudspeaker(
    sizes: list[int], asked: list[int], latency_s: float
):
    player = Player(RATE, latency_s)
    queued(player, sizes)

    for n in asked:
        player.pull(n)
        out = max(player.position - round(latency_s * RATE), 0)
        for piece, size in enumerate(sizes):
            before = sum(sizes[:piece])
            assert player.heard(piece) == min(max(out - before, 0), size)


@given(lengths, pulls, st.integers(1, 3_000))
@settings(max_examples=200, deadline=None)
def test_a_stop_is_silent_within_one_pull_and_what_was_heard_stays_true(
    sizes: list[int], asked: list[int], next_n: int
):
    player = Player(RATE)
    everything = queued(player, sizes)
    before = np.concatenate([player.pull(n) for n in asked])

    player.stop()
    fading, after = player.pull(next_n), player.pull(5_000)

    assert not fading[RAMP:].any()
    assert not after.any()
    assert player.idle()
    assert player.queued_s() == 0
    spoken = min(len(before), len(everything))
    heard = sum(player.heard(piece) for piece in range(len(sizes)))
    assert spoken <= heard <= spoken + RAMP


def test_what_is_said_after_a_stop_follows_the_fade_at_once():
    player = Player(RATE)
    player.put(Chunk(np.ones(1_000, np.float32), piece=1))
    player.pull(100)
    player.stop()
    player.put(Chunk(np.full(500, 0.5, np.float32), piece=2))

    played = player.pull(1_000)

    assert np.array_equal(played[RAMP : RAMP + 500], np.full(500, 0.5, np.float32))
    assert player.heard(1) == 100 + RAMP
    assert player.heard(2) == 500


def test_a_stop_does_not_click():
    player = Player(RATE)
    player.put(Chunk(np.ones(1_000, np.float32), piece=1))
    player.pull(100)
    player.stop()

    assert np.abs(np.diff(np.concatenate([[1.0], player.pull(200)]))).max() < 2 / RAMP


def test_a_new_answer_taken_while_the_stop_was_on_its_way_is_not_faded_out():
    """The device is in the middle of a pull when the old answer is stopped and a new one queued."""
    player = Player(RATE)

    class Stopping(np.ndarray):
        def __getitem__(self, index):
            player.stop()
            player.put(Chunk(np.full(1_000, 0.5, np.float32), piece=2))
            return np.asarray(self)[index]

    player.put(Chunk(np.ones(10, np.float32).view(Stopping), piece=1))
    played = np.concatenate([player.pull(100), player.pull(910)])

    assert np.array_equal(played[10:1010], np.full(1_000, 0.5, np.float32))


@given(lengths, st.integers(0, 4_000), st.integers(1, 500))
@settings(max_examples=100, deadline=None)
def test_holding_is_silent_and_going_on_loses_nothing(sizes: list[int], at: int, pause: int):
    player = Player(RATE)
    everything = queued(player, sizes)
    first = player.pull(at)

    player.hold(True)
    fading, silent = player.pull(RAMP + 10), player.pull(pause)
    player.hold(False)
    rest = player.pull(len(everything))

    assert not fading[RAMP:].any()
    assert not silent.any()
    assert np.array_equal(np.concatenate([first, rest])[: len(everything)], everything[: at + len(rest)])
    assert sum(player.heard(piece) for piece in range(len(sizes))) == min(at + len(rest), len(everything))


def test_ducking_lowers_the_volume_within_one_pull_and_raises_it_again():
    player = Player(RATE)
    player.put(Chunk(np.ones(4_000, np.float32), piece=1))
    player.pull(500)

    player.duck(0.25)
    low = player.pull(500)
    player.duck(1.0)
    high = player.pull(500)

    assert np.allclose(low[RAMP:], 0.25)
    assert np.allclose(high[RAMP:], 1.0)
    assert np.abs(np.diff(np.concatenate([low, high]))).max() < 2 / RAMP


def test_the_volume_outlives_a_stop_and_ducking_does_not():
    player = Player(RATE)
    player.volume = 0.5
    player.duck(0.1)
    player.pull(10)
    player.stop()
    player.put(Chunk(np.ones(500, np.float32), piece=1))

    assert np.allclose(player.pull(500)[RAMP:], 0.5)


def test_running_dry_in_mid_sentence_is_counted_once_and_the_end_of_an_answer_is_not():
    player = Player(RATE)
    player.put(Chunk(np.ones(100, np.float32), piece=1))
    player.pull(200)
    assert player.underruns == 0

    player.expect_more = True
    player.put(Chunk(np.ones(100, np.float32), piece=1))
    player.pull(200)
    player.pull(200)
    assert player.underruns == 1


def test_an_interrupted_answer_that_had_more_to_say_is_no_underrun():
    player = Player(RATE)
    player.expect_more = True
    player.put(Chunk(np.ones(1_000, np.float32), piece=1))
    player.pull(100)
    player.stop()
    player.pull(1_000)

    assert player.underruns == 0


def test_a_word_shorter_than_one_pull_is_played():
    player = Player(RATE)
    player.put(Chunk(np.ones(5, np.float32), piece=1))

    assert player.pull(512).sum() == 5
    assert player.idle()


def test_began_says_when_the_first_sample_is_audible():
    player = Player(RATE, latency_s=0.02)
    player.pull(RATE)
    assert player.began(1) is None

    player.put(Chunk(np.ones(100, np.float32), piece=1))
    player.pull(160)

    assert player.began(1) == 1.02


def test_after_an_outage_the_clock_has_moved_and_speech_goes_on_from_where_it_was():
    player = Player(RATE)
    player.put(Chunk(counting(1_000), piece=1))
    first = player.pull(300)

    player.move_clock(50_000)
    assert player.heard(1) == 300
    rest = player.pull(800)

    assert np.array_equal(np.concatenate([first, rest])[:1_000], counting(1_000))
    assert player.heard(1) == 1_000
    assert player.position == 50_800


def test_a_thousand_answers_leave_no_samples_behind():
    player = Player(RATE)
    kept = []
    for piece in range(1_000):
        samples = np.zeros(1_000, np.float32)
        kept.append(weakref.ref(samples))
        player.put(Chunk(samples, piece))
        player.pull(1_000)
    del samples
    gc.collect()

    assert player.heard(999) == 1_000
    assert [ref for ref in kept if ref() is not None] == []


def test_a_pipeline_and_a_device_in_two_threads_never_lose_the_last_word():
    player, stop = Player(RATE), threading.Event()
    played: list[np.ndarray] = []

    def device():
        while not stop.is_set() or not player.idle():
            played.append(player.pull(64))

    thread = threading.Thread(target=device)
    thread.start()
    for turn in range(1, 400):
        player.put(Chunk(np.full(40, turn, np.float32), turn))
        player.put(Chunk(np.full(40, turn, np.float32), turn))
        player.stop()
    player.put(Chunk(np.full(1_000, 999, np.float32), 999))
    stop.set()
    thread.join(10)

    assert not thread.is_alive()
    assert int((np.concatenate(played) == 999).sum()) == 1_000
    assert player.heard(999) == 1_000
