"""Short phrases that say "I am thinking", in the user's language, never the same twice running."""

from __future__ import annotations

from mirza.llm.base import BaseLlm

_CUES = {
    "en": ("Let me think.", "One moment.", "Let me see."),
    "fr": ("Je réfléchis.", "Un instant.", "Voyons voir."),
    "de": ("Ich überlege.", "Einen Moment.", "Mal sehen."),
    "es": ("Déjame pensar.", "Un momento.", "A ver."),
    "zh": ("让我想想。", "请稍等。", "我看看。"),
    "ja": ("考えています。", "少々お待ちください。", "そうですね。"),
}


class Cues:
    """Takes turns among the phrases of a language."""

    def __init__(self) -> None:
        self._next = 0

    def next(self, language: str) -> str:
        """The next phrase; English where a language has none."""
        phrases = _CUES.get(language, _CUES["en"])
        self._next += 1
        return phrases[(self._next - 1) % len(phrases)]


def expected_wait_s(llm: BaseLlm) -> float:
    """Seconds that the thinking budget may take, by the speed of the last answer; 0 where that is not known."""
    if llm.budget.seconds is not None:
        return llm.budget.seconds
    speed = llm.stats.tokens_per_s
    return llm.budget.tokens / speed if speed else 0.0
