"""The status bar: the most worth knowing first, and never wider than the screen."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len

from mirza.console.show import duration, statistics
from mirza.console.status import BAR_CELLS, Status, latency_bar, status_line
from mirza.events import LlmStats, State, TurnMeasured
from mirza.metrics import Stage, stages

TURN = TurnMeasured(
    turn=1,
    heard="hello",
    said="hi",
    end_of_turn_s=0.3,
    stt_s=0.1,
    first_token_s=0.4,
    first_audio_s=0.2,
    voice_to_voice_s=1.0,
    llm=LlmStats(prompt_tokens=800, reused_tokens=720, speech_tokens=21, decode_s=0.5),
)


def status(**changes: object) -> Status:
    values: dict[str, object] = {"state": State.LISTENING, "model": "qwen", "thinking": "off", "context_tokens": 8192}
    return Status(**{**values, **changes})  # type: ignore[arg-type]


def test_a_spoken_turn_in_one_line():
    line = status_line(status(last=TURN), 120).plain
    assert line == " ● ready  think off  1.00 s ░░░░▒▓▓▓▓▓██  qwen  40.0 tok/s  context 10%  cached 90%"


def test_stages_are_told_apart_without_colours_and_share_the_bar():
    bar = latency_bar(stages(TURN))
    assert bar.plain == "░░░░▒▓▓▓▓▓██"
    assert abs(len(bar.plain) - BAR_CELLS) <= 1
    assert len({span.style for span in bar.spans}) == 4


def test_a_stage_that_took_no_time_is_still_there():
    assert len(latency_bar([Stage("recognition", 0.0), Stage("first token", 2.0)]).plain) == BAR_CELLS + 1
    assert latency_bar([Stage("first token", 0.0)]).plain == "▓"


@pytest.mark.parametrize("width", range(0, 100, 7))
def test_it_fits_every_width(width: int):
    full = status(last=TURN, muted=True, model="天气" * 10)
    assert cell_len(status_line(full, width).plain) <= width


def test_the_state_comes_first_and_a_muted_microphone_next():
    assert status_line(status(muted=True, last=TURN), 18).plain == " ● ready  muted"
    assert status_line(status(state=State.THINKING, answering=True), 30).plain.startswith(" ● answering")


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0, "0 ms"), (0.0854, "85 ms"), (0.9999, "1.00 s"), (1.236, "1.24 s"), (12.34, "12.3 s")]
)
def test_durations(seconds: float, text: str):
    assert duration(seconds) == text


def test_statistics_name_every_stage_and_their_sum():
    text = statistics([TURN])
    assert "end of turn 300 ms + recognition 100 ms + first token 400 ms + first sound 200 ms = 1.00 s" in text
    assert "90% of them from the cache" in text
    assert "model     qwen3.5-4b" in statistics([replace(TURN, model="qwen3.5-4b")])
    assert statistics([]) == "Nothing was measured yet."
