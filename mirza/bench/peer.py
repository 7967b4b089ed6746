"""Starts peers: each script in a process of its own, in the environment that `make peers` builds."""

from __future__ import annotations

import contextlib
import importlib.util
import subprocess
import sys
import tempfile
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mirza.audio.base import Samples
from mirza.bench.peer_job import Job
from mirza.bench.peer_server import mlx_lm_server
from mirza.bench.script import Script
from mirza.bench.take import Take, read_take
from mirza.errors import MirzaError
from mirza.folders import PROJECT, cache_folder
from mirza.settings import SettingsTree

PEERS = ("pipecat",)
TIMEOUT_S = 300.0


@dataclass(frozen=True, slots=True)
class Pipecat:
    """Pipecat, with its language model at `server`. `semantic` is whether turns end by meaning, or by silence alone."""

    server: str
    python: Path
    model: Path
    settings: SettingsTree
    semantic: bool = True

    def play(self, script: Script, sounds: Sequence[Samples], recording: Path) -> Take:
        """Holds one script; writes its stereo recording.

        Raises:
            MirzaError: it failed.
        """
        with tempfile.TemporaryDirectory(prefix="mirza-peer-") as name:
            folder = Path(name)
            files = [folder / f"{index}.npy" for index in range(len(sounds))]
            for file, samples in zip(files, sounds, strict=True):
                np.save(file, samples)
            job = Job(
                script=script,
                sounds=files,
                recording=recording.absolute(),
                take=folder / "take.json",
                server=self.server,
                model=str(self.model),
                system=self.settings.llm.system,
                max_tokens=self.settings.llm.max_tokens,
                cache=cache_folder(self.settings.paths),
                semantic=self.semantic,
            )
            (folder / "job.json").write_text(job.model_dump_json(), encoding="utf-8")
            self._run(folder / "job.json", script)
            return read_take(job.take)

    def _run(self, job: Path, script: Script) -> None:
        command = [str(self.python), "-W", "ignore", "-m", "mirza.bench.peer_pipecat", str(job)]
        try:
            done = subprocess.run(command, cwd=PROJECT, timeout=TIMEOUT_S, capture_output=True, text=True, check=False)
        except subprocess.TimeoutExpired as error:
            raise MirzaError(f"Pipecat did not end {script.name!r} within {TIMEOUT_S:g} s.") from error
        if done.returncode:
            last = " ".join(done.stderr.strip().splitlines()[-1:])
            raise MirzaError(f"Pipecat failed at {script.name!r}: {last}", f"Try: {' '.join(command[:-1])} JOB.json")


@contextlib.contextmanager
def pipecat(settings: SettingsTree, model: Path, *, semantic: bool = True) -> Generator[Pipecat]:
    """Pipecat, ready to play.

    Raises:
        MirzaError: it is not installed, or its language model's server does not start.
    """
    python = _python()
    with tempfile.TemporaryDirectory(prefix="mirza-server-") as folder:
        log = Path(folder) / "server.log"
        with mlx_lm_server(model, log) as server:
            yield Pipecat(server, python, model, settings, semantic)


def _python() -> Path:
    if importlib.util.find_spec("pipecat") is not None:
        return Path(sys.executable)
    python = PROJECT / ".venv-peers" / "bin" / "python"
    if python.exists():
        return python
    raise MirzaError("Pipecat is not installed.", "Build its environment: make peers")
