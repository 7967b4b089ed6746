"""`mirza doctor`: what works on this machine, what is missing, and the command that mends it."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from mirza import __version__
from mirza.errors import MirzaError, NoDevice
from mirza.folders import cache_folder, data_folder, user_file
from mirza.settings import SettingsTree
from mirza.settings_sources import Loaded, settings_of

if TYPE_CHECKING:
    from mirza.audio.portaudio import Device

PACKAGES = (
    "mlx",
    "mlx-vlm",
    "mlx-lm",
    "mlx-audio",
    "onnxruntime",
    "sounddevice",
    "faster-whisper",
    "openai",
    "textual",
)

GB = 1_000_000_000
LITTLE_ROOM_BYTES = 2 * GB


class State(StrEnum):
    """How something is."""

    FINE = "fine"
    WITHOUT = "without"
    """It is not there, and Mirza can do without: it types instead of talking, or is slower."""
    MISSING = "missing"
    """It is not there, and something that was asked for cannot work."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. `do` is the command or the step that mends it, `facts` the same for a program."""

    area: str
    what: str
    state: State = State.FINE
    do: str = ""
    facts: Mapping[str, object] = field(default_factory=dict[str, object])


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one object a line")


def run(args: argparse.Namespace) -> int:
    findings: list[Finding] = []
    for finding in examine(settings_of(args)):
        findings.append(finding)
        if args.json:
            print(json.dumps(asdict(finding), ensure_ascii=False), flush=True)
        else:
            _show(finding)
    if not args.json:
        _summarise(findings)
    return 1 if any(finding.state is State.MISSING for finding in findings) else 0


def examine(settings: Loaded) -> Iterator[Finding]:
    """Everything there is to look at, one after the other. A check that fails is a finding, not the end."""
    checks: tuple[Callable[[Loaded], Iterator[Finding]], ...] = (
        _machine,
        _settings,
        _mlx,
        _language_model,
        _models,
        _sound,
        _folders,
        _versions,
    )
    for check in checks:
        try:
            yield from check(settings)
        except MirzaError as error:
            yield Finding(check.__name__.strip("_").replace("_", " "), error.what, State.MISSING, error.do)


# --- what is looked at -----------------------------------------------------------------------------------------------


def _machine(settings: Loaded) -> Iterator[Finding]:
    from mirza.models import machine_memory_bytes

    yield Finding("machine", f"{platform.system()} {platform.release()}, {platform.machine()}")
    yield Finding("machine", f"Python {platform.python_version()} in {sys.prefix}")
    memory = machine_memory_bytes()
    yield Finding("machine", f"{memory / GB:.1f} GB of memory", facts={"memory_bytes": memory})


def _settings(settings: Loaded) -> Iterator[Finding]:
    changed = len(settings.origins)
    file = user_file()
    yield Finding("settings", f"{changed} changed; your file is {file}{'' if file.exists() else ' (not there yet)'}")


def _mlx(settings: Loaded) -> Iterator[Finding]:
    from mirza.blas import ensure_fast_blas

    blas = ensure_fast_blas()
    try:
        import mlx.core as mx
    except ImportError as error:
        yield Finding("mlx", f"MLX does not load: {error}", State.MISSING, "make setup")
        return
    device = mx.default_device()
    yield Finding("mlx", f"computes on {device}", facts={"device": str(device)})
    if sys.platform != "linux":
        return
    if "gpu" in str(device):
        kept = os.environ.get("MLX_PTX_CACHE_DIR") or f"{tempfile.gettempdir()}/mlx"
        yield Finding("kernels", f"compiled at first use, which takes up to minutes, and kept in {kept}")
    elif blas is None:
        yield Finding(
            "blas",
            "MLX's own matrix product, which is some thirty times slower than a good one",
            State.WITHOUT,
            "pip install mkl (Intel and AMD), or: sudo apt install libopenblas0-pthread",
        )
    else:
        yield Finding("blas", f"{blas} multiplies matrices for MLX", facts={"blas": blas})


def _language_model(settings: Loaded) -> Iterator[Finding]:
    llm = settings.tree.llm
    match llm.engine:
        case "openai":
            names = asyncio.run(_served(settings.tree))
            yield Finding("language model", f"{settings.tree.openai.base_url} has {', '.join(names[:5])}")
        case "mlx" if llm.model == "auto":
            from mirza.models import best_llm, machine_memory_bytes

            model = best_llm(machine_memory_bytes(), cache_folder(settings.tree.paths))
            yield Finding("language model", f"{model.name}: the best on this disk that fits this machine")
        case "mlx":
            from mirza.models import check_folder, path

            folder = path(llm.model, cache_folder(settings.tree.paths))
            check_folder(folder)
            yield Finding("language model", f"{llm.model}, in {folder}")
        case engine:
            yield Finding("language model", f"the engine {engine!r}")


async def _served(settings: SettingsTree) -> list[str]:
    from mirza.llm.openai import OpenAiLlm

    llm = OpenAiLlm(settings.openai, settings.llm)
    try:
        return await llm.models()
    finally:
        await llm.unload()


def _models(settings: Loaded) -> Iterator[Finding]:
    from mirza.errors import ModelError
    from mirza.models import catalogue, is_pulled, path

    cache = cache_folder(settings.tree.paths)
    for model in catalogue():
        if is_pulled(model, cache):
            what = f"{model.name} ({model.purpose}), {', '.join(model.languages[:6])}"
            yield Finding("models", what, facts={"name": model.name, "purpose": model.purpose})
        elif model.default:
            try:
                path(model.name, cache)
            except ModelError as error:
                yield Finding("models", error.what, State.MISSING, "mirza models pull --default")


def _sound(settings: Loaded) -> Iterator[Finding]:
    from mirza.audio.devices import devices

    try:
        found = devices()
    except NoDevice as error:
        yield Finding("sound", error.what, State.WITHOUT, error.do)
        return
    for device in found:
        yield Finding("sound", _described(device), facts=asdict(device))
    for name, there in (
        ("microphone", any(device.inputs for device in found)),
        ("loudspeaker", any(device.outputs for device in found)),
    ):
        if not there:
            yield Finding("sound", f"There is no {name}.", State.WITHOUT, "Plug one in; until then `mirza chat` works.")


def _described(device: Device) -> str:
    ways = "/".join(way for way, channels in (("in", device.inputs), ("out", device.outputs)) if channels)
    marks = [", the default microphone" * device.default_input, ", the default loudspeaker" * device.default_output]
    return f"{device.number}: {device.name} ({ways}, {device.rate} Hz, {device.host}){''.join(marks)}"


def _folders(settings: Loaded) -> Iterator[Finding]:
    paths = settings.tree.paths
    for name, folder in (("conversations and logs", data_folder(paths)), ("models", cache_folder(paths))):
        free = shutil.disk_usage(folder).free
        what = f"{name} in {folder}, {free / GB:.1f} GB free"
        if not _writable(folder):
            yield Finding("folders", f"{folder} cannot be written.", State.MISSING, f"chmod u+rwx {folder}")
        elif free < LITTLE_ROOM_BYTES:
            yield Finding("folders", what, State.WITHOUT, "Make room: `mirza models remove NAME` gives some back.")
        else:
            yield Finding("folders", what)


def _versions(settings: Loaded) -> Iterator[Finding]:
    yield Finding("versions", f"mirza {__version__}")
    for name in PACKAGES:
        try:
            version = metadata.version(name)
            yield Finding("versions", f"{name} {version}", facts={"name": name, "version": version})
        except metadata.PackageNotFoundError:
            yield Finding("versions", f"{name} is not installed.", State.WITHOUT, "make setup")


def _writable(folder: Path) -> bool:
    probe = folder / ".mirza-doctor"
    try:
        probe.touch()
        probe.unlink()
    except OSError:
        return False
    return True


# --- what is shown ---------------------------------------------------------------------------------------------------

MARKS = {State.FINE: "ok", State.WITHOUT: "--", State.MISSING: "!!"}


def _show(finding: Finding) -> None:
    print(f"{MARKS[finding.state]}  {finding.area:15} {finding.what}")
    if finding.do:
        print(f"{'':20}{finding.do}")


def _summarise(findings: list[Finding]) -> None:
    missing = [finding for finding in findings if finding.state is State.MISSING]
    without = [finding for finding in findings if finding.state is State.WITHOUT]
    if missing:
        print(f"\n{len(missing)} missing (!!). What mends it stands below each.")
    elif without:
        print("\nMirza works here; -- marks what it does without.")
    else:
        print("\nEverything is there.")
