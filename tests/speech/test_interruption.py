"""A voice over the assistant's own, and what its first third of a second is taken for."""

from __future__ import annotations

from dataclasses import replace

from mirza.audio.base import Samples
from mirza.audio.files import RecordedSound
from mirza.events import Event, Interrupted, Resumed, Speaking
from mirza.speech.base import Stt, Transcript
from mirza.testing import Talk, ToneStt, converse, said, silence

STORY = "Once upon a time. There was a king. He had a son."


class Mishears(ToneStt):
    """Takes the first looks at a voice over the assistant's own for these words."""

    def __init__(self, *looks: str) -> None:
        super().__init__()
        self._looks = list(looks)

    async def transcribe(self, samples: Samples, *, language: str | None = None, partial: bool = False) -> Transcript:
        heard = await super().transcribe(samples, language=language, partial=partial)
        over = partial and "story" not in heard.text and "tell" not in heard.text
        return Transcript(self._looks.pop(0), "en") if over and self._looks else heard


def story(over: Samples, *looks: str, stt: Stt | None = None) -> Talk:
    """`over` is said while the king's sentence is audible."""

    def interject(event: Event, sound: RecordedSound) -> None:
        if isinstance(event, Speaking) and "king" in event.text:
            sound.say(over)

    return converse(
        said("tell me a story"), silence(2), replies=[STORY, "Fine."], stt=stt or Mishears(*looks), interject=interject
    )


def test_the_beginning_of_mhm_that_was_misheard_as_a_word_stops_nothing():
    """Moonshine hears "And?", then "M. H. M..", in the recording of the talks."""
    talk = story(said("mhm", word_s=0.9), "And?", "M. H. M..")

    assert talk.of(Resumed)
    assert not talk.of(Interrupted)
    assert talk.heard == ["tell me a story"]
    assert talk.answers == [STORY]


def test_words_that_were_seen_twice_take_the_floor_while_the_voice_goes_on():
    talk = story(said("what about Spain and the sea and the ships in the harbour?"))

    (interrupted,) = talk.of(Interrupted)
    assert interrupted.at_s < talk.of(Speaking)[1].at_s + 1.0
    assert talk.heard[1:] == ["what about Spain and the sea and the ships in the harbour?"]


def test_a_single_word_that_is_over_takes_the_floor():
    talk = story(said("giraffes", word_s=0.4))

    assert talk.of(Interrupted)
    assert talk.heard[1:] == ["giraffes"]


def test_assent_that_was_taken_for_words_and_took_the_floor_is_not_answered():
    talk = story(said("mhm", word_s=0.9), "And", "And then")

    assert talk.of(Interrupted)
    assert talk.heard == ["tell me a story"]
    assert len(talk.answers) == 1


class Guesses(ToneStt):
    """Is not sure of what is said over the assistant's own voice."""

    async def transcribe(self, samples: Samples, *, language: str | None = None, partial: bool = False) -> Transcript:
        heard = await super().transcribe(samples, language=language, partial=partial)
        return replace(heard, sure="story" in heard.text)


def test_laughter_that_is_taken_for_words_stops_nothing():
    talk = story(said("cosmos was high"), stt=Guesses())

    assert talk.of(Resumed)
    assert not talk.of(Interrupted)
    assert talk.answers == [STORY]


def test_stop_stops_however_unsure_it_is():
    talk = story(said("stop"), stt=Guesses())

    assert talk.of(Interrupted)
