"""Is this folder a whole language model? Asked before loading: MLX's own messages name neither file nor remedy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

from mirza.errors import ModelDamaged, ModelNotFound

AGAIN = "Get the model again: `mirza models pull NAME`, or copy the folder anew."


def check_folder(folder: Path) -> None:
    """Looks at configuration, index and the extent of each weights file; reads no weights.

    Raises:
        ModelNotFound: there is no such folder, or it is empty.
        ModelDamaged: something is missing or cut short.
    """
    if not folder.is_dir():
        raise ModelNotFound(f"There is no folder {folder}.", "Check `llm.model`, or see `mirza models list`.")
    if not any(folder.iterdir()):
        raise ModelNotFound(f"The folder {folder} is empty.", "Check `llm.model`, or see `mirza models list`.")
    _json_object(folder / "config.json")
    index = folder / "model.safetensors.index.json"
    if index.exists():
        weight_map = _json_object(index).get("weight_map")
        if not isinstance(weight_map, dict):
            raise ModelDamaged(f"{index} has no weight_map.", AGAIN)
        weights = sorted({folder / str(name) for name in cast("dict[str, str]", weight_map).values()})
    else:
        weights = sorted(folder.glob("*.safetensors"))
    if not weights:
        raise ModelDamaged(f"{folder} holds no weights (*.safetensors).", AGAIN)
    for file in weights:
        _check_extent(file)


def _json_object(file: Path) -> dict[str, object]:
    if not file.exists():
        raise ModelDamaged(f"{file} is missing.", AGAIN)
    try:
        content: object = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ModelDamaged(f"{file} is not JSON: {error}.", AGAIN) from error
    if not isinstance(content, dict):
        raise ModelDamaged(f"{file} does not hold a JSON object.", AGAIN)
    return cast("dict[str, object]", content)


def _check_extent(file: Path) -> None:
    """The header of a safetensors file says where its last byte is.

    Format: 8 bytes, the header's length, little endian; the header, JSON; the data
    (https://huggingface.co/docs/safetensors, "Format").
    """
    if not file.exists():
        raise ModelDamaged(f"{file} is missing.", AGAIN)
    size = file.stat().st_size
    with file.open("rb") as stream:
        header_bytes = int.from_bytes(stream.read(8), "little")
        if size < 8 or header_bytes > size - 8:
            raise ModelDamaged(f"{file} is cut short: {size} bytes.", AGAIN)
        raw = stream.read(header_bytes)
    try:
        header = cast("dict[str, dict[str, list[int]]]", json.loads(raw))
        end = max((entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"), default=0)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise ModelDamaged(f"{file} does not begin like a weights file.", AGAIN) from error
    expected = 8 + header_bytes + end
    if size != expected:
        raise ModelDamaged(f"{file} has {size} bytes and should have {expected}.", AGAIN)
