"""sounddevice and PortAudio for real, on a virtual sound card: what the loudspeaker plays, the microphone hears."""

import asyncio
import os
from dataclasses import replace

import numpy as np
import pytest

from mirza.audio.base import MIC_RATE
from mirza.audio.devices import DeviceSound
from mirza.audio.player import Chunk
from mirza.audio.portaudio import Device, SoundDevicePortAudio
from mirza.audio.resample import resample
from mirza.errors import NoDevice

from .sound_card import SoundCard, missing
from .test_devices import lag_and_likeness
from .test_recorded_sound import voice

pytestmark = [pytest.mark.sound, pytest.mark.alone]

TRIES = 4

PATIENCE_S = 30.0
"""After which a test has failed; nothing else depends on it."""


def without(reason: str) -> None:
    """Skips, but not where the sound is what is being tested."""
    if os.environ.get("MIRZA_REQUIRE_SOUND") == "1":
        pytest.fail(f"MIRZA_REQUIRE_SOUND=1, and {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="module")
def card(tmp_path_factory):
    if missing():
        without(missing())
    card = SoundCard(tmp_path_factory.mktemp("sound-card"), rate=48_000)
    before = {name: os.environ.get(name) for name in card.env}
    os.environ.update(card.env)
    try:
        SoundDevicePortAudio().reread()
    except NoDevice as error:
        card.close()
        without(str(error))
    yield card
    card.close()
    for name, value in before.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value


class AtRate(SoundDevicePortAudio):
    """PortAudio with devices of this rate: PulseAudio would call any rate its own."""

    def __init__(self, rate: int) -> None:
        self.rate = rate

    def devices(self) -> list[Device]:
        return [replace(device, rate=self.rate) for device in super().devices()]


class Talk:
    """A `DeviceSound`, open, and what came of it."""

    def __init__(self, rate: int) -> None:
        self.notices: list[str] = []
        self.sound = DeviceSound(portaudio=AtRate(rate), on_notice=self.notices.append)
        self.blocks: list = []

    async def __aenter__(self) -> "Talk":
        await self.sound.open()
        self.listening = asyncio.create_task(self._listen())
        return self

    async def __aexit__(self, *_) -> None:
        await self.sound.close()
        await asyncio.wait_for(self.listening, PATIENCE_S)

    async def _listen(self) -> None:
        async for block in self.sound.blocks():
            self.blocks.append(block)

    async def until(self, condition) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not condition():  # noqa: ASYNC110 (the player has no event to wait for)
                await asyncio.sleep(0.02)

    async def rest(self, seconds: float) -> None:
        """Lets the room be for so long, by its own clock."""
        count = len(self.blocks) + seconds * 31.25
        await self.until(lambda: len(self.blocks) >= count)


def unchanged(heard: np.ndarray, played: np.ndarray, at: int) -> int:
    """How many tenths of a second of `played` were heard as they are, within 40 ms of where they belong.

    A machine that is busy loses a period here and there, which moves what follows and says nothing about us.
    """
    # three times the rate: a shift by half a sample is no change
    heard, played, at = resample(heard, 1, 3), resample(played, 1, 3), 3 * at
    count, tenth, slack = 0, 3 * MIC_RATE // 10, 3 * MIC_RATE // 25
    for begin in range(0, len(played) - tenth + 1, tenth):
        around = heard[max(at + begin - slack, 0) : at + begin + tenth + slack]
        piece = played[begin : begin + tenth]
        products = np.correlate(around, piece, "valid")
        energies = np.convolve(around**2, np.ones(tenth, np.float32), "valid")
        count += bool((products / np.sqrt(energies * (piece**2).sum() + 1e-12)).max() > 0.97)
    return count


@pytest.mark.parametrize("rate", [16_000, 22_050, 24_000, 44_100, 48_000])
async def test_what_the_loudspeaker_plays_is_what_the_microphone_hears(card: SoundCard, rate: int):
    for _ in range(TRIES):  # a machine that is busy starves any real-time sound; a fault of ours fails each time
        answer = voice(1.0, rate)
        async with Talk(rate) as talk:
            await talk.rest(0.3)
            talk.sound.player.put(Chunk(answer, piece=1))
            await talk.until(lambda talk=talk: talk.sound.player.heard(1) == 1.0 * rate)
            await talk.rest(0.3)

        heard = np.concatenate([block.samples for block in talk.blocks])
        played = np.concatenate([block.played for block in talk.blocks])
        at, _ = lag_and_likeness(heard, resample(answer, rate, MIC_RATE))
        whole = unchanged(heard, resample(answer, rate, MIC_RATE), at)
        beside = unchanged(heard, played[at : at + MIC_RATE], at)
        late_s = abs(talk.sound.player.began(1) - at / MIC_RATE)
        if whole >= 8 and beside >= 5 and late_s < 0.05:
            break
    assert talk.sound.player.rate == rate
    assert whole >= 8
    assert beside >= 5
    assert late_s < 0.05


async def test_a_stop_is_heard_as_silence(card: SoundCard):
    async with Talk(48_000) as talk:
        await talk.rest(0.2)
        talk.sound.player.put(Chunk(voice(5.0, 48_000), piece=1))
        await talk.until(lambda: talk.sound.player.heard(1) > 24_000)
        talk.sound.player.stop()
        await talk.rest(0.5)

    heard_s = talk.sound.player.heard(1) / 48_000
    loud = np.flatnonzero(np.abs(np.concatenate([block.samples for block in talk.blocks])) > 0.01) / MIC_RATE
    assert loud[-1] - loud[0] == pytest.approx(heard_s, abs=0.3)  # of 5 s


async def test_a_sound_server_that_dies_and_comes_back_is_lived_through(card: SoundCard, tmp_path, monkeypatch):
    own = SoundCard(tmp_path, rate=48_000)
    for name, value in own.env.items():
        monkeypatch.setenv(name, value)
    answer = voice(2.0, 48_000)
    SoundDevicePortAudio().reread()
    async with Talk(48_000) as talk:
        await talk.rest(0.2)
        talk.sound.player.put(Chunk(answer, piece=1))
        await talk.until(lambda: talk.sound.player.heard(1) > 24_000)
        own.close()
        await talk.until(lambda: len(talk.notices) == 1)
        own = SoundCard(tmp_path, rate=48_000)
        await talk.until(lambda: len(talk.notices) == 2)
        await talk.until(lambda: talk.sound.player.heard(1) == len(answer))
    own.close()

    assert "Sound is back" in talk.notices[1]


def test_a_device_that_was_plugged_in_is_listed_after_a_reread_and_not_before(card: SoundCard, monkeypatch):
    """Guards sounddevice's private `_terminate` and `_initialize`: 0.5.6 has no public way to read the list again."""
    portaudio = SoundDevicePortAudio()
    portaudio.reread()
    config = card.folder / "alsa.conf"
    config.write_text(config.read_text() + "pcm.headset { type null hint { show on description 'headset' } }\n")

    before = [device.name for device in portaudio.devices()]
    portaudio.reread()
    after = [device.name for device in portaudio.devices()]

    assert "headset" not in before
    assert "headset" in after
