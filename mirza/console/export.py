"""A stored conversation as a file for people (Markdown) or for programs (JSON)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from mirza.errors import StorageError
from mirza.llm.base import Message

NAMES = {"user": "You", "assistant": "Mirza", "tool": "Tool"}


def export(messages: Sequence[Message], title: str, file: Path) -> None:
    """Writes the conversation to `file`; `.json` is JSON, `.md` and `.markdown` are Markdown.

    Raises:
        StorageError: the file is there already or cannot be written, or its ending is another one.
    """
    file = file.expanduser()
    match file.suffix.lower():
        case ".json":
            text = as_json(messages, title)
        case ".md" | ".markdown":
            text = as_markdown(messages, title)
        case _:
            raise StorageError(f"{file} ends in neither .md nor .json.", "Give it one of these endings.")
    try:
        with file.open("x", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError as error:
        raise StorageError(f"{file} is there already.", "Choose another name.") from error
    except OSError as error:
        raise StorageError(f"{file} cannot be written: {error.strerror}.", "Choose another place.") from error


def as_markdown(messages: Sequence[Message], title: str) -> str:
    """A heading, then a section a message; tool calls as code."""
    parts = [f"# {title}"]
    for message in messages:
        blocks = [message.content] if message.content else []
        blocks += [_fenced(f"{call.name}({call.arguments})") for call in message.tool_calls]
        parts.append(f"**{NAMES.get(message.role, message.role)}**")
        parts.extend([_fenced(message.content)] if message.role == "tool" else blocks)
    return "\n\n".join(parts) + "\n"


def as_json(messages: Sequence[Message], title: str) -> str:
    """One object: `title` and `messages`, each with its fields, empty ones left out."""
    rows = [
        {name: value for name, value in asdict(message).items() if value or name == "content"} for message in messages
    ]
    return json.dumps({"title": title, "messages": rows}, ensure_ascii=False, indent=2) + "\n"


def _fenced(text: str) -> str:
    """As code, in a fence that is longer than any run of back-ticks inside."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"
