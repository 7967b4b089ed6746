"""What both consoles show, as text: safe characters, a turn's stages, and statistics."""

from __future__ import annotations

from collections.abc import Sequence

from mirza.events import TurnMeasured
from mirza.metrics import stages
from mirza.storage import well_formed

_PICTURES = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\n\t"}
_CONTROLS = _PICTURES | {0x7F: 0x2421, 0x0D: None} | dict.fromkeys(range(0x80, 0xA0), 0xFFFD)


def printable(text: str) -> str:
    """The text with nothing in it that a terminal would obey.

    What a model or a stored conversation holds must not move the cursor, set a title or read the clipboard. Control
    characters become their pictures (U+2400 and on), half a surrogate pair becomes U+FFFD.
    """
    if text.isascii() and text.isprintable():
        return text
    return well_formed(text.translate(_CONTROLS))


def statistics(turns: Sequence[TurnMeasured]) -> str:
    """The last turn in full and all turns in one line, for `/stats` and `--stats`."""
    if not turns:
        return "Nothing was measured yet."
    last, llm = turns[-1], turns[-1].llm
    waited = " + ".join(f"{stage.name} {duration(stage.seconds)}" for stage in stages(last))
    lines = [
        f"tokens    {llm.thinking_tokens} thought, {llm.speech_tokens} said, {speed(last)}",
        f"context   {llm.prompt_tokens} tokens, {percent(cached_share(last))} of them from the cache",
    ]
    if waited:
        whole = f" = {duration(last.voice_to_voice_s)}" if last.voice_to_voice_s is not None else ""
        lines.append(f"waited    {waited}{whole}")
    if llm.drafted_tokens:
        lines.append(f"drafted   {llm.drafted_tokens} tokens, {llm.accepted_tokens} of them right")
    if llm.dropped_messages:
        lines.append(f"dropped   {llm.dropped_messages} messages: the context was full")
    lines.extend(f"note      {note}" for note in llm.notes)
    said = sum(turn.llm.speech_tokens for turn in turns)
    thought = sum(turn.llm.thinking_tokens for turn in turns)
    if last.model:
        lines.append(f"model     {printable(last.model)}")
    lines.append(f"in all    {len(turns)} turns, {thought} tokens thought, {said} said")
    return "\n".join(lines)


def cached_share(measured: TurnMeasured) -> float:
    """How much of the prompt was in the cache, 0 .. 1."""
    return measured.llm.reused_tokens / measured.llm.prompt_tokens if measured.llm.prompt_tokens else 0.0


def percent(share: float) -> str:
    return f"{share:.0%}"


def speed(measured: TurnMeasured) -> str:
    """Tokens a second, or a dash where there were too few to tell."""
    rate = measured.llm.tokens_per_s
    return f"{rate:.1f} tok/s" if rate else "– tok/s"


def duration(seconds: float) -> str:
    """`85 ms`, `1.24 s`, `12.3 s`."""
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.1f} s"
