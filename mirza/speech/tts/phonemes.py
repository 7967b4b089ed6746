"""Phonemes, and a plain voice for every language, from an espeak-ng that runs in a process of its own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import cast

import numpy as np

from mirza.audio.base import Samples
from mirza.errors import ModelError, ModelUnsupported

WORKER = Path(__file__).with_name("espeak_worker.py")
PATIENCE_S = 20.0
"""A sentence takes milliseconds; a worker that says nothing for this long hangs."""

CLAUSE = re.compile(r"(.*?)((?:[,;:.!?…—]+[\"'”’)\]]*(?=\s|$))+|$)", re.DOTALL)
LANGUAGE_SWITCH = re.compile(r"\([a-z]{2,3}(-[a-z0-9]+)*\)")


class EspeakProcess:
    """One espeak-ng. Calls may come from any thread and wait for one another; a process that died is started again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self.rate = 22_050

    def phonemes(self, text: str, voice: str) -> str:
        """`text` in IPA, with its punctuation, which voices were trained to hear and espeak-ng drops.

        Raises:
            ModelUnsupported: espeak-ng has no such voice, or cannot run here.
        """
        spoken: list[str] = []
        for clause, mark in CLAUSE.findall(text):
            answer = self._ask({"op": "phonemes", "voice": voice, "text": clause})[0] if clause.strip() else {}
            ipa = LANGUAGE_SWITCH.sub("", str(answer.get("phonemes", "")))
            if ipa or mark:
                spoken.append(" ".join(ipa.split()) + mark.strip("\"'”’)] "))
        return " ".join(spoken)

    def speak(self, text: str, voice: str, speed: float = 1.0) -> Samples:
        """`text` as sound at `rate`.

        Raises:
            ModelUnsupported: espeak-ng has no such voice, or cannot run here.
        """
        _, sound = self._ask({"op": "speak", "voice": voice, "text": text, "speed": speed})
        return np.frombuffer(sound, np.int16).astype(np.float32) / 32768.0

    def close(self) -> None:
        """Ends the process; the next call starts one."""
        with self._lock:
            self._end()

    def _ask(self, request: dict[str, object]) -> tuple[dict[str, object], bytes]:
        with self._lock:
            try:
                answer, sound = self._send(request)
            except (OSError, ValueError):
                self._end()  # it died, now or since the last call: another one is asked, once
                try:
                    answer, sound = self._send(request)
                except (OSError, ValueError) as error:
                    self._end()
                    raise ModelError("espeak-ng ended unexpectedly.", "If it stays so, install Mirza again.") from error
        if "error" in answer:
            raise ModelUnsupported(f"espeak-ng: {answer['error']}.", "Choose another language or voice.")
        return answer, sound

    def _send(self, request: dict[str, object]) -> tuple[dict[str, object], bytes]:
        process = self._running()
        if process.stdin is None or process.stdout is None:
            raise OSError("no pipes")
        watch = threading.Timer(PATIENCE_S, process.kill)
        watch.start()
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            answer = _object(process.stdout.readline())
            count = int(str(answer.get("bytes", 0)))
            sound = process.stdout.read(count)
        finally:
            watch.cancel()
        if len(sound) != count:
            raise ValueError("cut short")
        return answer, sound

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._end()
        # Run as a file, not as a module of Mirza: it imports nothing of ours.
        process = subprocess.Popen([sys.executable, str(WORKER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._process = process
        try:
            ready = _object(process.stdout.readline() if process.stdout else b"")
        except ValueError:
            ready = {"error": "its process ended at once"}
        if "error" in ready:
            self._end()
            raise ModelUnsupported(
                f"espeak-ng cannot run here ({ready['error']}).",
                "Install it again: `pip install --force-reinstall espeakng-loader`.",
            )
        self.rate = int(str(ready["rate"]))
        return process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()


def _object(line: bytes) -> dict[str, object]:
    content: object = json.loads(line)
    if not isinstance(content, dict):
        raise ValueError("not an object")
    return cast("dict[str, object]", content)
