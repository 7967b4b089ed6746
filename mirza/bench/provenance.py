"""Where a number comes from: which bytes ran, on which machine, under which versions. Without it, it is no result."""

# pyright: reportUnknownMemberType=false
from __future__ import annotations

import json
import os
import platform
import resource
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, cast

import mlx.core as mx

from mirza.bench.shapes import recipe_of
from mirza.llm.mlx.fingerprint import file_digest

LIBRARIES = ("mirza", "mlx", "mlx-vlm", "mlx-lm", "transformers", "tokenizers")


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes, after a synchronise: what MLX uses, used at most, keeps for reuse, and what the process holds."""

    active: int
    peak: int
    cached: int
    resident_peak: int


def memory() -> Memory:
    """The memory of this process now."""
    mx.synchronize()
    unit = 1 if sys.platform == "darwin" else 1024
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return Memory(mx.get_active_memory(), mx.get_peak_memory(), mx.get_cache_memory(), resident)


def provenance(folder: Path, dtype: str, blas: str | None = None) -> dict[str, Any]:
    """What ran: the checkpoint by the hashes of all its parts, the machine, and the versions.

    Random weights have their recipe instead of a hash.
    """
    return {"model": _model(folder, dtype), "machine": machine(blas), "versions": versions()}


def _model(folder: Path, dtype: str) -> dict[str, Any]:
    config = cast(dict[str, Any], json.loads((folder / "config.json").read_text(encoding="utf-8")))
    text = cast(Mapping[str, Any], config.get("text_config") or config)
    repository, revision = _hub_origin(folder)
    weights = sorted(folder.glob("*.safetensors"))
    random = recipe_of(folder)
    return {
        "folder": folder.name,
        "repository": repository,
        "revision": revision,
        "type": config.get("model_type"),
        "layers": text.get("num_hidden_layers"),
        "heads": text.get("num_attention_heads"),
        "kv_heads": text.get("num_key_value_heads"),
        "hidden": text.get("hidden_size"),
        "vocabulary": text.get("vocab_size"),
        "dtype": dtype,
        "quantisation": config.get("quantization"),
        "random_weights": random,
        "bytes": sum(file.stat().st_size for file in weights),
        "sha256": {
            file.name: file_digest(file)
            for file in [
                *sorted(folder.glob("*.json")),
                *sorted(folder.glob("*.jinja")),
                *([] if random else weights),
            ]
        },
    }


def _hub_origin(folder: Path) -> tuple[str | None, str | None]:
    """Repository and revision of a folder in the hub's cache: .../models--OWNER--NAME/snapshots/REVISION."""
    if folder.parent.name != "snapshots" or not folder.parent.parent.name.startswith("models--"):
        return None, None
    return folder.parent.parent.name.removeprefix("models--").replace("--", "/"), folder.name


def machine(blas: str | None = None) -> dict[str, Any]:
    """The computer, and how busy it is: figures from a busy one are worth less."""
    device = mx.default_device()
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "system": platform.platform(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "device": str(device),
        "device_info": dict(mx.device_info(device)),
        "blas": blas,
        "mlx_environment": {name: value for name, value in sorted(os.environ.items()) if name.startswith("MLX_")},
        "load": load,
    }


def busy() -> list[str]:
    """A warning where other programs take the machine: then times compare nothing."""
    cores = os.cpu_count() or 1
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return [f"busy: {load:.1f} programs wanted {cores} cores; measure again when it is idle"] if load > cores else []


def versions() -> dict[str, str]:
    """Python and the libraries that a number depends on."""
    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "none"
    return found
