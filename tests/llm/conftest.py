"""MLX in tests runs as it does in Mirza: with a fast BLAS, and without compiling kernels on a Linux CPU."""

from mirza.blas import ensure_fast_blas

ensure_fast_blas()
