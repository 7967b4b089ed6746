"""A fast matrix product for MLX on a Linux CPU: the `mlx[cpu]` wheel links the reference BLAS, 30 times slower.

Symbols that are loaded first win, so an optimised library goes in before `import mlx.core`. Measured with mlx 0.32.4 on
two cores, float32 product of 1024 x 1024: 5.9 GFLOP/s as shipped, 172 with MKL, 197 with OpenBLAS; the results agree
with float64 to 1.2e-6. Quantised, bfloat16 and float16 products never reach BLAS.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from importlib import metadata
from pathlib import Path

from loguru import logger

FOR_A_CPU = {"MLX_DISABLE_COMPILE": "1", "KMP_BLOCKTIME": "0"}
"""What MLX and MKL read when they are first used; a value that is set already stays.

Each fused kernel would be compiled by g++ at its first use: 5 to 13 s before the first token.
MKL's threads wait 0.2 s for more work by spinning: while a token is decoded, which needs one core, the other does
nothing, at full speed. At 0 they sleep: the same time a token, and recognition and voice get that core.
"""
FOR_CUDA = {"MLX_USE_CUDA_GRAPHS": "0", "MLX_ENABLE_CACHE_THRASHING_CHECK": "0"}
"""The same where MLX's CUDA build is installed.

A CUDA graph has to be made for each new order of operations, and passes differ here: lengths of turns, depths of
drafts. On an H200 without graphs plain tokens come as fast, a round of drafts takes up to half less, and the first
spoken word behind a thought comes a third to two thirds sooner; a cold prompt takes 0.1 to 0.2 s longer
(docs/performance-gpu.md).
The check counts what MLX caches, graphs and more, over the life of a process, and refuses work for good once that was
more than twice what the cache holds (mlx 0.32, backend/cuda/lru_cache.h; lablup/mlxcel #818).
"""


def ensure_fast_blas() -> str | None:
    """Loads MKL or OpenBLAS for the whole process; says which, or `None` where there is none or none is needed.

    Sets `FOR_A_CPU` or `FOR_CUDA`, too. Has an effect before the first `import mlx.core` only. Never raises. Does
    nothing on macOS, where Accelerate is fast.
    """
    if sys.platform != "linux":
        return None
    if "mlx.core" in sys.modules and not _loaded:
        logger.warning("MLX was imported before a fast BLAS was loaded: it will be slow on this CPU")
        return None
    if _loaded:
        return _loaded[0]
    for name, value in (FOR_CUDA if _has_cuda() else FOR_A_CPU).items():
        os.environ.setdefault(name, value)
    for name, path in _candidates():
        try:
            ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
        except OSError:
            continue
        _loaded.append(name)
        return name
    return None


_loaded: list[str] = []
"""What this process has loaded: nothing, or one name."""


def _candidates() -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    if platform.machine() in {"x86_64", "AMD64"}:
        found += [("mkl", str(path)) for path in _mkl_files()]
    return [*found, ("openblas", "libopenblas.so.0")]


def _mkl_files() -> list[Path]:
    """`libmkl_rt.so.*` of the `mkl` wheel, which puts it into the environment's own `lib`."""
    try:
        files = metadata.files("mkl") or []
    except metadata.PackageNotFoundError:
        files = []
    paths = [Path(str(file.locate())).resolve() for file in files if file.name.startswith("libmkl_rt.so")]
    paths += sorted(Path(sys.prefix, "lib").glob("libmkl_rt.so*"))
    return [path for path in paths if path.is_file()]


def _has_cuda() -> bool:
    return any(_installed(name) for name in ("mlx-cuda", "mlx-cuda-12", "mlx-cuda-13"))


def _installed(distribution: str) -> bool:
    try:
        metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return False
    return True
