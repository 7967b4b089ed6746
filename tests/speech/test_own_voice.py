"""The assistant's own words, told from the user's."""

from __future__ import annotations

import pytest

from mirza.speech.own_voice import OwnVoice

SAID = "The capital of France is Paris. It lies on the river Seine, and two million people live there."


def own_voice() -> OwnVoice:
    voice = OwnVoice()
    voice.says(SAID, 10.0)
    return voice


@pytest.mark.parametrize(
    "heard",
    [
        "The capital of France is Paris.",
        "It lies on the river Seine",
        "it lies on the river sane and two million people",  # misheard here and there
        "France is",
        "Paris",
    ],
)
def test_an_echo_is_its_own_voice(heard: str):
    assert own_voice().said(heard, 9.0)


@pytest.mark.parametrize("heard", ["What about Spain?", "Stop.", "And how many people live in Lyon?", "Thank you"])
def test_a_user_is_not(heard: str):
    assert not own_voice().said(heard, 9.0)


def test_the_same_words_later_are_the_users():
    assert not own_voice().said("The capital of France is Paris?", 12.0)


def test_it_is_not_muddled_by_other_scripts():
    voice = OwnVoice()
    voice.says("法国的首都是巴黎。塞纳河穿过这座城市。", 1.0)
    assert voice.said("法国的首都是巴黎", 1.0)
    assert not voice.said("西班牙呢？", 1.0)
