"""Devices in real life: they have rates of their own, they vanish, they come back, and the talk goes on."""

import asyncio
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from mirza.audio import devices, duplex, session
from mirza.audio.base import BLOCK, MIC_RATE
from mirza.audio.devices import DeviceSound
from mirza.audio.player import Chunk
from mirza.audio.portaudio import SoundDevicePortAudio, choose
from mirza.errors import DeviceLost, NoDevice

from .fake_portaudio import FakePortAudio, mic, speaker

GIVE_UP = 20.0
"""Seconds after which a test has failed; nothing else depends on it."""


class Talk:
    """A `DeviceSound` on a fake PortAudio, and what came of it."""

    def __init__(self, portaudio: FakePortAudio | None = None, **options) -> None:
        self.portaudio = portaudio or FakePortAudio()
        self.default = "built-in"
        self.notices: list[str] = []
        options = {"on_notice": self.notices.append, "defaults": lambda: self.default, **options}
        self.sound = DeviceSound(portaudio=self.portaudio, **options)
        self.blocks: list = []

    async def __aenter__(self) -> "Talk":
        opening = asyncio.create_task(self.sound.open())
        while not opening.done():
            self.portaudio.step()
            await asyncio.sleep(0.001)
        await opening
        self.listening = asyncio.create_task(self._listen())
        return self

    async def __aexit__(self, *_) -> None:
        await self.sound.close()
        await asyncio.wait_for(asyncio.wait([self.listening]), GIVE_UP)

    async def _listen(self) -> None:
        async for block in self.sound.blocks():
            self.blocks.append(block)

    async def run(self, seconds: float) -> None:
        """Lets so much of the fake's time pass, and waits until the blocks of it are here."""
        for _ in range(round(seconds * 100)):
            self.portaudio.step()
            await asyncio.sleep(0)
        await asyncio.sleep(0.05)

    async def until(self, condition) -> None:
        """Lets time pass until something has happened."""

        async def wait():
            while not condition():
                self.portaudio.step()
                await asyncio.sleep(0.002)

        await asyncio.wait_for(wait(), GIVE_UP)

    @property
    def heard(self) -> np.ndarray:
        return np.concatenate([block.samples for block in self.blocks])

    @property
    def played(self) -> np.ndarray:
        return np.concatenate([block.played for block in self.blocks])


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """Pauses as short as a test's patience; their growth is a test of its own."""
    monkeypatch.setattr(duplex, "PAUSES_S", (0.032,))
    monkeypatch.setattr(session, "FIRST_S", 2.0)


def hum(seconds: float, rate: int, seed: int = 1) -> np.ndarray:
    """Noise below 1 kHz, which survives the fake room's straight lines between samples."""
    count = round(seconds * rate)
    spectrum = np.fft.rfft(np.random.default_rng(seed).standard_normal(count))
    hertz = np.fft.rfftfreq(count, 1 / rate)
    spectrum[(hertz < 100) | (hertz > 1000)] = 0
    sound = np.fft.irfft(spectrum, count)
    return (0.5 * sound / np.abs(sound).max()).astype(np.float32)


def lag_and_likeness(heard: np.ndarray, played: np.ndarray) -> tuple[int, float]:
    """How many samples later `heard` is than `played`, and how alike they are then, 0 .. 1."""
    size = len(heard) + len(played)
    spectrum = np.fft.rfft(heard, size) * np.conj(np.fft.rfft(played, size))
    correlation = np.fft.irfft(spectrum, size)
    at = int(correlation.argmax())
    likeness = float(correlation[at] / np.sqrt((heard**2).sum() * (played**2).sum()))
    return (at if at < size // 2 else at - size), likeness


@pytest.mark.parametrize(
    ("in_rate", "out_rate"), [(48_000, 48_000), (44_100, 48_000), (24_000, 24_000), (16_000, 44_100)]
)
async def test_what_a_block_says_was_played_is_what_its_microphone_heard(in_rate: int, out_rate: int):
    async with Talk(FakePortAudio([mic(rate=in_rate), speaker(rate=out_rate)])) as talk:
        await talk.run(0.5)
        talk.sound.player.put(Chunk(hum(1.0, out_rate), piece=1))
        await talk.run(2.0)

    lag, likeness = lag_and_likeness(talk.heard, talk.played)
    assert talk.sound.player.rate == out_rate
    assert abs(lag) <= 8
    assert likeness > 0.99


async def test_the_clock_of_the_loudspeaker_is_the_clock_of_the_microphone():
    async with Talk() as talk:
        await talk.run(0.5)
        talk.sound.player.put(Chunk(hum(1.0, 48_000), piece=1))
        await talk.run(2.0)

    began_s = talk.sound.player.began(1)
    in_the_air = np.flatnonzero(np.abs(talk.heard) > 0.02)[0] / MIC_RATE
    assert began_s == pytest.approx(in_the_air, abs=0.005)
    assert talk.sound.player.heard(1) == 48_000
    assert talk.blocks[-1].end_s == len(talk.blocks) * BLOCK / MIC_RATE


async def test_two_crystals_that_drift_apart_do_not_part_the_clocks():
    async with Talk() as talk:
        talk.portaudio.running()[0].clock = 1.0002  # four times as bad as a good one
        await talk.run(12.0)
        talk.sound.player.put(Chunk(hum(1.0, 48_000), piece=1))
        await talk.run(2.0)

    began_s = talk.sound.player.began(1)
    in_the_air = np.flatnonzero(np.abs(talk.heard) > 0.02)[0] / MIC_RATE
    assert began_s == pytest.approx(in_the_air, abs=session.DRIFT_S + 0.005)
    assert abs(lag_and_likeness(talk.heard, talk.played)[0]) <= 24  # 38 without following


async def test_an_unplugged_headset_comes_back_and_the_sentence_goes_on_where_it_was():
    async with Talk() as talk:
        player, answer = talk.sound.player, hum(2.0, 48_000)
        player.put(Chunk(answer, piece=1))
        await talk.run(1.0)
        before = player.heard(1)

        there = talk.portaudio.there
        talk.portaudio.unplug("Built-in Output")
        await talk.until(lambda: len(talk.blocks) and not talk.blocks[-1].samples.any())
        assert player.heard(1) - before <= 0.05 * 48_000
        talk.portaudio.plugged = there
        await talk.until(lambda: any("back" in notice for notice in talk.notices))
        await talk.run(2.0)

    assert "'Built-in Output' is gone" in talk.notices[0]
    assert "Sound is back" in talk.notices[-1]
    assert player.heard(1) == len(answer)
    assert player.idle()
    assert talk.blocks[-1].end_s == len(talk.blocks) * BLOCK / MIC_RATE


async def test_while_the_device_is_gone_the_room_is_silent_and_its_clock_goes_on():
    async with Talk() as talk:
        await talk.run(0.5)
        talk.portaudio.unplug("Built-in Microphone")
        await talk.until(lambda: not any(block.samples.any() for block in talk.blocks[-5:]))

    ends = [block.end_s for block in talk.blocks]
    assert ends == [(k + 1) * BLOCK / MIC_RATE for k in range(len(ends))]


async def test_when_the_system_chooses_other_devices_so_does_mirza():
    async with Talk() as talk:
        await talk.run(0.5)
        headset = [mic(2, "AirPods", 24_000), speaker(3, "AirPods", 24_000)]
        talk.portaudio.plugged = [mic(default=False), speaker(default=False), *headset]
        talk.default = "airpods"
        await talk.until(lambda: any("back" in notice for notice in talk.notices))
        await talk.run(0.2)
        running = [stream.device for stream in talk.portaudio.running()]

    assert running == headset
    assert "default" in talk.notices[0]
    assert "AirPods" in talk.notices[-1]


async def test_a_headset_at_16_khz_takes_over_in_mid_sentence_and_not_a_word_is_lost():
    async with Talk() as talk:
        player, answer = talk.sound.player, hum(2.0, 48_000)
        player.put(Chunk(answer, piece=1))
        await talk.run(1.0)
        talk.portaudio.unplug("Built-in Microphone", "Built-in Output")
        talk.portaudio.plugged = [mic(2, "Headset", 16_000), speaker(3, "Headset", 16_000)]
        await talk.until(lambda: any("back" in notice for notice in talk.notices))
        resumed = len(talk.blocks)
        await talk.run(2.0)

    assert player.heard(1) == len(answer)
    heard = np.concatenate([block.samples for block in talk.blocks[resumed:]])
    played = np.concatenate([block.played for block in talk.blocks[resumed:]])
    rest = answer[48_000::3]
    lag, likeness = lag_and_likeness(heard, played)
    assert abs(lag) <= 8
    assert likeness > 0.98
    assert lag_and_likeness(heard, rest)[1] > 0.9


async def test_a_device_that_was_asked_for_by_name_is_waited_for_and_not_replaced():
    shelf = [mic(), speaker(), mic(2, "Studio", default=False)]
    async with Talk(FakePortAudio(shelf), microphone="studio") as talk:
        await talk.run(0.3)
        talk.portaudio.unplug("Studio")
        await talk.until(lambda: talk.portaudio.rereads > 5)
        assert [stream for stream in talk.portaudio.running() if stream.device.inputs] == []
        talk.portaudio.plugged = shelf
        await talk.until(lambda: any("back" in notice for notice in talk.notices))

    assert "Studio" in talk.notices[-1]


async def test_who_asks_to_give_up_gets_device_lost_with_what_to_do():
    async with Talk(give_up_s=0.3) as talk:
        await talk.run(0.3)
        talk.portaudio.unplug("Built-in Microphone")
        await asyncio.wait_for(asyncio.wait([talk.listening]), GIVE_UP)

        with pytest.raises(DeviceLost, match=r"did not come back: There is no microphone.*Plug one in"):
            talk.listening.result()


@pytest.mark.parametrize("hanging", [0, 1])
async def test_a_stream_that_hangs_while_the_other_goes_on_is_noticed(hanging: int):
    async with Talk() as talk:
        await talk.run(0.5)
        talk.portaudio.running()[hanging].hangs = True
        await talk.until(lambda: any("back" in notice for notice in talk.notices))

    assert "hangs" in talk.notices[0]


async def test_after_sleep_when_neither_stream_calls_back_both_are_opened_again(monkeypatch):
    monkeypatch.setattr(session, "STALL_S", 0.1)
    async with Talk() as talk:
        await talk.run(0.5)
        for stream in talk.portaudio.running():
            stream.hangs = True
        await talk.until(lambda: any("back" in notice for notice in talk.notices))

    assert "sign of life" in talk.notices[0]


async def test_samples_that_the_system_lost_are_counted():
    async with Talk() as talk:
        await talk.run(0.3)
        talk.portaudio.lose = 3
        await talk.run(0.3)

    assert talk.sound.lost_inputs == 3
    assert talk.sound.lost_outputs == 3


async def test_a_microphone_that_is_muted_is_mentioned_once():
    async with Talk(FakePortAudio(noise=0.0)) as talk:
        await talk.run(7.0)

    assert len(talk.notices) == 1
    assert "Privacy" in talk.notices[0]


async def test_a_pipeline_that_is_busy_for_too_long_loses_the_oldest_blocks_and_counts_them(monkeypatch):
    monkeypatch.setattr(devices, "WAITING_BLOCKS", 50)
    async with Talk() as talk:
        talk.listening.cancel()
        await talk.until(lambda: talk.sound.dropped == 20)

    left = [block async for block in talk.sound.blocks()]
    assert len(left) == 50
    assert left[-1].end_s > 60 * BLOCK / MIC_RATE


async def test_a_microphone_without_a_sound_is_refused_at_the_start(monkeypatch):
    monkeypatch.setattr(session, "FIRST_S", 0.2)
    portaudio = FakePortAudio()
    with pytest.raises(NoDevice, match=r"No sound comes from the microphone 'Built-in Microphone'.*mirza doctor"):
        await DeviceSound(portaudio=portaudio).open()
    assert portaudio.running() == []


async def test_closing_twice_and_without_opening_is_fine():
    sound = DeviceSound(portaudio=FakePortAudio())
    await sound.close()
    await sound.close()


# --- which device ----------------------------------------------------------------------------------------------------

SHELF = [mic(0, "MacBook Pro Microphone"), mic(1, "AirPods Pro", default=False), mic(2, "AirPods Max", default=False)]


@pytest.mark.parametrize(
    ("wanted", "number"), [("", 0), ("2", 2), ("airpods pro", 1), ("max", 2), ("macbook", 0), (" 1 ", 1)]
)
def test_a_device_is_chosen_by_default_number_name_or_part_of_a_name(wanted: str, number: int):
    assert choose(SHELF, wanted, output=False).number == number


@pytest.mark.parametrize("wanted", ["7", "jabra", "airpods"])
def test_a_name_that_does_not_fit_one_device_lists_what_there_is(wanted: str):
    with pytest.raises(NoDevice, match=r"(?s)AirPods Pro.*AirPods Max.*Set audio\.input to"):
        choose(SHELF, wanted, output=False)


def test_no_loudspeaker_at_all_says_what_else_can_be_done():
    with pytest.raises(NoDevice, match=r"There is no loudspeaker\..*--input"):
        choose(SHELF, "", output=True)


def test_without_a_system_default_the_first_one_is_taken():
    assert choose([mic(3, default=False), mic(4, default=False)], "", output=False).number == 3


# --- sounddevice -----------------------------------------------------------------------------------------------------


class Refused(Exception):
    pass


def sounddevice_that(refuses) -> SimpleNamespace:
    """A sounddevice whose streams start unless `refuses(settings)`."""
    tried = []

    class Stream:
        def __init__(self, **settings) -> None:
            tried.append(settings)
            if refuses(settings):
                raise Refused("Invalid sample rate [PaErrorCode -9997]")

        def start(self) -> None:
            pass

        def close(self, ignore_errors: bool) -> None:
            pass

    return SimpleNamespace(InputStream=Stream, OutputStream=Stream, PortAudioError=Refused, tried=tried)


def test_a_headset_at_24_khz_is_opened_at_24_khz_and_never_forced_to_16(monkeypatch):
    fake = sounddevice_that(lambda settings: settings["samplerate"] != 24_000)
    monkeypatch.setitem(sys.modules, "sounddevice", fake)

    stream = SoundDevicePortAudio().open_input(mic(rate=24_000), lambda *_: None, lambda: None)

    assert stream.rate == 24_000
    assert [settings["samplerate"] for settings in fake.tried] == [24_000]


def test_a_device_that_refuses_its_own_rate_is_opened_at_another(monkeypatch):
    fake = sounddevice_that(lambda settings: settings["samplerate"] not in (16_000, 44_100))
    monkeypatch.setitem(sys.modules, "sounddevice", fake)

    assert SoundDevicePortAudio().open_output(speaker(rate=48_000), lambda *_: None, lambda: None).rate == 44_100


def test_a_device_that_refuses_everything_is_named_with_the_reason(monkeypatch):
    monkeypatch.setitem(sys.modules, "sounddevice", sounddevice_that(lambda settings: True))

    with pytest.raises(NoDevice, match=r"'Built-in Microphone' does not start \(Invalid sample rate.*Close other"):
        SoundDevicePortAudio().open_input(mic(), lambda *_: None, lambda: None)


def test_a_loudspeaker_gets_both_sides_and_a_microphone_gives_one(monkeypatch):
    fake = sounddevice_that(lambda settings: False)
    monkeypatch.setitem(sys.modules, "sounddevice", fake)

    SoundDevicePortAudio().open_output(speaker(), lambda *_: None, lambda: None)
    SoundDevicePortAudio().open_input(mic(), lambda *_: None, lambda: None)

    assert [settings["channels"] for settings in fake.tried] == [2, 1]


WITHOUT = """
import sys, importlib.abc
class Blocked(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == "sounddevice":
            raise {error}
sys.meta_path.insert(0, Blocked())
import mirza.cli, mirza.audio.files, mirza.audio.devices
from mirza.errors import NoDevice
try:
    mirza.audio.devices.DeviceSound()
except NoDevice as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("error", "says"),
    [
        ("OSError('PortAudio library not found')", "PortAudio is not installed"),
        ("ModuleNotFoundError(name)", "pip install sounddevice"),
    ],
)
def test_without_portaudio_everything_imports_and_the_microphone_says_how_to_install_it(error: str, says: str):
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT.format(error=error)], capture_output=True, text=True, check=True, timeout=60
    )
    assert says in run.stdout
    assert "nstall" in run.stdout
