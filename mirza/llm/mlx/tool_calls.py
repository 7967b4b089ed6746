"""What a model writes to call a tool, as a `ToolCall`.

Each family writes calls in a way of its own; mlx-vlm has the parsers, and picks one by the chat template. Here are the
tokens around a call, and the way from what stands between them to a typed event. Those tokens are found by their ids:
an answer about `<tool_call>` is no call.
"""

# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from loguru import logger
from mlx_vlm.tools import SPECS, load_tool_module

from mirza.events import ToolCall
from mirza.llm.base import Tool


class _Parser(Protocol):
    """One of mlx_vlm.tools.parsers."""

    tool_call_start: str
    tool_call_end: str

    def parse_tool_call(self, model_output: str, tools: list[dict[str, Any]], /) -> object: ...


@dataclass(frozen=True, slots=True)
class ToolFormat:
    """How one model writes its calls: between the tokens `start` and `end`."""

    name: str
    start: int
    end: int
    parser: _Parser

    def parse(self, body: str, tools: Sequence[Tool] = (), new_id: Callable[[], str] | None = None) -> list[ToolCall]:
        """The calls in what stood between the two tokens; none where it is no call that can be read.

        `tools` tell which arguments are text: a room called `5` is no number. Some models put several in one block.
        """
        try:
            parsed = self.parser.parse_tool_call(body.strip(), [tool.schema() for tool in tools])
        except (ValueError, KeyError, TypeError, SyntaxError, IndexError, AttributeError) as error:
            # What the model wrote is personal: it is not logged.
            logger.warning("A tool call of {} characters cannot be read: {}", len(body), type(error).__name__)
            return []
        rows = cast("list[object]", parsed if isinstance(parsed, list) else [parsed])
        calls = (_call(row, new_id or _new_id) for row in rows)
        return [call for call in calls if call is not None]


def tool_format(template: str, tokenizer: object) -> ToolFormat | None:
    """How a model with this chat template writes calls; `None` where it calls no tools that Mirza can follow."""
    matching = [spec for spec in SPECS if spec.matches(template)]
    if not matching:
        return None
    name = max(matching, key=lambda spec: spec.priority).name
    parser = cast(_Parser, cast(object, load_tool_module(name)))
    ids = [_token(tokenizer, tag) for tag in (parser.tool_call_start, parser.tool_call_end)]
    if ids[0] is None or ids[1] is None:
        logger.info("Tool calls of the form {} are not framed by single tokens here, so they are not followed", name)
        return None
    return ToolFormat(name, ids[0], ids[1], parser)


def _token(tokenizer: object, tag: str) -> int | None:
    if not tag:
        return None
    ids = cast(Any, tokenizer).encode(tag, add_special_tokens=False)
    return int(ids[0]) if len(ids) == 1 else None


def _call(row: object, new_id: Callable[[], str]) -> ToolCall | None:
    if not isinstance(row, Mapping):
        return None
    row = cast(Mapping[str, object], row)
    name, arguments = row.get("name"), row.get("arguments", {})
    if isinstance(arguments, str):
        try:
            arguments = cast(object, json.loads(arguments or "{}"))
        except ValueError:
            return None
    if not isinstance(name, str) or not name.strip() or not isinstance(arguments, Mapping):
        return None
    return ToolCall(new_id(), name.strip(), json.dumps(arguments, ensure_ascii=False))


def _new_id() -> str:
    return f"call_{uuid.uuid4().hex[:12]}"
