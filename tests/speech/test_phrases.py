"""What small phrases mean."""

from __future__ import annotations

import pytest

from mirza.llm.base import ThinkingBudget
from mirza.speech.phrases import Meaning, meaning, thinking_request, unfinished


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Mhm.", "en"),
        ("Mm-hmm.", "en"),
        ("Uh-huh", "en"),
        ("Yeah, okay.", "en"),
        ("I see.", "en"),
        ("Ha ha ha!", "en"),
        ("Hahaha", "fr"),
        ("D’accord.", "fr"),
        ("Ah bon", "fr"),
        ("Oui, oui.", "fr"),
        ("Ja, genau.", "de"),
        ("Vale, vale", "es"),
        ("嗯嗯", "zh"),
        ("うん", "ja"),
        ("Hmmmm", "en"),
        ("Nhm.", "en"),
    ],
)
def test_assent_and_laughter_leave_the_assistant_its_turn(text: str, language: str):
    assert meaning(text, language) is Meaning.ASSENT


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Stop.", "en"),
        ("The stop.", "en"),  # what Moonshine makes of a clear "Stop."
        ("Wade weight.", "en"),  # and of "Wait, wait."
        ("Uh, stop!", "en"),
        ("stop!", "fr"),
        ("Wait!", "en"),
        ("Be quiet", "en"),
        ("That's enough.", "en"),
        ("Arrête !", "fr"),
        ("Tais-toi.", "fr"),
        ("Ça suffit", "fr"),
        ("Attends", "fr"),
        ("Hör auf!", "de"),
        ("Basta", "es"),
        ("停", "zh"),
        ("止めて", "ja"),
        ("Stop", "ja"),
    ],
)
def test_stop_is_understood_in_each_language(text: str, language: str):
    assert meaning(text, language) is Meaning.STOP


@pytest.mark.parametrize("text", ["What about Spain?", "No, I meant Rome.", "Okay, and what about Italy?", "stop sign"])
def test_anything_else_wants_the_floor(text: str):
    assert meaning(text) is Meaning.SPEECH


@pytest.mark.parametrize("text", ["", "...", "?!", " ", "-"])
def test_punctuation_alone_says_nothing(text: str):
    assert meaning(text) is Meaning.NOTHING


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("And then I", "en"),
        ("I want to know the", "en"),
        ("Tell me about,", "en"),
        ("So I was thinking...", "en"),
        ("I'd like to ask whether", "en"),
        ("Je voudrais savoir si", "fr"),
        ("Parle-moi de la", "fr"),
        ("Ich möchte wissen, ob die", "de"),
        ("Quiero saber por", "es"),
    ],
)
def test_a_sentence_that_breaks_off_is_unfinished(text: str, language: str):
    assert unfinished(text, language)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("What is the capital of France?", "en"),
        ("What are you looking for?", "en"),
        ("Turn it on", "en"),
        ("Quelle heure est-il ?", "fr"),
        ("", "en"),
    ],
)
def test_a_whole_sentence_is_not(text: str, language: str):
    assert not unfinished(text, language)


@pytest.mark.parametrize(
    ("text", "language", "tokens", "rest"),
    [
        ("Think about it properly.", "en", 512, ""),
        ("Please think harder: why is the sky blue?", "en", 512, "Please why is the sky blue?"),
        ("Réfléchis bien.", "fr", 512, ""),
        ("Réfléchis bien : combien font trois et quatre ?", "fr", 512, "combien font trois et quatre ?"),
        ("Just answer.", "en", 0, ""),
        ("Réponds simplement.", "fr", 0, ""),
        ("Don't think about it, what is two and two?", "en", 0, "what is two and two?"),
        ("仔细想想。", "zh", 512, ""),
    ],
)
def test_wishes_about_thinking_are_understood(text: str, language: str, tokens: int, rest: str):
    request = thinking_request(text, language, ThinkingBudget(100))
    assert request is not None
    assert (request.budget.tokens, request.rest) == (tokens, rest)


def test_thinking_harder_twice_doubles_the_budget():
    request = thinking_request("Think harder.", "en", ThinkingBudget(512))
    assert request is not None
    assert request.budget.tokens == 1024


@pytest.mark.parametrize(
    "text", ["I think more people like tea.", "What do you think?", "He will just answer the door."]
)
def test_talk_about_thinking_is_no_wish(text: str):
    assert thinking_request(text, "en", ThinkingBudget()) is None
