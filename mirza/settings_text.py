"""Settings in words: what each takes and does, and the two files that are made from the tree.

python -m mirza settings --toml      config/mirza.toml
python -m mirza settings --markdown  docs/settings.md
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from mirza.settings import SettingsTree

WIDTH = 110


@dataclass(frozen=True, slots=True)
class Described:
    """One setting. `takes` says in words which values it takes, `default` is as one would write it in TOML."""

    name: str
    """With its section, e.g. `llm.thinking_budget`."""
    takes: str
    default: str
    about: str
    choices: tuple[object, ...] = ()
    is_json: bool = False
    """Whether text from a flag or the environment is a JSON object."""
    optional: bool = False
    """Whether it may be unset."""


@dataclass(frozen=True, slots=True)
class DescribedSection:
    name: str
    about: str
    settings: tuple[Described, ...]


@cache
def sections() -> tuple[DescribedSection, ...]:
    """The whole tree, in its own order."""
    schema = SettingsTree.model_json_schema()
    return tuple(_section(name, schema["$defs"][_definition(part)]) for name, part in schema["properties"].items())


@cache
def described() -> dict[str, Described]:
    """Every setting by its name."""
    return {setting.name: setting for section in sections() for setting in section.settings}


COPY_HEADER = (
    "# Mirza's settings and their defaults. Made by `make docs` from mirza/settings.py.",
    "#",
    "# To change one for yourself: `mirza settings set llm.thinking_budget 256`, or `mirza settings edit`. That goes",
    "# into your own file, which wins over this one. A change here holds for everybody who uses this copy.",
)


def toml(*header: str) -> str:
    """A settings file: every setting with its default, commented out."""
    return "\n".join((*header, *_toml_lines())) + "\n"


def markdown() -> str:
    """`docs/settings.md`."""
    return "\n".join(_markdown_lines()) + "\n"


def as_toml(value: object) -> str:
    """A value as TOML has it; `unset` for none, which TOML cannot say."""
    match value:
        case None:
            return "unset"
        case bool():
            return str(value).lower()
        case int() | float():
            return repr(value)
        case dict():
            return json.dumps(value) if value else "{}"
        case _:
            return json.dumps(str(value), ensure_ascii=False)


def _section(name: str, schema: dict[str, Any]) -> DescribedSection:
    settings = (_setting(f"{name}.{key}", part) for key, part in schema["properties"].items())
    return DescribedSection(name, schema["description"], tuple(settings))


def _definition(part: dict[str, Any]) -> str:
    return part["$ref"].rpartition("/")[2]


def _setting(name: str, schema: dict[str, Any]) -> Described:
    kinds: list[dict[str, Any]] = schema.get("anyOf", [schema])
    kind = kinds[0]
    optional = {"type": "null"} in kinds
    takes = schema.get("takes") or _takes(kind)
    return Described(
        name=name,
        takes=takes + (", or unset" if optional else ""),
        default=as_toml(schema.get("default", {} if kind.get("type") == "object" else None)),
        about=" ".join(schema["description"].split()),
        choices=tuple(kind.get("enum", ())),
        is_json=kind.get("type") == "object",
        optional=optional,
    )


def _takes(kind: dict[str, Any]) -> str:
    if "enum" in kind:
        return "one of " + ", ".join(str(choice) for choice in kind["enum"])
    if kind["type"] == "string":
        return "a folder" if kind.get("format") == "path" else "text, not empty" if kind.get("minLength") else "text"
    words = {
        "boolean": "true or false",
        "integer": "a whole number" + _range(kind),
        "number": "a number" + _range(kind),
        "object": 'numbers by token id, like {"1234" = -5.0}',
    }
    return words[kind["type"]]


def _range(kind: dict[str, Any]) -> str:
    low, above, high = kind.get("minimum"), kind.get("exclusiveMinimum"), kind.get("maximum")
    if above is not None:
        return f" above {above:g}" + (f", at most {high:g}" if high is not None else "")
    if low is not None and high is not None:
        return f" from {low:g} to {high:g}"
    return f", {low:g} or more" if low is not None else ""


def _toml_lines() -> Iterator[str]:
    for section in sections():
        yield ""
        yield f"[{section.name}]  # {section.about}"
        for setting in section.settings:
            yield ""
            yield from (f"# {line}" for line in textwrap.wrap(setting.about, WIDTH))
            if not setting.takes.startswith("text"):
                yield f"# Takes {setting.takes}."
            value = "..." if setting.default == "unset" else setting.default
            yield f"#{setting.name.partition('.')[2]} = {value}"


def _markdown_lines() -> Iterator[str]:
    yield from (
        "# Settings",
        "",
        "<!-- Made by `make docs` from mirza/settings.py. -->",
        "",
        "Every setting has a default that works. To see what holds on your machine, and where each value came from:",
        "",
        "```",
        "mirza settings",
        "mirza settings explain llm.thinking_budget",
        "```",
        "",
        "The same setting can be given in several places. The first of these that has it wins:",
        "",
        "1. a flag: `mirza talk --set llm.thinking_budget=256`",
        "2. the environment: `MIRZA_LLM__THINKING_BUDGET=256`",
        "3. a profile from [config/profiles](../config/profiles): `mirza talk --profile quick`, `MIRZA_PROFILE=quick`",
        "4. your own file: `mirza settings set llm.thinking_budget 256`; `mirza settings where` tells where it is",
        "5. [config/mirza.toml](../config/mirza.toml), for everybody who uses this copy of Mirza",
        "6. the default",
        "",
        "A name that does not exist is an error, wherever it stands, and the error says which name was probably meant.",
        "Files are UTF-8. `unset` takes back an optional value that a lower layer gave.",
    )
    for section in sections():
        yield from ("", f"## {section.name}", "", section.about, "")
        yield "| setting | takes | default | what it does, and when to change it |"
        yield "|---|---|---|---|"
        for setting in section.settings:
            cells = (f"`{setting.name}`", setting.takes, f"`{setting.default}`", setting.about)
            yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
