"""How quick the machine itself is, before and after a part of a run: fixed work that no change of Mirza's can touch.

A virtual machine's neighbours take its memory and its cores, and no load average says so: the same program took twice
as long in one hour as in another. What changed no more than this work did is not the program's doing.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np

REPEATS = 15
MEMORY_BYTES = 64 * 2**20
"""More than a processor's cache."""
SIZE = 768
STEPS = 200_000


def pace() -> dict[str, float]:
    """Seconds for a loop of Python, for a copy in memory, and for a product of matrices: medians, in half a second."""
    source = np.zeros(MEMORY_BYTES, np.uint8)
    target = np.empty_like(source)
    square = np.ones((SIZE, SIZE), np.float32)
    work: dict[str, Callable[[], object]] = {
        "python": lambda: sum(number * number for number in range(STEPS)),
        "memory": lambda: np.copyto(target, source),
        "product": lambda: square @ square,
    }
    for one in work.values():
        one()  # threads are started, memory is there
    return {name: statistics.median(_seconds(one) for _ in range(REPEATS)) for name, one in work.items()}


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
