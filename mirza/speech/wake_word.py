"""A wake word, for who does not want Mirza to listen all the time: pymicro-wakeword, in 0.05 ms a block."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

from __future__ import annotations

import numpy as np

from mirza.audio.base import Samples
from mirza.errors import ModelUnsupported, SettingsError

WORDS = ("hey_jarvis", "okay_nabu", "alexa", "hey_mycroft")
"""The words for which pymicro-wakeword carries a model. Nobody has trained one for "Mirza" yet."""


class MicroWakeWord:
    """Listens for one word with a streaming model of microWakeWord (Apache-2.0)."""

    def __init__(self, word: str) -> None:
        """Loads the model.

        Raises:
            SettingsError: there is no model for `word`.
            ModelUnsupported: the package is not installed, or not for this system.
        """
        if word not in WORDS:
            raise SettingsError(f"There is no wake word {word!r}.", f"There are: {', '.join(WORDS)}.")
        try:
            from pymicro_wakeword import MicroWakeWord as Model
            from pymicro_wakeword import MicroWakeWordFeatures
            from pymicro_wakeword import Model as Builtin
        except ImportError as error:
            raise ModelUnsupported(
                "Wake words need the package pymicro-wakeword.", "Install it: `pip install 'mirza[wake]'`."
            ) from error
        self._model = Model.from_builtin(Builtin(word))
        self._features = MicroWakeWordFeatures()

    def heard(self, samples: Samples) -> bool:
        """Whether the word ended in these samples."""
        pcm = (np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes()
        heard = [self._model.process_streaming(features) for features in self._features.process_streaming(pcm)]
        return any(heard)
