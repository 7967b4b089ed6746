"""What holds for all tests: MLX runs in them as it does in Mirza, with a fast BLAS and without compiling on a CPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from mirza.blas import ensure_fast_blas

ensure_fast_blas()  # before any file of tests imports MLX


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """`-m alone` reads the three files that have such tests, and not a hundred others with all that they import."""
    if config.getoption("markexpr") != "alone" or collection_path.suffix != ".py":
        return None
    return None if "mark.alone" in collection_path.read_text(encoding="utf-8") else True
