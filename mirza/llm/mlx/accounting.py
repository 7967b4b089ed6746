"""What one answer cost: counted where tokens are fed and where they come out, timed on one clock."""

from __future__ import annotations

from dataclasses import dataclass

from mirza.events import LlmStats
from mirza.llm.mlx.answer import AnswerReader
from mirza.llm.mlx.speculation import DraftPolicy


@dataclass(slots=True)
class Account:
    """Filled in while an answer is given. Times are seconds of the engine's clock, 0 where nothing came."""

    asked_at: float
    notes: tuple[str, ...]
    dropped_messages: int = 0
    prompt_tokens: int = 0
    reused_tokens: int = 0
    prefilled_tokens: int = 0
    first_at: float = 0.0
    last_at: float = 0.0
    speech_at: float = 0.0

    def tick(self, now: float, speaks: bool) -> None:
        """A token came; `speaks` says whether the answer itself has begun."""
        self.first_at = self.first_at or now
        self.last_at = now
        if speaks:
            self.speech_at = self.speech_at or now

    def stats(self, reader: AnswerReader, policy: DraftPolicy) -> LlmStats:
        """The record of the answer, however it ended."""
        return LlmStats(
            prompt_tokens=self.prompt_tokens,
            prefilled_tokens=self.prefilled_tokens,
            reused_tokens=self.reused_tokens,
            thinking_tokens=len(reader.thought_ids),
            speech_tokens=len(reader.answer_ids),
            drafted_tokens=policy.drafted,
            accepted_tokens=policy.accepted,
            dropped_messages=self.dropped_messages,
            first_token_s=self.first_at - self.asked_at if self.first_at else 0.0,
            first_speech_s=self.speech_at - self.asked_at if self.speech_at else 0.0,
            decode_s=self.last_at - self.first_at,
            notes=self.notes,
        )
