"""`Markup`: from what the model writes to clean text, character by character accounted for.

Blocks (headings, items, tables, code) are known at the start of a line, everything else within it (`inline.py`). Hidden
text (thoughts, tool calls) goes before both, wherever it begins. No Markdown library is used: those need the whole
document, and here the first sentence must leave while the second is being written (docs/decisions).
"""

from __future__ import annotations

import re

import mirza.speech.text.hidden as hidden
import mirza.speech.text.html as html
from mirza.speech.text.blocks import Fence, read_line_start
from mirza.speech.text.events import Event
from mirza.speech.text.hidden import JsonEnd
from mirza.speech.text.inline import read_inline
from mirza.speech.text.plain import ALL_PLAIN, PLAIN
from mirza.speech.text.source import Source

_COMMENT = re.compile(r"<!--")
_COMMENT_END = re.compile(r"-->")
_HIDDEN_ENDS = re.compile(r"[>\]}▷\n]")
_FENCE_ENDS = re.compile(r"[\n`~]")
_LINK_ENDS = re.compile(r"[\]\n]")
_DECLARATION = re.compile(r"<[!?][^<>\n]{0,200}>")
_DECLARATION_BEGUN = re.compile(r"<[!?][^<>\n]{0,200}\Z")


class Markup:
    """Push what the model writes, take events; `flush` at the end.

    `in_thought` says that the text begins inside a thought that the prompt opened.
    """

    def __init__(self, *, in_thought: bool = False) -> None:
        self._source = Source()
        self._unseen: re.Pattern[str] | JsonEnd | Fence | None = hidden.THOUGHT_CLOSES if in_thought else None
        """What ends the part of the text that is being passed over: a thought, a tool call, code."""

    @property
    def held(self) -> str:
        """What is held back, since it may become markup."""
        return self._source.held

    @property
    def parts_at_line_end(self) -> bool:
        """Whether the end of the line may part the text at once: it is a heading or a row, or was not begun."""
        return self._source.hard_line or self._source.line_start

    @property
    def wakes(self) -> re.Pattern[str] | None:
        """What has to come before what is held back, or hidden, can end; `None` where that is not known."""
        if self._unseen is not None:
            return _FENCE_ENDS if isinstance(self._unseen, Fence) else _HIDDEN_ENDS
        source = self._source
        held = source.held if source.at < len(source.text) else ""
        return _LINK_ENDS if held and held[0] == "[" and not _LINK_ENDS.search(held) else None

    def push(self, text: str) -> list[Event]:
        """What `text`, after everything before it, makes certain."""
        source = self._source
        if (
            source.settled
            and ALL_PLAIN.fullmatch(text)
            and (text[0] != " " or not source.before.isspace())
            and self._unseen is None
        ):
            return [source.all_plain(text)]
        source.add(text)
        return self._read()

    def flush(self) -> list[Event]:
        """What is left when the text has ended."""
        self._source.final = True
        events = self._read()
        self._source.final = False
        return events

    def _read(self) -> list[Event]:
        source = self._source
        text = source.text
        size = len(text)
        while source.at < size:
            if self._unseen is not None:
                if not self._pass_over(source, self._unseen):
                    break
            elif not source.line_start and (plain := PLAIN.match(text, source.at)):
                source.at = plain.end()
            elif not self._read_marked(source, text[source.at]):
                break
        return source.events()

    def _read_marked(self, source: Source, char: str) -> bool:
        """Takes `char`, which may be markup, or the start of a line; false when it needs more text."""
        if char in "<[{◁":
            found = self._read_opener(source, char)
            if found is not None:
                return found
        if not source.line_start:
            return read_inline(source)
        if char.isalpha():
            source.line_start = False
            return True
        fence = read_line_start(source)
        if isinstance(fence, Fence):
            self._unseen = fence
        return fence is not False

    def _read_opener(self, source: Source, char: str) -> bool | None:
        """Takes what may hide what follows, or a tag; `None` where it is neither."""
        match char:
            case "<":
                return self._read_angle(source)
            case "[" if source.match(hidden.SQUARE) or (not source.final and source.match(hidden.SQUARE_BEGUN)):
                return self._read_token(source, hidden.SQUARE)
            case "◁":
                if source.match(hidden.KIMI) or (not source.final and source.match(hidden.KIMI_BEGUN)):
                    return self._read_token(source, hidden.KIMI)
                source.line_start = False
                source.plain(1)
                return True
            case "[" | "{" if source.line_start:
                if source.match(hidden.TOOL_JSON):
                    self._unseen = JsonEnd()
                    return True
                if source.match(hidden.TOOL_JSON_BEGUN) and not source.final:
                    return False
            case _:
                pass
        return None

    # hidden text

    def _pass_over(self, source: Source, unseen: re.Pattern[str] | JsonEnd | Fence) -> bool:
        """Takes what is not for the voice; true when that has ended."""
        match unseen:
            case JsonEnd():
                ended = self._pass_json(source, unseen)
            case Fence():
                ended = unseen.read(source)
            case _:
                ended = self._pass_hidden(source, unseen)
        if ended:
            self._unseen = None
            if not isinstance(unseen, JsonEnd):
                source.start_afresh()
        return ended

    def _pass_hidden(self, source: Source, closer: re.Pattern[str]) -> bool:
        found = closer.search(source.text, source.at)
        if found:
            source.part(found.end() - source.at)
            return True
        keep = 0 if source.final else hidden.CLOSER_CHARS
        if (surely := len(source.text) - keep - source.at) > 0:
            source.part(surely)
        return False

    def _pass_json(self, source: Source, value: JsonEnd) -> bool:
        end = value.find(source.text, source.at)
        source.part((end if end >= 0 else len(source.text)) - source.at)
        return end >= 0

    def _read_token(self, source: Source, pattern: re.Pattern[str]) -> bool:
        token = source.match(pattern)
        if token is None:
            return False
        self._enter(source, token.group())
        return True

    def _enter(self, source: Source, tag: str) -> None:
        """Takes a complete tag that may hide what follows."""
        if closer := hidden.closer_of(tag):
            self._unseen = closer
            again = closer.match(source.text, source.at)  # `<|channel|>final<|message|>` begins and ends at once
            source.part(0 if again or tag == "<|channel|>" else len(tag))
        elif hidden.THOUGHT_CLOSES.fullmatch(tag):
            source.thought_ends(len(tag))
            source.start_afresh()
        else:
            source.silent(len(tag))

    # tags

    def _read_angle(self, source: Source) -> bool:
        if not source.more(1) and not source.final:
            return False
        if source.match(_COMMENT):
            self._unseen = _COMMENT_END
            source.part(4)
            return True
        for pattern in (hidden.TOKEN, html.ADDRESS, _DECLARATION, html.TAG):
            if found := source.match(pattern):
                if pattern is html.ADDRESS:
                    source.line_start = False
                    source.silent(1, opens=True)
                    source.plain(len(found[1]))
                    source.silent(1)
                    return True
                if pattern is html.TAG:
                    return self._read_tag(source, found)
                self._enter(source, found.group())
                return True
        begun = (hidden.TOKEN_BEGUN, html.ADDRESS_BEGUN, _DECLARATION_BEGUN, html.TAG_BEGUN)
        if not source.final and any(source.match(pattern) for pattern in begun):
            return False
        source.line_start = False
        source.plain(1)
        return True

    def _read_tag(self, source: Source, found: re.Match[str]) -> bool:
        tag = found.group()
        hides = hidden.closer_of(tag) is not None
        if hides or hidden.THOUGHT_CLOSES.fullmatch(tag):
            mention = self._mentioned(source, len(tag))
            if mention is None:
                return False
            if not mention:
                self._enter(source, tag)
                return True
        closing, name = bool(found[1]), (found[2] or found[3]).lower()
        if name in html.PARTS:
            source.part(len(tag))
            source.line_start = True
        elif name in html.UNSEEN and not closing:
            self._unseen = re.compile(rf"</{name}\s{{0,4}}>", re.IGNORECASE)
            source.part(len(tag))
        elif name == "sup" and not closing:
            source.silent(len(tag), clean="^")
        elif name in ("td", "th") and closing:
            source.silent(len(tag), clean=",")
        elif hides or not (closing or name in html.INLINE or "=" in tag or tag.endswith("/>")):
            source.line_start = False
            source.silent(1, opens=True)  # a name in brackets, `<your name>`: the name is what is meant
            source.plain(len(tag) - 2)
            source.silent(1)
        else:
            source.silent(len(tag), opens=not closing)
        return True

    def _mentioned(self, source: Source, length: int) -> bool | None:
        """Whether the tag is spoken of, not used: quoted, or called a tag. `None` when that is not known yet."""
        if source.before.isspace() and source.line_start:
            return False
        following = source.text[source.at + length : source.at + length + hidden.MENTION_CHARS]
        mention = hidden.MENTION.match(following)
        quoted = source.before in "\"'“‘«(["
        unsure = not following or (quoted and not mention) or following[0] in " 标タ" or following[0].isalpha()
        if unsure and len(following) < hidden.MENTION_CHARS and not source.final:
            return None
        if mention is None:
            return False
        return quoted if mention.group() in "\"'”’»)]" else not source.line_start
