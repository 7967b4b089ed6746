"""Where settings come from, and what to tell someone who got one wrong.

The layers are read one by one, so that each value's origin is known, and laid over one another; then the tree is
checked as a whole. From the weakest to the strongest: `config/mirza.toml`, the user's file, a profile, the environment,
flags.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from pydantic import ValidationError
from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from mirza.errors import SettingsError
from mirza.folders import PROJECT, user_file
from mirza.settings import SettingsTree
from mirza.settings_text import described

PREFIX = "MIRZA_"
OTHER_VARIABLES = {"MIRZA_PROFILE", "MIRZA_REQUIRE_SOUND", "MIRZA_REQUIRE_MODELS"}
"""Variables that are ours and no settings: which profile, and what the tests may not skip."""

DEFAULT, FLAG = "default", "this command"
"""Origins of a value that are neither a file nor a variable."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """All settings, and for each that was given somewhere, where: `{"llm.model": "MIRZA_LLM__MODEL"}`."""

    tree: SettingsTree
    origins: Mapping[str, str] = field(default_factory=dict[str, str])

    def origin(self, name: str) -> str:
        """Where the value of `name` comes from."""
        return self.origins.get(name, DEFAULT)


@dataclass(frozen=True, slots=True)
class Given:
    """One value as one layer gives it."""

    name: str
    value: object
    origin: str


class _Readable(SettingsTree, BaseSettings):  # pyright: ignore[reportUnsafeMultipleInheritance]
    """The tree, as pydantic-settings wants it for its sources. Never built: it would not know its values' origins."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_nested_delimiter="__", case_sensitive=False)


def load_settings(overrides: Mapping[str, object] | None = None, *, profile: str = "") -> SettingsTree:
    """All settings, from every layer. `overrides` are flags: `{"llm.thinking_budget": 256}`.

    Raises:
        SettingsError: a file cannot be read, a name does not exist, or a value does not fit.
    """
    return load(overrides, profile=profile).tree


def load(
    overrides: Mapping[str, object] | None = None, *, profile: str = "", files: Sequence[Path] | None = None
) -> Loaded:
    """Like `load_settings`, with the origin of each value. `files`, weakest first, stand for the two usual ones."""
    given: dict[str, Given] = {}
    for value in _layers(overrides or {}, profile or os.environ.get("MIRZA_PROFILE", ""), files):
        given[value.name] = value
    nested: dict[str, dict[str, object]] = {}
    for value in given.values():
        section, _, key = value.name.partition(".")
        nested.setdefault(section, {})[key] = value.value
    try:
        tree = SettingsTree.model_validate(nested)
    except ValidationError as error:
        raise _in_words(error, given) from error
    return Loaded(tree, {name: value.origin for name, value in given.items()})


def settings_of(args: argparse.Namespace, overrides: Mapping[str, object | None] | None = None) -> Loaded:
    """What a command works with: its `--profile` and `--set`, and its own flags where they are not `None`."""
    flags: dict[str, object] = {}
    for assignment in cast(list[str], args.set):
        name, equals, value = assignment.partition("=")
        if not equals:
            raise SettingsError(f"--set {assignment} gives no value.", "Write --set NAME=VALUE.")
        flags[name.strip()] = value
    flags |= {name: value for name, value in (overrides or {}).items() if value is not None}
    return load(flags, profile=cast(str, args.profile))


def profiles() -> dict[str, Path]:
    """The profiles there are."""
    return {path.stem: path for path in sorted((PROJECT / "config" / "profiles").glob("*.toml"))}


def check_name(name: str, origin: str = "") -> None:
    """Refuses a name that does not exist, and says which was probably meant.

    Raises:
        SettingsError: it does not exist.
    """
    if name in described():
        return
    where = f" ({origin})" if origin else ""
    raise SettingsError(f"There is no setting {name!r}{where}.", _nearest(name))


# --- the layers ------------------------------------------------------------------------------------------------------


def _layers(overrides: Mapping[str, object], profile: str, files: Sequence[Path] | None) -> Iterator[Given]:
    for path in (PROJECT / "config" / "mirza.toml", user_file()) if files is None else files:
        yield from _from_file(path, str(path))
    if profile:
        yield from _from_profile(profile)
    yield from _from_environment()
    for name, value in overrides.items():
        check_name(name, FLAG)
        yield Given(name, _decoded(name, value, FLAG), FLAG)


def _from_profile(name: str) -> Iterator[Given]:
    known = profiles()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(known) or 'none'}."
        raise SettingsError(f"There is no profile {name!r}.", hint)
    yield from _from_file(known[name], f"profile {name}")


def _from_file(path: Path, origin: str) -> Iterator[Given]:
    try:
        values = TomlConfigSettingsSource(_Readable, path)()
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path} is no TOML: {error}.", "Mend that line: text stands in quotes.") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path} is not UTF-8.", "Save it again in that encoding.") from error
    except OSError as error:
        raise SettingsError(
            f"{path} cannot be read: {error.strerror}.", "Give yourself the right to read it."
        ) from error
    for name, value in _flat(values):
        check_name(name, origin)
        yield Given(name, value, origin)


def _from_environment() -> Iterator[Given]:
    variables: dict[str, str] = {}
    for variable in os.environ:
        if not variable.startswith(PREFIX) or variable in OTHER_VARIABLES:
            continue
        name = variable.removeprefix(PREFIX).lower().replace("__", ".")
        if name not in SettingsTree.model_fields:  # MIRZA_LLM='{"model": ...}' is a whole group
            check_name(name, variable)
        if name in SettingsTree.model_fields or described()[name].is_json:
            _json(os.environ[variable], variable)  # pydantic-settings would not say which variable it was
        variables[name] = variable
    values = EnvSettingsSource(_Readable)()
    for name, value in _flat(values):
        variable = variables.get(name) or variables.get(name.partition(".")[0], name)
        check_name(name, variable)
        yield Given(name, _decoded(name, value, variable), variable)


def _flat(values: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Dotted names. What is in no group, and a group that does not exist, come as they are, to be refused by name."""
    for section, content in values.items():
        if isinstance(content, dict) and (content or section in SettingsTree.model_fields):
            for key, value in cast(dict[str, object], content).items():
                yield f"{section}.{key}", value
        else:
            yield section, content


def _decoded(name: str, value: object, origin: str) -> object:
    """Text from a flag or a variable, as the value that it means."""
    if not isinstance(value, str):
        return value
    setting = described()[name]
    text = _readable(value, origin)
    if setting.optional and text.lower() in {"unset", "none"}:
        return None
    if setting.is_json:
        return _json(text, origin)
    return next((choice for choice in setting.choices if str(choice) == text), text)


def _json(text: str, origin: str) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise SettingsError(
            f"{text!r} ({origin}) is no JSON.", 'It takes a JSON object, like {"1234": -5.0}.'
        ) from error


def _readable(text: str, origin: str) -> str:
    """What was meant, where Python read the bytes in an ASCII locale (`LC_ALL=C`, `PYTHONUTF8=0`)."""
    try:
        return os.fsencode(text).decode("utf-8")
    except UnicodeError as error:
        raise SettingsError(f"The value of {origin} is not UTF-8.", "Set it again in a UTF-8 terminal.") from error


# --- what to say -----------------------------------------------------------------------------------------------------


def _in_words(error: ValidationError, given: Mapping[str, Given]) -> SettingsError:
    problem = error.errors()[0]
    name = ".".join(str(part) for part in problem["loc"][:2])
    value = given[name]
    setting = described()[name]
    shown = "empty" if value.value == "" else f"{value.value!r}"
    return SettingsError(f"{name} is {shown} ({value.origin}).", f"It takes {setting.takes}.")


def _nearest(name: str) -> str:
    """The name that was probably meant: right in another group, alike as a whole, or alike in its last part."""
    names, groups = list(described()), list(SettingsTree.model_fields)
    first, _, last = name.rpartition(".")
    if name in groups:
        return f"It is a group: `mirza settings show {name}` lists what is in it."
    if not first and (near := difflib.get_close_matches(name, groups, n=1, cutoff=0.7)):
        return f"Did you mean the group {near[0]}?"
    same_last_part = [known for known in names if known.partition(".")[2] == last]
    if near := difflib.get_close_matches(name, same_last_part or names, n=1, cutoff=0.4 if same_last_part else 0.7):
        return f"Did you mean {near[0]}?"
    last_parts = {known.partition(".")[2]: known for known in names}
    if near := difflib.get_close_matches(last, last_parts, n=1, cutoff=0.7):
        return f"Did you mean {last_parts[near[0]]}?"
    if near := difflib.get_close_matches(first, groups, n=1):
        return f"`mirza settings show {near[0]}` lists what there is in {near[0]}."
    return "`mirza settings` lists them all."
