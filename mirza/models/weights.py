"""Writing a folder that MLX's loaders read."""

# pyright: reportUnknownVariableType=false

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

Weights = dict[str, NDArray[np.float32]]
"""Names of parameters to arrays, as safetensors holds them."""


def save(weights: Weights, folder: Path) -> None:
    """Writes `model.safetensors` as MLX's loaders expect it."""
    contiguous = {name: np.ascontiguousarray(array, dtype=np.float32) for name, array in weights.items()}
    save_file(contiguous, folder / "model.safetensors", metadata={"format": "mlx"})
    (folder / "model.safetensors").chmod(0o644)  # safetensors makes files private


def write_json(file: Path, content: dict[str, Any]) -> None:
    """Writes one of the folder's small files."""
    file.write_text(json.dumps(content, indent=1, ensure_ascii=False), encoding="utf-8")
