"""`Samples`: what sound is made of here."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float32]
"""Mono float32 `(n,)`, -1 .. 1."""
