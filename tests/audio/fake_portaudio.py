"""A PortAudio whose time the test moves on, in a room where the microphone hears the loudspeaker and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from mirza.audio.portaudio import Device, Moment
from mirza.errors import NoDevice

IN_LATENCY_S, OUT_LATENCY_S = 0.013, 0.021


def mic(number: int = 0, name: str = "Built-in Microphone", rate: int = 48_000, default: bool = True) -> Device:
    return Device(number, name, "Fake", 1, 0, rate, default_input=default)


def speaker(number: int = 1, name: str = "Built-in Output", rate: int = 48_000, default: bool = True) -> Device:
    return Device(number, name, "Fake", 0, 2, rate, default_output=default)


@dataclass(eq=False)
class FakeStream:
    device: Device
    callback: Callable[[np.ndarray, Moment], None]
    ended: Callable[[], None]
    done: int = 0
    """Samples since the start."""
    closed: bool = False
    hangs: bool = False
    started_s: float = 0.0
    clock: float = 1.0
    """How fast its crystal is."""

    @property
    def rate(self) -> int:
        return self.device.rate

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self.ended()


@dataclass(eq=False)
class FakePortAudio:
    """`now_s` is its clock: `step` moves it by 10 ms, and lets the streams call back."""

    there: list[Device] = field(default_factory=lambda: [mic(), speaker()])
    plugged: list[Device] | None = None
    """What a reread will find, if that differs."""
    now_s: float = 100.0
    opened: list[FakeStream] = field(default_factory=list)
    rereads: int = 0
    lose: int = 0
    """How many callbacks will report lost samples."""
    noise: float = 1e-3
    _air: list[tuple[float, np.ndarray, float]] = field(default_factory=list)
    _rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(5))

    def devices(self) -> list[Device]:
        return list(self.there)

    def reread(self) -> None:
        assert all(stream.closed for stream in self.opened), "PortAudio kills streams that are open"
        self.rereads += 1
        if self.plugged is not None:
            self.there = self.plugged

    def open_input(self, device, capture, ended):
        return self._open(device, capture, ended)

    def open_output(self, device, render, ended):
        return self._open(device, render, ended)

    def _open(self, device, callback, ended):
        if device not in self.there:
            raise NoDevice(f"{device.name} does not start.", "Plug it in.")
        stream = FakeStream(device, callback, ended, started_s=self.now_s)
        self.opened.append(stream)
        return stream

    def running(self) -> list[FakeStream]:
        return [stream for stream in self.opened if not stream.closed]

    def unplug(self, *names: str) -> None:
        """The devices vanish: their streams end, and a reread does not find them."""
        self.plugged = [device for device in self.there if device.name not in names]
        self.there = list(self.plugged)
        for stream in self.running():
            if stream.device.name in names:
                stream.close()

    def step(self) -> None:
        self.now_s += 0.01
        lost, self.lose = self.lose > 0, max(self.lose - 1, 0)
        for stream in sorted(self.running(), key=lambda stream: stream.device.inputs):
            while not stream.hangs and not stream.closed and self._due(stream):
                count = round(0.01 * stream.rate)
                if stream.device.inputs:
                    air_s = stream.started_s + stream.done / stream.rate / stream.clock - IN_LATENCY_S
                    frames = self._hear(air_s, count, stream.rate)[:, None]
                    self._call(stream, frames, Moment(self.now_s, air_s, lost))
                else:
                    air_s = stream.started_s + stream.done / stream.rate / stream.clock + OUT_LATENCY_S
                    frames = np.full((count, 2), np.nan, np.float32)
                    self._call(stream, frames, Moment(self.now_s, air_s, lost))
                    assert np.array_equal(frames[:, 0], frames[:, 1])
                    self._air.append((air_s, frames[:, 0].copy(), stream.rate))
                stream.done += count

    def _due(self, stream: FakeStream) -> bool:
        return stream.started_s + (stream.done / stream.rate + 0.01) / stream.clock <= self.now_s + 1e-9

    def _call(self, stream: FakeStream, frames: np.ndarray, moment: Moment) -> None:
        stream.callback(frames, moment)

    def _hear(self, air_s: float, count: int, rate: int) -> np.ndarray:
        times = air_s + np.arange(count) / rate
        out = self._rng.standard_normal(count) * self.noise
        self._air = self._air[-200:]
        pieces = [(at, samples, r) for at, samples, r in self._air if at < times[-1] + 0.001 and at + 0.012 > times[0]]
        if pieces:
            known = np.concatenate([at + np.arange(len(samples)) / r for at, samples, r in pieces])
            values = np.concatenate([samples for _, samples, _ in pieces])
            out += np.interp(times, known, values, left=0, right=0)
        return out.astype(np.float32)
