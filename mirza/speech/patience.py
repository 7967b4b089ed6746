"""How long a silence ends a turn: short after a finished sentence, longer after "and then I ..."."""

from __future__ import annotations

from mirza.settings import TurnSettings
from mirza.speech.base import Transcript
from mirza.speech.phrases import unfinished

SURE_S = 0.05
"""Silence beyond `stop_s` after a turn that is surely over."""
UNSURE_S = 0.6
"""Silence beyond `stop_s` after one that is just as likely to go on."""


def patience(complete: float | None, transcript: Transcript, settings: TurnSettings) -> float:
    """Seconds of silence, counted from the last voice, after which the turn is over.

    `complete` is the end-of-turn model's probability, by intonation; the words are the second witness. Both must say
    that the turn is over for the short wait; a turn that breaks off in mid-sentence gets the long one.
    """
    threshold = settings.complete_threshold
    if unfinished(transcript.text, transcript.language):
        return settings.max_wait_s
    if complete is None:
        return min(settings.stop_s + UNSURE_S, settings.max_wait_s)
    if complete >= threshold:
        doubt = (1.0 - complete) / max(1.0 - threshold, 1e-6)
        return min(settings.stop_s + SURE_S + (UNSURE_S - SURE_S) * doubt**2, settings.max_wait_s)
    doubt = 1.0 - complete / max(threshold, 1e-6)
    return settings.stop_s + UNSURE_S + (settings.max_wait_s - settings.stop_s - UNSURE_S) * doubt
