"""Configurations that mlx-vlm does not accept as they are, and what it needs instead."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from loguru import logger

from mirza.errors import ModelUnsupported

Config = dict[str, Any]
"""`config.json` of a model."""


@contextmanager
def repaired(folder: Path, config: Config) -> Generator[Path]:
    """The folder, or one that looks like it with a configuration that mlx-vlm accepts."""
    mended = repair_rope(config)
    if mended is config:
        yield folder
        return
    logger.info("{}: rope_parameters had no partial_rotary_factor; taken as 1 / factor", folder)
    with tempfile.TemporaryDirectory(prefix="mirza-model-") as name:
        stand_in = Path(name)
        for file in folder.iterdir():
            if file.name != "config.json":
                (stand_in / file.name).symlink_to(file.resolve())
        (stand_in / "config.json").write_text(json.dumps(mended), encoding="utf-8")
        yield stand_in


def repair_rope(config: Config) -> Config:
    """The configuration itself, or a copy in which `partial_rotary_factor` is `1 / factor`.

    Some conversions of Qwen 3.5 carry only the factor, and mlx-vlm 0.7.10 (models/qwen3_5/config.py) demands the other.

    Raises:
        ModelUnsupported: other rotary parameters that it demands are missing, too.
    """
    text = config.get("text_config")
    rope = cast(Config, text).get("rope_parameters") if isinstance(text, dict) else None
    if not isinstance(rope, dict) or not str(config.get("model_type", "")).startswith("qwen3_5"):
        return config
    rope = cast(Config, rope)
    missing = [key for key in ("mrope_section", "rope_theta") if key not in rope]
    if "type" not in rope and "rope_type" not in rope:
        missing.append("rope_type")
    factor = rope.get("factor")
    if "partial_rotary_factor" in rope and not missing:
        return config
    if missing or isinstance(factor, bool) or not isinstance(factor, int | float) or factor <= 0:
        missing += [] if "partial_rotary_factor" in rope else ["partial_rotary_factor"]
        raise ModelUnsupported(
            f"The model's config.json lacks {', '.join(missing)} in text_config.rope_parameters.",
            "Take another conversion of this model, or its original checkpoint.",
        )
    rope = {**rope, "partial_rotary_factor": 1 / factor}
    return {**config, "text_config": {**cast(Config, text), "rope_parameters": rope}}
