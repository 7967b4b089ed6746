"""The process that holds espeak-ng, and nothing else: text in, phonemes or sound out, over pipes.

espeak-ng is under the GPL. It lives here, in a program of its own that loads the library and speaks a small protocol;
Mirza talks to it and does not link it. A fault in it ends this process, not the conversation.

A request is one line of JSON: `{"op": "phonemes" | "speak", "voice": ..., "text": ..., "speed": ...}`. The answer is
one line of JSON; after `{"rate": ..., "bytes": n}` follow n bytes of 16-bit samples, after `{"phonemes": ...}` nothing.
The names and numbers are those of espeak-ng's `speak_lib.h` (1.51).
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import tempfile
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint, c_void_p
from pathlib import Path

AUDIO_OUTPUT_SYNCHRONOUS = 2
RATE_PARAMETER = 1
CHARS_UTF8 = 1
PHONEMES_IPA = 2
POSITION_CHARACTER = 1
NORMAL_WORDS_PER_MINUTE = 175
LONGEST_PATH = 150
"""espeak-ng keeps its folder in 160 bytes."""

SynthCallback = ctypes.CFUNCTYPE(c_int, c_void_p, c_int, c_void_p)


class Espeak:
    """The library, loaded."""

    def __init__(self, library: str, data: str) -> None:
        self._library = ctypes.CDLL(library)
        self._chunks: list[bytes] = []
        self._library.espeak_TextToPhonemes.restype = c_char_p
        self._library.espeak_TextToPhonemes.argtypes = [POINTER(c_void_p), c_int, c_int]
        self._library.espeak_Synth.argtypes = [
            c_char_p,
            c_size_t,
            c_uint,
            c_int,
            c_uint,
            c_uint,
            POINTER(c_uint),
            c_void_p,
        ]
        self.rate = int(self._library.espeak_Initialize(AUDIO_OUTPUT_SYNCHRONOUS, 200, data.encode(), 0))
        if self.rate <= 0:
            raise OSError(f"espeak-ng cannot read {data}")
        self._callback = SynthCallback(self._take)
        self._library.espeak_SetSynthCallback(self._callback)

    def _take(self, samples: int | None, count: int, _events: object) -> int:
        if samples and count > 0:
            self._chunks.append(ctypes.string_at(samples, count * 2))
        return 0

    def use(self, voice: str) -> bool:
        """Whether there is such a voice; it speaks from now on."""
        return self._library.espeak_SetVoiceByName(voice.encode()) == 0

    def phonemes(self, text: str) -> str:
        """`text` in IPA, clause after clause; punctuation is gone."""
        buffer = ctypes.create_string_buffer(text.encode())
        at = c_void_p(ctypes.addressof(buffer))
        clauses: list[str] = []
        while at.value:
            spoken = self._library.espeak_TextToPhonemes(byref(at), CHARS_UTF8, PHONEMES_IPA)
            clauses.append((spoken or b"").decode("utf-8", "replace"))
        return " ".join(clauses).strip()

    def speak(self, text: str, speed: float) -> bytes:
        """16-bit samples at `rate`."""
        self._chunks.clear()
        self._library.espeak_SetParameter(RATE_PARAMETER, round(NORMAL_WORDS_PER_MINUTE * speed), 0)
        encoded = text.encode() + b"\0"
        self._library.espeak_Synth(encoded, len(encoded), 0, POSITION_CHARACTER, 0, CHARS_UTF8, None, None)
        self._library.espeak_Synchronize()
        return b"".join(self._chunks)


def load() -> Espeak:
    """The library of the package espeakng-loader."""
    import espeakng_loader  # pyright: ignore[reportMissingTypeStubs]

    data = espeakng_loader.get_data_path()
    if len(data.encode()) > LONGEST_PATH:
        link = Path(tempfile.mkdtemp(prefix="mirza-")) / "espeak-ng-data"
        link.symlink_to(data)
        data = str(link)
    return Espeak(espeakng_loader.get_library_path(), data)


def main() -> None:
    """Answers requests until the other side closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all of the terminal's processes, and is Mirza's
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever the library prints must not fall among the answers
    try:
        espeak = load()
    except (ImportError, OSError) as error:
        answers.write(json.dumps({"error": f"{type(error).__name__}: {error}"}).encode() + b"\n")
        answers.flush()
        return
    answers.write(json.dumps({"rate": espeak.rate}).encode() + b"\n")
    answers.flush()
    for line in sys.stdin.buffer:
        request = json.loads(line)
        sound = b""
        if not espeak.use(request["voice"]):
            answer: dict[str, object] = {"error": f"no voice {request['voice']}"}
        elif request["op"] == "phonemes":
            answer = {"phonemes": espeak.phonemes(request["text"])}
        else:
            sound = espeak.speak(request["text"], request["speed"])
            answer = {"rate": espeak.rate, "bytes": len(sound)}
        answers.write(json.dumps(answer).encode() + b"\n" + sound)
        answers.flush()


if __name__ == "__main__":
    main()
