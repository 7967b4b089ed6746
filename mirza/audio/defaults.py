"""Which devices the system would choose now, asked without disturbing an open stream.

PortAudio reads its list once, when it starts (https://github.com/PortAudio/portaudio/issues/11), so that it never
notices that headphones became the default. On Linux the sound server moves a stream by itself; on macOS Core Audio is
asked here.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import sys

SYSTEM_OBJECT = 1
GLOBAL_SCOPE = int.from_bytes(b"glob")
DEFAULT_INPUT, DEFAULT_OUTPUT = int.from_bytes(b"dIn "), int.from_bytes(b"dOut")
"""Core Audio's names, from AudioHardware.h and AudioHardwareBase.h."""


class _Address(ctypes.Structure):
    _fields_ = (("selector", ctypes.c_uint32), ("scope", ctypes.c_uint32), ("element", ctypes.c_uint32))


def system_defaults() -> object:
    """A value that changes when another microphone or loudspeaker becomes the system's default; always the same where
    the system moves open streams itself."""
    if sys.platform != "darwin":
        return None
    found = ctypes.util.find_library("CoreAudio")
    if found is None:
        return None
    core = ctypes.CDLL(found)
    return (_default(core, DEFAULT_INPUT), _default(core, DEFAULT_OUTPUT))


def _default(core: ctypes.CDLL, selector: int) -> int:
    """The number of the default device, 0 if there is none."""
    address = _Address(selector, GLOBAL_SCOPE, 0)
    device, size = ctypes.c_uint32(0), ctypes.c_uint32(4)
    core.AudioObjectGetPropertyData(
        ctypes.c_uint32(SYSTEM_OBJECT),
        ctypes.byref(address),
        ctypes.c_uint32(0),
        None,
        ctypes.byref(size),
        ctypes.byref(device),
    )
    return device.value
