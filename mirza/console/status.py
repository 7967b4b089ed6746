"""The lines that say how things are: the status bar, what is most worth knowing first, and the microphone's line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from mirza.console.show import cached_share, duration, percent, printable, speed
from mirza.events import State, TurnMeasured
from mirza.metrics import Stage, stages

if TYPE_CHECKING:
    from mirza.console.session import Session

STATES = {
    State.LOADING: ("◌", "loading", "yellow"),
    State.LISTENING: ("●", "ready", "green"),
    State.HEARING: ("●", "hearing you", "cyan"),
    State.THINKING: ("●", "thinking", "magenta"),
    State.SPEAKING: ("●", "speaking", "blue"),
    State.CLOSED: ("○", "closed", "red"),
}

ANSWERING = ("●", "answering", "blue")
"""On a keyboard the conversation counts as thinking until the answer is over; the eye wants to know when it begins."""

METER = "▁▂▃▄▅▆▇█"
BAR_CELLS = 12
STAGE_MARKS = {"end of turn": ("░", "yellow"), "recognition": ("▒", "cyan"), "first token": ("▓", "magenta")}
LAST_MARK = ("█", "blue")
"""Each stage has a shade of its own, so that the bar can be read without colours."""


@dataclass(frozen=True, slots=True)
class Status:
    """What the status bar tells."""

    state: State
    model: str
    thinking: str
    context_tokens: int
    """How many tokens of conversation the model sees at most."""
    muted: bool = False
    answering: bool = False
    """Words of an answer are appearing."""
    last: TurnMeasured | None = None


def status_line(status: Status, width: int) -> Text:
    """One line of at most `width` cells: fields in order of worth, as many as fit."""
    line = Text(no_wrap=True)
    for field in _fields(status):
        gap = "  " if line else " "
        if cell_len(line.plain) + len(gap) + cell_len(field.plain) > width:
            continue
        line.append(gap)
        line.append_text(field)
    return line


def latency_bar(parts: list[Stage], cells: int = BAR_CELLS) -> Text:
    """The stages of a turn side by side, each as wide as its share of the time, at least one cell."""
    whole = sum(part.seconds for part in parts)
    bar = Text()
    for part in parts:
        mark, color = STAGE_MARKS.get(part.name, LAST_MARK)
        bar.append(mark * max(1, round(cells * part.seconds / whole)) if whole else mark, color)
    return bar


def _fields(status: Status) -> list[Text]:
    mark, word, color = ANSWERING if status.answering else STATES[status.state]
    fields = [Text.assemble((mark, color), " ", (word, "bold"))]
    if status.muted:
        fields.append(Text("muted", "bold red"))
    fields.append(Text(f"think {status.thinking}", "dim" if status.thinking == "off" else ""))
    last = status.last
    if last is not None:
        parts = stages(last)
        waited = last.voice_to_voice_s if last.voice_to_voice_s is not None else sum(part.seconds for part in parts)
        if parts:
            fields.append(Text.assemble(duration(waited), " ", latency_bar(parts)))
    fields.append(Text(printable(status.model), "dim"))
    if last is not None:
        if last.llm.tokens_per_s:
            fields.append(Text(speed(last)))
        used = last.llm.prompt_tokens + last.llm.speech_tokens
        fields.append(Text(f"context {percent(used / status.context_tokens)}"))
        if last.llm.prompt_tokens:
            fields.append(Text(f"cached {percent(cached_share(last))}"))
    return fields


def live_line(session: Session, heard: str) -> Text:
    """The microphone: how loud it is, who speaks, and what was understood so far."""
    if session.muted:
        return Text("○ muted")
    if session.settings.turns.push_to_talk and not session.talking:
        return Text("○ F3: press to talk")
    level = min(session.level * 6, 1.0) ** 0.5  # speech is about 0.03 .. 0.15 RMS
    meter = METER[min(int(level * len(METER)), len(METER) - 1)]
    who = {State.HEARING: "you", State.SPEAKING: "Mirza"}.get(session.state, "")
    if session.talking:
        who, heard = "listening: press F3 again to send", f" {heard}"
    return Text.assemble(("● ", "red"), (meter, "green"), " ", (who, "bold"), " " if who else "", printable(heard))
