"""Tool calls as models write them, for servers that leave them in the text: Hermes' JSON, and Qwen 3.5's XML."""

from __future__ import annotations

import json
import re
from typing import cast


def parse_call(text: str) -> tuple[str, str] | None:
    """The name and the arguments (a JSON object, as text) of the call that is written in `text`, or `None`."""
    if function := re.search(r"<function=([^>\s]+)>(.*?)(?:</function>|$)", text, re.DOTALL):
        found = re.findall(r"<parameter=([^>\s]+)>\n?(.*?)\n?</parameter>", function[2], re.DOTALL)
        arguments = {name: _value(value) for name, value in cast(list[tuple[str, str]], found)}
        return function[1], json.dumps(arguments, ensure_ascii=False)
    try:
        call: object = json.loads(text)
    except json.JSONDecodeError:
        return None
    if not isinstance(call, dict):
        return None
    fields = cast(dict[str, object], call)
    name, arguments = fields.get("name"), fields.get("arguments", {})
    if not isinstance(name, str):
        return None
    return name, arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def _value(text: str) -> object:
    """The XML form has no types: what reads as JSON is taken as such, the rest as text."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
