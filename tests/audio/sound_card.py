"""A virtual sound card: a private PulseAudio with a cable, so that what is played is what is recorded."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

NEEDED = ("pulseaudio", "pactl")
INSTALL = "apt install pulseaudio pulseaudio-utils libportaudio2 libasound2-plugins"


def missing() -> str:
    """What is not there, or nothing."""
    absent = [name for name in NEEDED if shutil.which(name) is None]
    return f"no {' and no '.join(absent)} here ({INSTALL})" if absent else ""


class SoundCard:
    """PulseAudio in a folder of its own: no D-Bus, no real card, root is fine.

    `norewinds=1` matters: without it a null sink works in 2 s blocks, the first input comes after 2 s, and underruns
    come by the thousand (PulseAudio 16.1).

    With `headphones`, the microphone is a sink of its own, `mouth`, which hears nothing of what is played.
    """

    def __init__(self, folder: Path, rate: int, *, headphones: bool = False) -> None:
        self.folder = folder
        config = folder / "alsa.conf"
        config.write_text(
            "</usr/share/alsa/alsa.conf>\n"
            "pcm.!default { type pulse hint { show on description 'virtual' } }\nctl.!default { type pulse }\n"
        )
        self.env = {
            "XDG_RUNTIME_DIR": str(folder),
            "HOME": str(folder),
            "PULSE_SERVER": f"unix:{folder}/pulse/native",
            "ALSA_CONFIG_PATH": str(config),
            "PULSE_SINK": "cable",
            "PULSE_SOURCE": "mouth.monitor" if headphones else "cable.monitor",
        }
        self._server = subprocess.Popen(
            [
                *("pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--log-level=error"),
                *("-L", "module-native-protocol-unix"),
                *("-L", f"module-null-sink sink_name=cable rate={rate} norewinds=1"),
                *("-L", f"module-null-sink sink_name=mouth rate={rate} norewinds=1"),
            ],
            env=os.environ | self.env,
        )
        for _ in range(100):
            asked = subprocess.run(["pactl", "info"], env=os.environ | self.env, capture_output=True, check=False)
            if asked.returncode == 0:
                return
            time.sleep(0.05)
        self.close()
        raise RuntimeError("PulseAudio does not start")

    def close(self) -> None:
        """Pulls the plug."""
        if self._server.poll() is None:
            self._server.send_signal(signal.SIGTERM)
            try:
                self._server.wait(5)
            except subprocess.TimeoutExpired:
                self._server.kill()
                self._server.wait()
