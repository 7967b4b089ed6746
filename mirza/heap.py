"""Memory that a model gave back to the C library goes on to the system.

glibc keeps what is freed in the middle of its heap, and takes buffers of up to 32 MB from there once one of that size
was freed (mallopt(3), M_MMAP_THRESHOLD). So a process whose model was unloaded kept 470 of the 700 MB it had had
(SmolLM2-135M, MLX 0.32.4 on a CPU), and the next conversation's buffers did not fit into the gaps, though nothing of
the last was alive.
"""

from __future__ import annotations

import ctypes
import sys


def give_back_freed() -> None:
    """Hands freed memory to the system, where the C library keeps it (malloc_trim(3)); elsewhere does nothing."""
    if not sys.platform.startswith("linux"):
        return
    library = ctypes.CDLL(None)
    if hasattr(library, "malloc_trim"):  # musl has none
        library.malloc_trim(0)
