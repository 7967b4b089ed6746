"""What is set for MLX before it is imported: by what is installed, and never over what the user has set."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import json, os
from mirza.blas import ensure_fast_blas

ensure_fast_blas()
print(json.dumps({name: value for name, value in os.environ.items() if name.startswith(("MLX_", "KMP_"))}))
"""
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is set")


def mlx_environment(installed: Path, **already: str) -> dict[str, str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MLX_", "KMP_"))}
    environment |= {"PYTHONPATH": str(installed), **already}
    command = [sys.executable, "-c", PROGRAM]
    result = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60, env=environment)
    return json.loads(result.stdout)


@pytest.fixture
def cuda_build(tmp_path: Path) -> Path:
    """A folder in which MLX's CUDA build counts as installed."""
    about = tmp_path / "mlx_cuda_13-0.32.4.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: mlx-cuda-13\nVersion: 0.32.4\n", encoding="utf-8")
    return tmp_path


def test_on_a_cpu_nothing_is_compiled_at_first_use_and_no_thread_spins(tmp_path: Path):
    assert mlx_environment(tmp_path) == {"MLX_DISABLE_COMPILE": "1", "KMP_BLOCKTIME": "0"}


def test_on_cuda_passes_of_new_lengths_need_no_new_graph_and_never_end_the_process(cuda_build: Path):
    expected = {"MLX_USE_CUDA_GRAPHS": "0", "MLX_ENABLE_CACHE_THRASHING_CHECK": "0"}
    assert mlx_environment(cuda_build) == expected


def test_what_the_user_has_set_stays(cuda_build: Path):
    assert mlx_environment(cuda_build, MLX_USE_CUDA_GRAPHS="1")["MLX_USE_CUDA_GRAPHS"] == "1"
