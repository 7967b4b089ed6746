"""Thoughts and tool calls that a server leaves in the text, taken out again while it streams.

A server that knows its model sends thoughts and calls in fields of their own. One that does not sends
`<think>...</think>` and `<tool_call>...</tool_call>` as text, cut anywhere by the stream. Some templates even open the
thought themselves, so that only `</think>` is ever seen. What is a tag and what is an answer *about* tags can then only
be told by place: a thought is at the very beginning, a call follows only where tools were offered; everywhere else a
tag is just text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from mirza.events import SpeechDelta, ThinkingDelta

SPELLINGS = ("think", "thinking", "thought", "reasoning", "reasoning_scratchpad")
"""As seen in the wild: Qwen and DeepSeek, and the four others in NousResearch/hermes-agent PR 77079."""

OPENING = tuple(f"<{name}>" for name in SPELLINGS)
CLOSING = tuple(f"</{name}>" for name in SPELLINGS)
CALL, END_OF_CALL = "<tool_call>", "</tool_call>"


@dataclass(frozen=True, slots=True)
class CallText:
    """The inside of a tool call, as the model wrote it."""

    text: str


Piece = ThinkingDelta | SpeechDelta | CallText


class TagSplitter:
    """Text in, thoughts, speech and calls out. Nothing is given out before it is certain what it is.

    `opened` says that the template has opened a thought: yes, no, or `None` where that is not known; then everything is
    held back until a closing tag or the end tells. `tools` says that tools were offered.
    """

    def __init__(self, *, opened: bool | None = False, tools: bool = False) -> None:
        self.undecided = opened is None
        """Whether text is held back because it may be a thought."""
        self.was_opened = False
        """Whether it turned out that the template had opened a thought."""
        self._tools = tools
        self._text = ""
        self._closing: tuple[str, ...] = CLOSING
        self._state: Callable[[], list[Piece] | None] = self._thought if opened else self._start

    @property
    def thinking(self) -> bool:
        """Whether what comes now is, or may be, a thought."""
        return self.undecided or self._state == self._thought

    def push(self, text: str) -> list[Piece]:
        """What has become certain with `text`."""
        self._text += text
        pieces: list[Piece] = []
        while (found := self._state()) is not None:
            pieces += found
        return pieces

    def flush(self, *, cut: bool = False) -> list[Piece]:
        """What is left when the stream has ended; `cut` says that it did not end by itself.

        A thought that was never closed stays a thought, and so does what may have been one when it was cut.
        """
        if self.undecided and cut:
            self.undecided, self._state = False, self._thought
        pieces = self.literal() if self.undecided else []
        rest, self._text = self._text, ""
        if rest:
            kind = {self._thought: ThinkingDelta, self._call: CallText}.get(self._state, SpeechDelta)
            pieces.append(kind(rest))
        return pieces

    def literal(self) -> list[Piece]:
        """From now on every tag is text, since the server has a field for thoughts. What was held back was speech."""
        self.undecided = False
        self._state = self._speech
        return self.push("")

    # Each state consumes what it is sure of and returns it, or returns `None` to wait for more.

    def _start(self) -> list[Piece] | None:
        text = self._text.lstrip().lower()
        if not text or any(tag.startswith(text) and tag != text for tag in OPENING):
            return None
        tag = next((tag for tag in OPENING if text.startswith(tag)), None)
        if tag is not None:
            self.undecided = False
            self._text = self._text.lstrip()[len(tag) :]
            self._closing = (f"</{tag[1:]}",)
            self._state = self._thought
        else:
            self._state = self._maybe if self.undecided else self._speech
        return []

    def _maybe(self) -> list[Piece] | None:
        if not self.undecided:
            self._state = self._speech
            return []
        if _find(self._text, CLOSING)[0] < 0:
            return None
        self.undecided, self.was_opened, self._state = False, True, self._thought
        return []

    def _thought(self) -> list[Piece] | None:
        at, end = _find(self._text, self._closing)
        if at < 0:
            return self._certain(self._closing, ThinkingDelta)
        thought, self._text = self._text[:at], self._text[end:]
        self._state = self._gap
        return [ThinkingDelta(thought)] if thought else []

    def _gap(self) -> list[Piece] | None:
        self._text = self._text.lstrip()
        if not self._text:
            return None
        self._state = self._speech
        return []

    def _speech(self) -> list[Piece] | None:
        if not self._tools:
            return self._certain((), SpeechDelta)
        at, end = _find(self._text, (CALL,))
        if at < 0:
            return self._certain((CALL,), SpeechDelta)
        speech, self._text = self._text[:at], self._text[end:]
        self._state = self._call
        return [SpeechDelta(speech)] if speech else []

    def _call(self) -> list[Piece] | None:
        at, end = _find(self._text, (END_OF_CALL,))
        if at < 0:
            return None
        call, self._text = self._text[:at], self._text[end:]
        self._state = self._gap
        return [CallText(call)]

    def _certain(self, tags: tuple[str, ...], kind: type[ThinkingDelta | SpeechDelta]) -> list[Piece] | None:
        """All but an end that may be the beginning of one of `tags`."""
        keep = max((_overlap(self._text, tag) for tag in tags), default=0)
        ready = self._text[: len(self._text) - keep]
        self._text = self._text[len(ready) :]
        return [kind(ready)] if ready else None


def _find(text: str, tags: tuple[str, ...]) -> tuple[int, int]:
    """Where the first of `tags` begins and ends; -1 where there is none."""
    match = re.search("|".join(map(re.escape, sorted(tags, key=len, reverse=True))), text, re.IGNORECASE)
    return match.span() if match else (-1, -1)


def _overlap(text: str, tag: str) -> int:
    """How many characters at the end of `text` begin `tag`."""
    sizes = range(min(len(text), len(tag) - 1), 0, -1)
    return next((size for size in sizes if tag.startswith(text[-size:].lower())), 0)
