"""Recordings: read one, and talk to Mirza with it as if it were a microphone.

`RecordedSound` has the microphone and the loudspeaker of a device, and no device. It is paced by the event loop's
clock: under the ordinary loop a recording takes as long as it is, under one with virtual time it takes milliseconds.
"""

from __future__ import annotations

import asyncio
import errno
import os
import wave
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from math import gcd
from pathlib import Path

import numpy as np
import soundfile  # pyright: ignore[reportMissingTypeStubs]
from numpy.typing import NDArray

from mirza.audio.base import BLOCK, MIC_RATE, Block, Samples
from mirza.audio.player import Player
from mirza.audio.resample import Resampler, resample
from mirza.audio.room import Room
from mirza.errors import AudioError, BadRecording

READ_FRAMES = 65_536
"""Frames read at once, so that an hour at 192 kHz in 8 channels does not need 22 GB."""

MAKE_WAV = "Make it a WAV file, for example with: ffmpeg -i YOUR_FILE -ar 16000 -ac 1 question.wav"


def read_recording(path: Path | str) -> Samples:
    """The sound in a file, mono at `MIC_RATE`: any rate, width and number of channels that libsndfile reads.

    Raises:
        BadRecording: there is no such file, or no sound in it.
    """
    path = Path(path)
    _check(path)
    pieces: list[Samples] = []
    try:
        with soundfile.SoundFile(path) as file:
            stream = Resampler(file.samplerate, MIC_RATE)
            for frames in file.blocks(READ_FRAMES, dtype="float32", always_2d=True):
                pieces.append(stream.push(frames.mean(axis=1, dtype=np.float32)))
            pieces.append(stream.flush())
    except soundfile.LibsndfileError as error:
        raise BadRecording(f"{path} cannot be read as sound ({error.error_string.rstrip('.')}).", MAKE_WAV) from error
    samples = np.concatenate(pieces)
    if not len(samples):
        raise BadRecording(f"{path} has a header, but no samples: nothing was recorded.", "Record it again.")
    if not np.isfinite(samples).all():
        raise BadRecording(f"{path} holds samples that are no numbers (NaN or infinite).", "Export it again.")
    peak = float(np.abs(samples).max())
    return samples if peak <= 1 else (samples / np.float32(peak)).astype(np.float32)


def _check(path: Path) -> None:
    """Says what is wrong with a path before libsndfile says it worse, or waits for a pipe that nobody writes to."""
    try:
        if path.is_dir():
            raise BadRecording(f"{path} is a folder.", "Name one recording in it.")
        if not path.exists():
            raise BadRecording(f"There is no file {path}.", "Check its name, and the folder you are in.")
        if not path.is_file():
            raise BadRecording(f"{path} is not an ordinary file.", "Save the sound in a WAV file and name that.")
        with path.open("rb") as file:
            first = file.read(1)
    except PermissionError as error:
        raise BadRecording(
            f"{path} may not be read by you.", f"Allow it, for example with: chmod u+r {path}"
        ) from error
    except OSError as error:
        raise BadRecording(f"{path} cannot be read ({error.strerror}).", "Copy it to this computer's disk.") from error
    if not first:
        raise BadRecording(f"{path} is empty.", "Record it again.")
    if path.suffix.lower() == ".raw":
        raise BadRecording(f"{path} has no header, so that its rate is not known.", MAKE_WAV)


@dataclass(frozen=True, slots=True)
class Recording:
    """What was said into the microphone and what came out of the loudspeaker, on one clock that begins at `open`.

    Both are `(n,)` at `rate` hertz.
    """

    microphone: Samples
    loudspeaker: Samples
    rate: int

    def write(self, path: Path | str) -> None:
        """Writes a stereo WAV file, 16 bit, microphone left: all of it, or nothing.

        Raises:
            AudioError: the disk is full, or the folder cannot be written to.
        """
        path = Path(path)
        frames = np.stack([_pcm16(self.microphone), _pcm16(self.loudspeaker)], axis=1)
        unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
        try:
            with unfinished.open("wb") as file, wave.open(file) as header:  # unlike libsndfile, it reports a full disk
                header.setnchannels(2)
                header.setsampwidth(2)
                header.setframerate(self.rate)
                header.writeframes(frames.astype("<i2").tobytes())
            unfinished.replace(path)
        except OSError as error:
            unfinished.unlink(missing_ok=True)
            full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
            do = "Make room on the disk." if full else "Choose a folder that you may write to."
            raise AudioError(f"The recording {path} could not be written ({error.strerror}).", do) from error


STEP = 128
"""Microphone samples, 8 ms, between two looks at the player: about what a sound card's period is."""

LEAD_S = 0.010
"""The loudspeaker takes its samples this long before they are in the air, as devices do."""

HISS = 1e-4
"""What a quiet room sounds like, -80 dB: digital silence is something that no microphone delivers."""


class RecordedSound:
    """A recording as the microphone, and a loudspeaker that is written down.

    After the recording the room stays quiet, until `finish_when` has been true for `tail_s` without a break, but not
    for longer than `max_tail_s`. `rate` is the loudspeaker's, in hertz. With a `room`, the microphone hears the
    loudspeaker. `record=False` keeps nothing, for talks of hours.
    """

    def __init__(
        self,
        samples: Samples,
        *,
        rate: int = 48_000,
        tail_s: float = 0.5,
        max_tail_s: float = 120.0,
        finish_when: Callable[[], bool] = lambda: True,
        room: Room | None = None,
        record: bool = True,
    ) -> None:
        self.player = Player(rate, latency_s=round(LEAD_S * rate) / rate)
        self._tail_s, self._max_tail_s, self._finish_when = tail_s, max_tail_s, finish_when
        self._voices: list[tuple[int, Samples]] = [(0, samples)]
        self._end = len(samples)
        self._room, self._record = room, record
        self._hiss = np.random.default_rng(0)
        self._loudspeaker = _Loudspeaker(self.player, keep=record)
        self._heard: list[NDArray[np.int16]] = []
        self._captured = 0
        self._quiet = 0
        self._start: float | None = None
        self._closed = False

    # what a test or a scenario does

    def say(self, samples: Samples, at_s: float | None = None) -> None:
        """Somebody speaks in the room, from now on or from `at_s` on; over what is being said already, if anything is.

        `samples` is `(n,)` at `MIC_RATE`. What of it lies in the past is not heard.
        """
        at = self._captured if at_s is None else round(at_s * MIC_RATE)
        self._voices.append((at, samples))
        self._end = max(self._end, at + len(samples))
        self._quiet = 0

    def finish_when(self, idle: Callable[[], bool]) -> None:
        """Sets when the sound may end: called once a block, from the end of the recording on."""
        self._finish_when = idle

    def recording(self) -> Recording:
        """What was heard and what was played until now."""
        microphone = np.concatenate(self._heard) if self._heard else np.zeros(0, np.int16)
        rate = self.player.rate
        left = resample(_float32(microphone), MIC_RATE, rate)
        right = self._loudspeaker.recorded()[: len(left)]
        return Recording(left[: len(right)], right, rate)

    def write_stereo(self, path: Path | str) -> None:
        """Writes `recording()` as a WAV file, microphone left, loudspeaker right.

        Raises:
            AudioError: the disk is full, or the folder cannot be written to.
        """
        self.recording().write(path)

    # what the pipeline does

    async def open(self) -> None:
        """Starts the clock."""
        self._start = asyncio.get_running_loop().time()

    def now_s(self) -> float:
        """Seconds of the room that were captured."""
        return self._captured / MIC_RATE

    async def close(self) -> None:
        """Ends the microphone, before its next block."""
        self._closed = True

    async def blocks(self) -> AsyncIterator[Block]:
        """The room, 32 ms at a time, each when its time has come."""
        if self._start is None:
            await self.open()
        while not self._closed and not self._finished():
            first = self._captured
            for _ in range(BLOCK // STEP):
                self._loudspeaker.take_until((self._captured + STEP) / MIC_RATE + LEAD_S)
                await self._until_captured(self._captured + STEP)
                if self._closed:
                    return
            yield self._block(first)

    async def _until_captured(self, count: int) -> None:
        """Waits until `count` samples of the room have really happened."""
        assert self._start is not None
        await asyncio.sleep(max(self._start + count / MIC_RATE - asyncio.get_running_loop().time(), 0))
        self._captured = count

    def _finished(self) -> bool:
        past = self._captured - self._end
        if past < 0:
            return False
        self._quiet = self._quiet + BLOCK if self._finish_when() else 0
        return self._quiet > self._tail_s * MIC_RATE or past >= self._max_tail_s * MIC_RATE

    def _block(self, first: int) -> Block:
        played = self._loudspeaker.at_mic_rate(first)
        near = self._voice(first) + HISS * self._hiss.standard_normal(BLOCK, np.float32)
        if self._room is not None:
            near += self._room.echo(played)
        near = np.clip(near, -1, 1).astype(np.float32)
        if self._record:
            self._heard.append(_pcm16(near))
        return Block(near, played, self.now_s())

    def _voice(self, first: int) -> Samples:
        """The people in the room during the block that begins at sample `first`."""
        out = np.zeros(BLOCK, np.float32)
        self._voices = [(at, voice) for at, voice in self._voices if at + len(voice) > first]
        for at, voice in self._voices:
            begin, end = max(at, first), min(at + len(voice), first + BLOCK)
            if begin < end:
                out[begin - first : end - first] += voice[begin - at : end - at]
        return out


class _Loudspeaker:
    """Takes samples from the player as a device would, and knows when each was in the air."""

    def __init__(self, player: Player, *, keep: bool) -> None:
        self._player, self._keep = player, keep
        self._lead = round(player.latency_s * player.rate)
        self._pieces: list[NDArray[np.int16]] = []
        self._recent = np.zeros(self._lead, np.float32)
        self._recent_at = 0
        # Rates meet every `_unit` microphone samples: only there can a piece be cut out and resampled by itself.
        self._unit = MIC_RATE // gcd(MIC_RATE, player.rate)

    def take_until(self, air_s: float) -> None:
        """Takes what will be in the air until `air_s`."""
        count = round(air_s * self._player.rate) - self._lead - self._player.position
        played = self._player.pull(count)
        self._recent = np.concatenate([self._recent, played])
        if self._keep:
            self._pieces.append(_pcm16(played))

    def at_mic_rate(self, first: int) -> Samples:
        """What was in the air during the block that begins at microphone sample `first`, `(BLOCK,)` at `MIC_RATE`."""
        rate = self._player.rate
        margin = MIC_RATE // 100  # the filter of a resampler looks at a few milliseconds before and after
        begin = max(first - margin, 0) // self._unit * self._unit
        begin_here = begin * rate // MIC_RATE
        self._recent, self._recent_at = self._recent[begin_here - self._recent_at :], begin_here
        if not self._recent.any():
            return np.zeros(BLOCK, np.float32)
        return resample(self._recent, rate, MIC_RATE)[first - begin : first - begin + BLOCK]

    def recorded(self) -> Samples:
        """All that was played, `(n,)`, from the moment the clock started."""
        lead = np.zeros(self._lead, np.int16)
        return _float32(np.concatenate([lead, *self._pieces]))


def _pcm16(samples: Samples) -> NDArray[np.int16]:
    return np.round(np.clip(samples, -1, 1) * 32767).astype(np.int16)


def _float32(pcm: NDArray[np.int16]) -> Samples:
    return (pcm / np.float32(32767)).astype(np.float32)
