"""The one place that touches sounddevice and PortAudio: what devices there are, and a stream in or out.

sounddevice is imported when it is first needed: who types or plays recordings needs no PortAudio.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol

from numpy.typing import NDArray

from mirza.errors import NoDevice

INSTALL = {
    "darwin": "Install it with: brew install portaudio",
    "linux": "Install it, for example with: sudo apt install libportaudio2 (Fedora: sudo dnf install portaudio)",
}
OTHER_RATES = (48_000, 44_100, 24_000, 16_000)
"""Hertz, tried in this order where a device refuses the rate that it calls its own."""

PERIOD_S = 0.01
"""What a callback is asked to bring or take."""


@dataclass(frozen=True, slots=True)
class Device:
    """A microphone, a loudspeaker, or both. `rate` is its own rate in hertz; `inputs` and `outputs` count channels."""

    number: int
    name: str
    host: str
    inputs: int
    outputs: int
    rate: int
    default_input: bool = False
    default_output: bool = False


class Stream(Protocol):
    """A stream that runs. `rate` is hertz."""

    rate: int

    def close(self) -> None:
        """Stops at once, without playing what is still queued in the device. Twice is fine."""
        ...


@dataclass(frozen=True, slots=True)
class Moment:
    """When a callback ran, and when its first sample was or will be in the air: seconds of PortAudio's clock."""

    now_s: float
    air_s: float
    lost: bool
    """Whether the device had to drop (in) or invent (out) samples since the callback before."""


Capture = Callable[[NDArray[Any], Moment], None]
"""Gets `(n, channels)` float32, which is only valid during the call."""

Render = Callable[[NDArray[Any], Moment], None]
"""Fills `(n, channels)` float32."""


class PortAudio(Protocol):
    """What `DeviceSound` needs of PortAudio."""

    def devices(self) -> list[Device]:
        """What was there when the list was last read.

        Raises:
            NoDevice: PortAudio is not installed.
        """
        ...

    def reread(self) -> None:
        """Reads the list of devices again. Only while no stream is open."""
        ...

    def open_input(self, device: Device, capture: Capture, ended: Callable[[], None]) -> Stream:
        """Starts a microphone. `ended` is called, in a thread of its own, when the stream is over for whatever reason.

        Raises:
            NoDevice: it is busy, gone, or has no rate in common with us.
        """
        ...

    def open_output(self, device: Device, render: Render, ended: Callable[[], None]) -> Stream:
        """Starts a loudspeaker.

        Raises:
            NoDevice: it is busy, gone, or has no rate in common with us.
        """
        ...


def sounddevice() -> ModuleType:
    """sounddevice, imported now.

    Raises:
        NoDevice: it is not installed, or PortAudio is not.
    """
    try:
        import sounddevice as library  # pyright: ignore[reportMissingTypeStubs]
    except OSError as error:  # what it raises when there is no PortAudio
        do = INSTALL.get(sys.platform, "Install PortAudio (www.portaudio.com).")
        raise NoDevice("PortAudio is not installed, so there is no microphone and no loudspeaker.", do) from error
    except ImportError as error:
        raise NoDevice(
            "The package sounddevice is not installed.", "Install it with: pip install sounddevice"
        ) from error
    return library


class SoundDevicePortAudio:
    """PortAudio, by sounddevice."""

    def devices(self) -> list[Device]:
        """What was there when the list was last read."""
        library = sounddevice()
        try:
            hosts: list[str] = [host["name"] for host in library.query_hostapis()]
            default_input, default_output = library.default.device
            found_devices = library.query_devices()
        except library.PortAudioError as error:
            raise NoDevice(f"The sound devices cannot be listed ({error}).", "Restart the system's sound.") from error
        return [
            Device(
                number=number,
                name=str(found["name"]),
                host=hosts[found["hostapi"]],
                inputs=int(found["max_input_channels"]),
                outputs=int(found["max_output_channels"]),
                rate=round(found["default_samplerate"]),
                default_input=number == default_input,
                default_output=number == default_output,
            )
            for number, found in enumerate(found_devices)
        ]

    def reread(self) -> None:
        """Reads the list of devices again: PortAudio does so only when it starts.

        sounddevice 0.5.6 has no public way; its author names these two functions for it
        (https://github.com/spatialaudio/python-sounddevice/issues/3 and /125). A test fails when they are gone.
        """
        library = sounddevice()
        try:
            library._terminate()
            library._initialize()
        except library.PortAudioError as error:
            raise NoDevice(f"PortAudio does not start again ({error}).", "Restart the system's sound.") from error

    def open_input(self, device: Device, capture: Capture, ended: Callable[[], None]) -> Stream:
        """Starts a microphone with one channel, or with all it has if it does not give one."""

        def callback(frames: NDArray[Any], _count: int, time: Any, status: Any) -> None:
            capture(frames, Moment(time.currentTime, time.inputBufferAdcTime, bool(status.input_overflow)))

        return _open("InputStream", device, sorted({1, device.inputs}), callback, ended)

    def open_output(self, device: Device, render: Render, ended: Callable[[], None]) -> Stream:
        """Starts a loudspeaker with two channels where there are two: one alone plays on the left only on macOS."""

        def callback(frames: NDArray[Any], _count: int, time: Any, status: Any) -> None:
            render(frames, Moment(time.currentTime, time.outputBufferDacTime, bool(status.output_underflow)))

        return _open("OutputStream", device, sorted({min(2, device.outputs), device.outputs}), callback, ended)


class _RunningStream:
    def __init__(self, stream: Any, rate: int) -> None:
        self.rate = rate
        self._stream = stream

    def close(self) -> None:
        self._stream.close(ignore_errors=True)  # aborts what still plays


def _open(
    kind: str, device: Device, channels: list[int], callback: Callable[..., None], ended: Callable[[], None]
) -> Stream:
    """Tries the device's own rate and fewest channels first."""
    library = sounddevice()
    rates = [device.rate, *(rate for rate in OTHER_RATES if rate != device.rate)]
    refused: Exception | None = None
    for rate, count in [(rate, count) for rate in rates for count in channels]:
        try:
            stream = getattr(library, kind)(
                device=device.number,
                samplerate=rate,
                channels=count,
                dtype="float32",
                blocksize=round(rate * PERIOD_S),
                latency="low",
                callback=callback,
                finished_callback=ended,
            )
        except library.PortAudioError as error:
            refused = refused or error
            continue
        try:
            stream.start()
        except library.PortAudioError as error:
            stream.close(ignore_errors=True)
            refused = refused or error
            continue
        return _RunningStream(stream, rate)
    what = "microphone" if kind == "InputStream" else "loudspeaker"
    raise NoDevice(
        f"The {what} {device.name!r} does not start ({refused}).",
        "Close other programs that use it, or choose another one: `mirza doctor` lists them.",
    ) from refused


def choose(devices: list[Device], wanted: str, *, output: bool) -> Device:
    """The device with this number, this name or a name with this part; the system's default if `wanted` is empty.

    Raises:
        NoDevice: there is none, or more than one that fits.
    """
    kind = "loudspeaker" if output else "microphone"
    usable = [device for device in devices if (device.outputs if output else device.inputs) > 0]
    if not usable:
        raise NoDevice(f"There is no {kind}.", "Plug one in, or use recordings: mirza talk --input QUESTION.wav")
    if not wanted:
        default = [device for device in usable if (device.default_output if output else device.default_input)]
        return (default or usable)[0]
    found = _matches(usable, wanted.strip())
    if found and len({device.name for device in found}) == 1:
        return found[0]
    listed = "\n".join(f"  {device.number:3}  {device.name}" for device in (found or usable))
    setting = "audio.output" if output else "audio.input"
    if found:
        raise NoDevice(f"More than one {kind} is called {wanted!r}:\n{listed}\n", f"Set {setting} to a number.")
    raise NoDevice(f"There is no {kind} {wanted!r}. There are:\n{listed}\n", f"Set {setting} to a name or a number.")


def _matches(devices: list[Device], wanted: str) -> list[Device]:
    if wanted.isdecimal():
        return [device for device in devices if device.number == int(wanted)]
    exact = [device for device in devices if device.name.casefold() == wanted.casefold()]
    return exact or [device for device in devices if wanted.casefold() in device.name.casefold()]
