"""Messages in, token ids out: a model's own chat template, and what the engine has to know about it.

A template is asked by rendering probes and looking at what it wrote, never by reading its source: where a thought
opens and closes, what stands between an answer and the next question, and which tokens every conversation with a system
prompt and tools begins with.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, cast

from jinja2.exceptions import TemplateError

from mirza.errors import ModelUnsupported, ToolError
from mirza.llm.base import Message, Tool
from mirza.llm.mlx.encoding import ChatEncoder, common_length

_Row = dict[str, object]
THOUGHT_TAGS = (("<think>", "</think>"), ("[THINK]", "[/THINK]"), ("<seed:think>", "</seed:think>"))
"""How models write a thought: Qwen and most others; Magistral; Seed-OSS."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What the model generated for one assistant message, as tokens: its answer with any tool calls, and its thought.

    Both without what the template writes around them (the tags, the line breaks next to them, the end-of-turn token).
    """

    answer: Sequence[int]
    thought: Sequence[int] | None = None


@dataclass(frozen=True, slots=True)
class ThoughtTokens:
    """How a thought is written. `close` ends it (its last id is `end`), `gap` stands between that and the answer."""

    start: int
    end: int
    close: tuple[int, ...]
    gap: tuple[int, ...]


class ChatTemplate:
    """The chat template of one tokenizer."""

    def __init__(self, tokenizer: object) -> None:
        """Reads what the template can do.

        Raises:
            ModelUnsupported: the model has no chat template, or its template takes no question.
        """
        self._tokenizer = cast(_Tokenizer, tokenizer)
        self._encoder = ChatEncoder(tokenizer)
        if not self._tokenizer.chat_template:
            raise ModelUnsupported(
                "This model has no chat template, so it is no chat model.", "Take its instruction-tuned version."
            )
        self._tails: dict[bool, list[int]] = {}
        self.thought, self.thought_problem = self._read_thought()

    # --- what the engine feeds ---------------------------------------------------------------------------------------

    def prompt(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool] = (),
        *,
        thinking: bool = False,
        kept: Mapping[int, Kept] | None = None,
    ) -> list[int]:
        """The ids from which the model answers. `kept` has what it generated for the messages at these places.

        Raises:
            ModelUnsupported: thinking was asked for and this model cannot, or the template refuses these messages.
        """
        if thinking and self.thought is None:
            raise ModelUnsupported(f"This model cannot think first: {self.thought_problem}", "Set the budget to off.")
        return self._ids(messages, tools, kept or {}, answer=True, thinking=thinking)

    def history(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool] = (),
        *,
        kept: Mapping[int, Kept] | None = None,
    ) -> list[int]:
        """The ids of what has been said, without the beginning of an answer."""
        return self._ids(messages, tools, kept or {}, answer=False, thinking=False)

    def unfinished(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool] = (),
        *,
        kept: Mapping[int, Kept] | None = None,
    ) -> list[int]:
        """The ids that stay the same however the last message goes on: its last word may yet become another."""
        *before, last = messages
        ways = _ways_on(last.content)
        return _common([self.history([*before, Message(last.role, text)], tools, kept=kept) for text in ways])

    def settled(self, text: str) -> list[int]:
        """The ids of `text` alone that stay the same however it goes on."""
        return _common([self.encode(way) for way in _ways_on(text)])

    def before_question(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool] = (),
        *,
        kept: Mapping[int, Kept] | None = None,
    ) -> list[int]:
        """The ids with which every next turn begins, up to the first word of its question.

        This is what the template makes of the turns so far once they lie in the past: without their thoughts, for most.
        """
        pieces: list[Sequence[int]] = []
        rows = self._rows(messages, kept or {}, pieces)
        mark = self._encoder.placeholder(len(pieces))
        text = self._render([*rows, {"role": "user", "content": mark}], self._schemas(tools))
        if text.count(mark) == 1:
            return _common([self._encoder.encode(text.replace(mark, probe), pieces) for probe in _QUESTIONS])
        asked = [[*messages, Message("user", probe)] for probe in _QUESTIONS]  # a template that looks into questions
        return _common([self.history(conversation, tools, kept=kept) for conversation in asked])

    def head(self, system: str, tools: Sequence[Tool] = ()) -> list[int]:
        """The ids with which every conversation of this system prompt and these tools begins."""
        return self.before_question([Message("system", system)] if system else [], tools)

    def tail(self, thinking: bool) -> list[int]:
        """What a prompt adds to the history: how an answer begins, and its thought if the template opens it."""
        if thinking not in self._tails:
            question = [Message("user", "a")]
            self._tails[thinking] = self.prompt(question, thinking=thinking)[len(self.history(question)) :]
        return list(self._tails[thinking])

    def encode(self, text: str) -> list[int]:
        """The ids of text that was heard or found, free of control tokens."""
        return self._encoder.encode(self._encoder.mark(text))

    # --- what the engine knows ---------------------------------------------------------------------------------------

    @property
    def thinks(self) -> bool:
        """Whether this model can think before it speaks."""
        return self.thought is not None

    def thought_open(self, ids: Sequence[int]) -> bool:
        """Whether a thought is open at the end of these ids."""
        if self.thought is None:
            return False
        for token_id in reversed(ids):
            if token_id in (self.thought.start, self.thought.end):
                return token_id == self.thought.start
        return False

    @cached_property
    def bridge(self) -> tuple[int, ...]:
        """From the end of an answer to the next question: the end-of-turn token, then what every next turn begins with.

        Empty where the template does not render an answer as it was.
        """
        rows: list[_Row] = [
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": self._encoder.placeholder(0)},
            {"role": "user", "content": self._encoder.placeholder(1)},
        ]
        text = self._encoder.between(self._render(rows), 0, 1)
        return tuple(self._encoder.encode(text)) if text is not None else ()

    @property
    def text(self) -> str:
        """The template itself, for fingerprints."""
        template = self._tokenizer.chat_template
        return template if isinstance(template, str) else json.dumps(template, sort_keys=True)

    # --- how ---------------------------------------------------------------------------------------------------------

    def _ids(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        kept: Mapping[int, Kept],
        *,
        answer: bool,
        thinking: bool,
    ) -> list[int]:
        pieces: list[Sequence[int]] = []
        rows = self._rows(messages, kept, pieces)
        text = self._render(rows, self._schemas(tools), answer=answer, thinking=thinking)
        return self._encoder.encode(text, pieces)

    def _rows(self, messages: Sequence[Message], kept: Mapping[int, Kept], pieces: list[Sequence[int]]) -> list[_Row]:
        return [self._row(message, kept.get(place), pieces) for place, message in enumerate(messages)]

    def _schemas(self, tools: Sequence[Tool]) -> list[_Row]:
        return [self._encoder.mark(tool.schema()) for tool in tools]

    def _row(self, message: Message, kept: Kept | None, pieces: list[Sequence[int]]) -> _Row:
        """One message as templates want it; generated ids go to `pieces`, a placeholder in their stead."""

        def placeholder(ids: Sequence[int]) -> str:
            pieces.append(ids)
            ends_line = self._tokenizer.decode(list(ids[-1:])).endswith("\n")
            return self._encoder.placeholder(len(pieces) - 1, ends_line)

        row: _Row = {"role": message.role}
        if kept is not None:
            row["content"] = placeholder(kept.answer)
            if kept.thought is not None:
                row["reasoning_content"] = placeholder(kept.thought)
            return row
        row["content"] = self._encoder.mark(message.content)
        if message.tool_calls:
            row["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {
                        "name": self._encoder.mark(call.name),
                        "arguments": self._encoder.mark(_arguments(call.name, call.arguments)),
                    },
                }
                for call in message.tool_calls
            ]
        if message.tool_call_id:
            row["tool_call_id"] = message.tool_call_id
        return row

    def _render(
        self,
        rows: list[_Row],
        tools: list[_Row] | None = None,
        *,
        answer: bool = False,
        thinking: bool = False,
    ) -> str:
        try:
            rendered = self._tokenizer.apply_chat_template(
                rows,
                tools=tools or None,
                add_generation_prompt=answer,
                tokenize=False,
                enable_thinking=thinking,
            )
        except (TemplateError, TypeError, ValueError) as error:
            raise ModelUnsupported(
                f"The model's chat template refuses this conversation: {error}", "Look at its roles and tools."
            ) from error
        return _text(rendered, self._tokenizer.decode)

    def _read_thought(self) -> tuple[ThoughtTokens | None, str]:
        """The tags that the template writes, or else those that are tokens (the model may open a thought by itself)."""
        tokens = {tag: self._encoder.encode(tag) for pair in THOUGHT_TAGS for tag in pair}
        for start, end in sorted(THOUGHT_TAGS, key=lambda pair: pair[1] not in self.text):
            if len(tokens[start]) == len(tokens[end]) == 1:
                close, gap = self._around_close(start, end, tokens[end][0])
                return ThoughtTokens(tokens[start][0], tokens[end][0], close, gap), ""
            if end in self.text:
                return None, f"{start} and {end} are not one token each in its vocabulary."
        return None, "it knows no thoughts."

    def _around_close(self, start: str, end: str, end_id: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """How the template itself ends a thought, from an answer that has one."""
        thought, answer = self._encoder.placeholder(0), self._encoder.placeholder(1)
        asked: _Row = {"role": "user", "content": "a"}
        rows: list[_Row] = [
            {"role": "assistant", "reasoning_content": thought, "content": answer},
            {"role": "assistant", "content": f"{start}\n{thought}\n{end}\n\n{answer}"},
        ]
        for row in rows:
            text = self._encoder.between(self._render([asked, row], thinking=True), 0, 1)
            if text is not None and end in text:
                break
        else:
            # A template that drops every thought: as it would be written by most.
            text = f"\n{end}\n\n"
        before, _, after = text.partition(end)
        return (*self._encoder.encode(before), end_id), tuple(self._encoder.encode(after))


class _Tokenizer(Protocol):
    chat_template: str | dict[str, str] | None

    def apply_chat_template(
        self,
        conversation: list[_Row],
        *,
        tools: list[_Row] | None,
        add_generation_prompt: bool,
        tokenize: bool,
        enable_thinking: bool,
    ) -> object: ...

    def decode(self, token_ids: list[int], /) -> str: ...


def _text(rendered: object, decode: Callable[[list[int]], str]) -> str:
    """Rendered text, whatever came back.

    transformers 5 gives a string, a list of ids, or a batch that holds them, depending on the call; tokenizers with a
    template of their own (in Python, not Jinja) do not all listen to `tokenize=False`.
    """
    if isinstance(rendered, str):
        return rendered
    if isinstance(rendered, Mapping):
        rendered = cast(Mapping[str, object], rendered)["input_ids"]
    ids = cast(Sequence[int] | Sequence[Sequence[int]], rendered)
    first = ids[0]
    flat = cast(Sequence[int], ids) if isinstance(first, int) else first
    return decode([int(token_id) for token_id in flat])


def _arguments(name: str, arguments: str) -> dict[str, object]:
    try:
        decoded: object = json.loads(arguments or "{}")
    except ValueError as error:
        raise ToolError(f"The call of {name} in this conversation is no JSON.", "Start a new conversation.") from error
    if not isinstance(decoded, dict):
        raise ToolError(f"The arguments of {name} are no JSON object.", "Start a new conversation.")
    return cast(dict[str, object], decoded)


_QUESTIONS = ("a", "1", "¿", "的", '"')
"""What a question may begin with, as far as the tokens before it are concerned."""


def _ways_on(text: str) -> list[str]:
    """`text`, and how it may go on once its last word has become another."""
    sure = _without_last_word(text)
    return [text, *(sure + more for more in (" a", " 1", ".", "a", "的"))]


def _without_last_word(text: str) -> str:
    words = text.rstrip()
    start = max(words.rfind(space) for space in " \n\t\u00a0")
    if start == -1 or _UNSPACED.search(words[start:]):
        # Scripts without spaces: as much as one token may well hold.
        start = max(start, len(words) - 4)
    return words[: max(start, 0)]


_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff]")
"""Thai, Lao, Burmese, Japanese and Chinese."""


def _common(probes: Sequence[list[int]]) -> list[int]:
    """The longest common beginning."""
    first, last = min(probes), max(probes)
    return first[: common_length(first, last)]
