"""What recognisers make up: courtesies on silence, and the same words over and over. One guard for all of them.

Recognisers were trained on subtitles, and on silence or noise they write what subtitles end with ("Thank you for
watching!", "Amara.org"). Nobody can tell such a text from a real "thank you" by its words, so the sound decides: a text
stands only if there was voice to say it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from mirza.audio.base import BLOCK, MIC_RATE, Samples
from mirza.speech.vad import SileroVad, voice_probabilities

VOICE = 0.5
SILENCE_PEAK = 10 ** (-70 / 20)
"""Below this everything is silence: no microphone is that quiet while somebody speaks into it."""
TARGET_PEAK = 0.5
MOST_GAIN = 30.0

LONGEST_CHUNK_S = 24.0
EARLIEST_CUT_S = 12.0

FASTEST_WORDS_PER_S = 7.0
"""Of voice. Quick talkers reach 5 (300 words a minute); a recogniser in a loop writes more."""
FASTEST_CHARACTERS_PER_S = 16.0
"""The same for scripts without spaces."""
LONGEST_MEAN_WORD = 14
LONGEST_OUTRO = 80
LOOP_REPEATS = 4
LOOP_WORDS = 8

OUTROS = re.compile(
    r"(thanks?( you)?( (so|very) much)? for (watching|listening|viewing)|please (like and )?subscribe|subtitles? by|"
    r"subtitles made|amara\.? ?org|sous[- ]titr|merci d'avoir (regardé|visionné)|abonnez[- ]vous|"
    r"ご視聴|チャンネル登録|altyazı|untertitel|sottotitoli|subtítulos|transcribed by|see you in the next video)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Voiced:
    """A recording as the recogniser should get it."""

    samples: Samples
    """Brought to an even loudness, `(n,)`."""
    probabilities: Samples
    """Voice in each block of `samples`, 0 .. 1."""

    @property
    def voice_s(self) -> float:
        """Seconds of voice."""
        return float((self.probabilities > VOICE).sum()) * BLOCK / MIC_RATE

    @property
    def no_speech(self) -> float:
        """How sure it is that nobody spoke, 0 .. 1."""
        return 1.0 - float(self.probabilities.max(initial=0.0))


class Guard:
    """Listens for voice with a detector of its own; used on one thread."""

    def __init__(self) -> None:
        self._vad = SileroVad()

    def listen(self, samples: Samples) -> Voiced:
        """Finds the voice in a recording, after bringing its loudness up or down."""
        clean = np.nan_to_num(np.array(samples, np.float32), nan=0.0, posinf=1.0, neginf=-1.0)
        peak = float(np.abs(clean).max(initial=0.0))
        if peak < SILENCE_PEAK:
            return Voiced(clean, np.zeros(len(clean) // BLOCK, np.float32))
        heard = voice_probabilities(self._vad, clean)
        louder = clean * min(TARGET_PEAK / peak, MOST_GAIN)
        if heard.max(initial=0.0) < VOICE and peak < TARGET_PEAK:
            # Too soft for the detector, perhaps: it is asked once more, since a far speaker is one all the same.
            heard = voice_probabilities(self._vad, louder)
        return Voiced(louder, heard)

    def chunks(self, voiced: Voiced) -> list[Samples]:
        """The recording in parts of 24 s at most, cut where there is least voice."""
        parts: list[Samples] = []
        start = 0
        while len(voiced.samples) - start > LONGEST_CHUNK_S * MIC_RATE:
            first = (start + int(EARLIEST_CUT_S * MIC_RATE)) // BLOCK
            last = (start + int(LONGEST_CHUNK_S * MIC_RATE)) // BLOCK
            around = np.convolve(voiced.probabilities[first:last], np.ones(5) / 5, mode="same")
            cut = (first + int(np.argmin(around))) * BLOCK
            parts.append(voiced.samples[start:cut])
            start = cut
        return [*parts, voiced.samples[start:]]

    def check(self, text: str, voiced: Voiced) -> str:
        """`text` as far as it can have been said: empty where nobody spoke, a loop once."""
        words = text.split()
        if not words or voiced.voice_s < 2 * BLOCK / MIC_RATE:
            return ""
        text = " ".join(words)
        space, fastest = " ", FASTEST_WORDS_PER_S
        if len(text) / len(words) > LONGEST_MEAN_WORD:  # a script without spaces
            words, space, fastest = list(text), "", FASTEST_CHARACTERS_PER_S
        if len(words) / voiced.voice_s <= fastest:
            return text
        if OUTROS.search(text) and len(text) <= LONGEST_OUTRO:
            return ""
        return without_loops(words, space)


def without_loops(words: list[str], space: str = " ") -> str:
    """The words with each run of four and more repeats said once; nothing if that is all there was."""
    bare = [re.sub(r"\W", "", word).lower() for word in words]
    kept: list[str] = []
    looped = 0
    at = 0
    while at < len(words):
        length, repeats = _loop_at(bare, at)
        kept += words[at : at + length]
        looped += length if repeats > 1 else 0
        at += length * repeats
    return "" if looped == len(kept) else space.join(kept)


def _loop_at(words: list[str], at: int) -> tuple[int, int]:
    """Length and number of the repeats that begin at `at`; `(1, 1)` where nothing repeats."""
    for length in range(1, LOOP_WORDS + 1):
        unit = words[at : at + length]
        repeats = 1
        while words[at + repeats * length : at + (repeats + 1) * length] == unit:
            repeats += 1
        if repeats >= LOOP_REPEATS:
            return length, repeats
    return 1, 1
