"""How much of a measurement fits into the time there is for it; what does not is said, never left out in silence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

ATTENTION = 1.5
"""A prompt's cost grows at least in proportion to it, and at most with its square: between a short and a long one."""


@dataclass(slots=True)
class Allowance:
    """Time for prompts of growing length, each fed several times."""

    runs: int
    """Wanted of each."""
    seconds: float = 0.0
    """For all of them; 0 is as long as it takes."""
    notes: list[str] = field(default_factory=list[str])
    """What did not fit, in a sentence each."""
    _spent_s: float = 0.0
    _last: tuple[int, float] | None = None
    """Tokens of the last prompt, and what one run of it took."""

    def runs_of(self, tokens: int) -> Iterator[int]:
        """Numbers the runs of a prompt of so many tokens, as long as the next one fits."""
        for number in range(self.runs):
            expected_s, left_s = self._expected_s(tokens), self.seconds - self._spent_s
            if self.seconds and expected_s > left_s:
                self._leave_out(tokens, number, expected_s, left_s)
                return
            yield number

    def took(self, tokens: int, seconds: float) -> None:
        """Notes what a run took."""
        self._spent_s += seconds
        self._last = (tokens, seconds)

    def _expected_s(self, tokens: int) -> float:
        if self._last is None:
            return 0.0
        known, seconds = self._last
        return seconds * (tokens / known) ** ATTENTION

    def _leave_out(self, tokens: int, done: int, expected_s: float, left_s: float) -> None:
        what = f"{done} of {self.runs} runs with {tokens:,} tokens" if done else f"nothing with {tokens:,} tokens"
        self.notes.append(
            f"{what}: one run takes about {expected_s:.0f} s, and {max(left_s, 0.0):.0f} of {self.seconds:.0f} s "
            "were left"
        )
