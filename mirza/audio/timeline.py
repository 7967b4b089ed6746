"""`Timeline`: which sample was in the air when, from timestamps that shake."""

from __future__ import annotations

from collections import deque
from statistics import median

KEPT = 63
"""Timestamps looked at: at 10 ms each, about the last half second."""

JUMP_S = 0.02
"""A timestamp this far off is a mistake, unless several in a row agree: then samples were lost."""

AGREE = 8


class Timeline:
    """The clock time of sample 0 of a stream whose rate is `rate` hertz, followed as two clocks drift apart."""

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._zeros: deque[float] = deque(maxlen=KEPT)
        self._strays: list[float] = []

    def saw(self, index: int, at_s: float) -> None:
        """Sample `index` was, or will be, in the air at `at_s`."""
        zero = at_s - index / self._rate
        if self._zeros and abs(zero - self.zero_s()) > JUMP_S:
            self._strays.append(zero)
            if len(self._strays) < AGREE:
                return
            self._zeros.clear()
            self._zeros.extend(self._strays)
        else:
            self._zeros.append(zero)
        self._strays.clear()

    def known(self) -> bool:
        """Whether there was a timestamp yet."""
        return bool(self._zeros)

    def zero_s(self) -> float:
        """When sample 0 was in the air."""
        return median(self._zeros)
