"""`mirza talk`, live: a voice comes out of one virtual sound card's microphone, Mirza's goes into its loudspeaker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import Queue

import pytest

from mirza.folders import cache_folder
from mirza.settings import PathSettings
from mirza.storage import open_store

from .audio.sound_card import SoundCard, missing

pytestmark = [pytest.mark.alone, pytest.mark.sound, pytest.mark.models]

CAPITAL = Path(__file__).parent.parent / "assets" / "recordings" / "en-capital.wav"
PATIENCE_S = 120.0
"""After which a test has failed; nothing else depends on it."""


@pytest.fixture
def card(tmp_path: Path) -> Iterator[SoundCard]:
    if missing():
        if os.environ.get("MIRZA_REQUIRE_SOUND") == "1":
            pytest.fail(f"MIRZA_REQUIRE_SOUND=1, and {missing()}")
        pytest.skip(missing())
    card = SoundCard(tmp_path, rate=48_000, headphones=True)
    yield card
    card.close()


class LiveTalk:
    """A running `mirza talk`, and what it has written so far."""

    def __init__(self, card: SoundCard, data: Path) -> None:
        self._card = card
        folders = (f"paths.data={data}", f"paths.cache={cache_folder(PathSettings()).absolute()}")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "mirza", "talk", *(part for folder in folders for part in ("--set", folder))],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ | card.env | {"PYTHONUNBUFFERED": "1"},
        )
        self._lines: Queue[str | None] = Queue()
        self.written: list[str] = []
        threading.Thread(target=self._read, daemon=True).start()

    def until(self, part: str) -> str:
        """The next line with `part` in it."""
        while (line := self._lines.get(timeout=PATIENCE_S)) is not None:
            self.written.append(line)
            if part in line:
                return line
        pytest.fail(f"it ended, and never said {part!r}: {''.join(self.written)}")

    def say(self, recording: Path) -> None:
        subprocess.run(
            ["paplay", "--device=mouth", str(recording)], env=os.environ | self._card.env, check=True, timeout=60
        )

    def ctrl_c(self) -> int:
        self._process.send_signal(signal.SIGINT)
        return self._process.wait(PATIENCE_S)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(None)


def test_a_question_to_the_microphone_is_answered_and_the_talk_is_kept(card: SoundCard, tmp_path: Path):
    talk = LiveTalk(card, tmp_path / "data")
    try:
        talk.until("Listening")
        talk.say(CAPITAL)
        assert "What is the capital of France?" in talk.until("You ")
        said = talk.until("Mirza ").removeprefix("Mirza").strip()
        talk.until("tokens/s")
        assert talk.ctrl_c() == 0
    finally:
        talk.kill()
    talk.until("mirza chat --resume 1")
    assert "Traceback" not in "".join(talk.written)
    with open_store(tmp_path / "data" / "conversations.sqlite")[0] as store:
        question, answer = store.messages(1)
    assert question.content == "What is the capital of France?"
    assert answer.content.startswith(said)
