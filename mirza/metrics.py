"""One record a turn, made by watching events go past. Nothing else in Mirza keeps a stopwatch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mirza.events import (
    AnswerEnded,
    AnswerStarted,
    CuePlayed,
    Event,
    Heard,
    LlmStats,
    Speaking,
    SpeechDelta,
    SpeechEnded,
    ThinkingDelta,
    ToolCall,
    TurnEnded,
    TurnMeasured,
    TurnReopened,
)


@dataclass(slots=True)
class _Turn:
    voice_end_s: float | None = None
    decided_s: float | None = None
    heard_s: float | None = None
    first_token_s: float | None = None
    first_audio_s: float | None = None
    text: str = ""


class Metrics:
    """Turns a conversation's events into `TurnMeasured` records."""

    def __init__(self) -> None:
        self._turn = _Turn()

    def watch(self, event: Event, at_s: float) -> TurnMeasured | None:
        """Takes the next event, which happened at `at_s`; returns a record when it ends a turn."""
        turn = self._turn
        match event:
            case SpeechEnded(voice_end_s):
                turn.voice_end_s = voice_end_s
            case TurnReopened():
                self._turn = _Turn()
            case TurnEnded(at_s=decided_s):
                turn.decided_s = decided_s
            case AnswerStarted():
                turn.first_token_s, turn.first_audio_s = None, None
            case Heard(text=text):
                turn.text, turn.heard_s = text, at_s
            case ThinkingDelta() | SpeechDelta() | ToolCall() if turn.first_token_s is None:
                turn.first_token_s = at_s
            case Speaking(at_s=audible_s) | CuePlayed(at_s=audible_s) if turn.first_audio_s is None:
                turn.first_audio_s = audible_s
            case AnswerEnded():
                self._turn = _Turn()
                return _measure(turn, event)
            case _:
                pass
        return None


def _measure(turn: _Turn, ended: AnswerEnded) -> TurnMeasured:
    """The stages are differences of moments, put in order: what was done early, in a wait, costs nothing."""
    moments = [turn.voice_end_s, turn.decided_s, turn.heard_s, turn.first_token_s, turn.first_audio_s]
    stages: list[float | None] = [None, None, None, None]
    before = turn.voice_end_s if turn.voice_end_s is not None else turn.heard_s
    for index, moment in enumerate(moments[1:]):
        typed = turn.voice_end_s is None
        if moment is None or before is None or (typed and index < 2):
            continue
        stages[index] = max(moment - before, 0.0)
        before = max(before, moment)
    whole = None
    if turn.first_audio_s is not None and turn.voice_end_s is not None:
        whole = turn.first_audio_s - turn.voice_end_s
    return TurnMeasured(
        turn=ended.turn,
        heard=turn.text,
        said=ended.said,
        end_of_turn_s=stages[0],
        stt_s=stages[1],
        first_token_s=stages[2],
        first_audio_s=stages[3],
        voice_to_voice_s=whole,
        interrupted=ended.interrupted,
        llm=_sum(ended.runs),
    )


def _sum(runs: Sequence[LlmStats]) -> LlmStats:
    """One answer may ask the model several times, with tools in between: counts add up, times are the first run's."""
    if not runs:
        return LlmStats()
    first = runs[0]
    return LlmStats(
        prompt_tokens=runs[-1].prompt_tokens,
        prefilled_tokens=sum(run.prefilled_tokens for run in runs),
        reused_tokens=first.reused_tokens,
        thinking_tokens=sum(run.thinking_tokens for run in runs),
        speech_tokens=sum(run.speech_tokens for run in runs),
        drafted_tokens=sum(run.drafted_tokens for run in runs),
        accepted_tokens=sum(run.accepted_tokens for run in runs),
        dropped_messages=sum(run.dropped_messages for run in runs),
        first_token_s=first.first_token_s,
        first_speech_s=first.first_speech_s,
        decode_s=sum(run.decode_s for run in runs),
        notes=tuple(note for run in runs for note in run.notes),
    )


@dataclass(frozen=True, slots=True)
class Stage:
    """A part of the time that the user waited."""

    name: str
    seconds: float


def stages(turn: TurnMeasured) -> list[Stage]:
    """The stages that this turn had, in order; they add up to `voice_to_voice_s`."""
    times = (
        ("end of turn", turn.end_of_turn_s),
        ("recognition", turn.stt_s),
        ("first token", turn.first_token_s),
        ("first sound", turn.first_audio_s),
    )
    return [Stage(name, seconds) for name, seconds in times if seconds is not None]


def turn_object(turn: TurnMeasured) -> dict[str, object]:
    """A turn as the JSON object of `--json`; times in seconds, `null` where the turn had no such stage."""
    return {
        "turn": turn.turn,
        "heard": turn.heard,
        "said": turn.said,
        "interrupted": turn.interrupted,
        "model": turn.model,
        "thinking_tokens": turn.llm.thinking_tokens,
        "speech_tokens": turn.llm.speech_tokens,
        "prompt_tokens": turn.llm.prompt_tokens,
        "prefilled_tokens": turn.llm.prefilled_tokens,
        "reused_tokens": turn.llm.reused_tokens,
        "tokens_per_s": round(turn.llm.tokens_per_s, 2),
        "end_of_turn_s": _rounded(turn.end_of_turn_s),
        "stt_s": _rounded(turn.stt_s),
        "first_token_s": _rounded(turn.first_token_s),
        "first_audio_s": _rounded(turn.first_audio_s),
        "voice_to_voice_s": _rounded(turn.voice_to_voice_s),
    }


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 4)
