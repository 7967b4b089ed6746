"""What must never be heard: thoughts and tool calls, in every family of tags that models are known to write.

Families (from the chat templates of the models): `<think>` Qwen, DeepSeek; `[THINK]` Magistral; `◁think▷` Kimi;
`<|channel|>analysis` gpt-oss; `<|START_THINKING|>` Command; `<|begin_of_thought|>` Sky-T1; `<seed:think>` Seed;
`<|channel>thought … <channel|>` Gemma; `<tool_call>` Hermes, Qwen; `[TOOL_CALLS]` Mistral; `<|python_tag|>` Llama;
`<function=…>` Llama, Qwen-Coder; `<｜tool▁calls▁begin｜>` DeepSeek.
"""

from __future__ import annotations

import re

_THOUGHT = (
    r"(?:seed:|ant|inner_?|internal_?|begin_of_|end_of_)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflections?|"
    r"scratchpad|monologue|analysis|cot|chain_of_thought)(?:_process|_content)?"
)
_TOOL = (
    r"(?:antml:)?(?:tools?|tool_?calls?|function_?calls?|functions?|invoke|tool_?use|tool_?responses?|tool_?results?|"
    r"tool_?outputs?|function_?results?|parameters?)"
)

THOUGHT_OPENS = re.compile(rf"<{_THOUGHT}\b[^<>]*(?<!/)>", re.IGNORECASE)
THOUGHT_CLOSES = re.compile(rf"</\s*{_THOUGHT}\s*>|\[/THINK\]|◁/think▷|<\|end_of_thought\|>|<\|END_THINKING\|>", re.I)
TOOL_OPENS = re.compile(rf"<({_TOOL})(?:=[^<>]*|\s[^<>]*)?(?<!/)>", re.IGNORECASE)

SQUARE = re.compile(r"\[/?(?:THINK|TOOL_CALLS?|TOOL_RESULTS?|AVAILABLE_TOOLS|ARGS|INST)\]")
"""Mistral's control tokens."""
SQUARE_BEGUN = re.compile(r"\[/?[A-Z_]{0,15}\Z")
KIMI = re.compile(r"◁/?think▷")
KIMI_BEGUN = re.compile(r"◁/?[a-z]{0,5}\Z")

TOKEN = re.compile(r"<[|｜][^<>|｜\n]{1,60}[|｜]?>|<[A-Za-z_]\w{0,40}[|｜]>")
TOKEN_BEGUN = re.compile(r"<(?:[|｜][^<>|｜\n]{0,60}[|｜]?|[A-Za-z_]\w{0,40}[|｜]?)?\Z")

_TOKEN_CLOSERS = [
    (re.compile(r"<\|channel\|>"), re.compile(r"<\|channel\|>\s*final\b[^<>]*<\|message\|>|<\|(?:end|call|return)\|>")),
    (re.compile(r"<\|start\|>"), re.compile(r"(?=<\|channel\|>)|<\|message\|>|\n")),
    (re.compile(r"<\|channel>"), re.compile(r"<channel\|>")),
    (re.compile(r"<\|(?:im_start|start_header_id)\|>"), re.compile(r"\n|<\|end_header_id\|>")),
    (re.compile(r"<\|(?:START_THINKING|begin_of_thought|think)\|>"), re.compile(r"<\|(?:END_THINKING|end_of_thought|/think)\|>")),
    (re.compile(r"<\|(?:START_ACTION)\|>"), re.compile(r"<\|END_ACTION\|>")),
    (re.compile(r"<\|python_tag\|>"), re.compile(r"<\|e(?:om|ot)_id\|>")),
    (re.compile(r"<[|｜]tool[▁_]calls?[▁_](?:section[▁_])?begin[|｜]>"), re.compile(r"<[|｜]tool[▁_]calls?[▁_](?:section[▁_])?end[|｜]>")),
    (re.compile(r"<[|｜]tool[▁_]outputs?[▁_]begin[|｜]>"), re.compile(r"<[|｜]tool[▁_]outputs?[▁_]end[|｜]>")),
    (re.compile(r"<\|tool_call\|?>"), re.compile(r"<\|?/tool_call\|>|<tool_call\|>|<\|tool_call_end\|>")),
    (re.compile(r"<\|tool_response\|?>"), re.compile(r"<\|?/tool_response\|>|<tool_response\|>")),
]  # fmt: skip

CLOSER_CHARS = 120
"""No closer is longer than this: so much of hidden text is kept for one that has only half arrived."""

MENTION = re.compile(
    r"[\"'”’»)\]]| ?(?:tags?|tokens?|blocks?|elements?|markers?|balises?|etiquetas?|bloques?|标签|标记|タグ)\b", re.IGNORECASE
)  # fmt: skip
"""What follows a tag that is spoken of, and not used: `"<think>"`, `the <think> tag`."""
MENTION_CHARS = 12

TOOL_JSON = re.compile(
    r"[\[{][\s\[{]{0,20}\"(?:name|function|tool|tool_name|tool_call|tool_calls|function_call|arguments|parameters|"
    r"recipient_name)\"\s*:"
)
TOOL_JSON_BEGUN = re.compile(r"[\[{][\s\[{]{0,20}(?:\"[a-z_]{0,20}(?:\"\s{0,4})?)?\Z")
"""A call written as bare JSON at the start of a line: its first key tells."""


def closer_of(tag: str) -> re.Pattern[str] | None:
    """What ends the hidden text that `tag` begins; `None` where it begins none."""
    if THOUGHT_OPENS.fullmatch(tag) or tag in ("[THINK]", "◁think▷"):
        return THOUGHT_CLOSES
    if opened := TOOL_OPENS.fullmatch(tag):
        return re.compile(rf"</\s*{re.escape(opened[1])}\s*>", re.IGNORECASE)
    if tag in ("[TOOL_CALLS]", "[TOOL_CALL]"):
        return re.compile(r"\[/TOOL_CALLS?\]|\n\s*\n")
    if tag in ("[TOOL_RESULTS]", "[AVAILABLE_TOOLS]", "[INST]"):
        return re.compile(rf"\[/{tag[1:-1]}\]")
    for opener, closer in _TOKEN_CLOSERS:
        if opener.fullmatch(tag):
            return closer
    return None


class JsonEnd:
    """Finds the end of a JSON value that arrives in parts."""

    def __init__(self) -> None:
        self._depth = 0
        self._quoted = False
        self._escaped = False

    def find(self, text: str, start: int) -> int:
        """The offset after the value's last bracket, or -1 when it is not in `text` from `start` on."""
        for index in range(start, len(text)):
            char = text[index]
            if self._escaped:
                self._escaped = False
            elif self._quoted:
                self._escaped = char == "\\"
                self._quoted = char != '"'
            elif char == '"':
                self._quoted = True
            elif char in "[{":
                self._depth += 1
            elif char in "]}":
                self._depth -= 1
                if self._depth == 0:
                    return index + 1
        return -1
