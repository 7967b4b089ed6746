"""The user's settings file: one value changed, everything else kept as it was written, comments too."""

# tomlkit's types are partly unknown; this file is the border.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from pathlib import Path
from typing import cast

import tomlkit
from pydantic import BaseModel, SecretStr
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Table

from mirza.errors import SettingsError
from mirza.settings_sources import load


def put(path: Path, name: str, text: str) -> None:
    """Sets `name` to what `text` means.

    Raises:
        SettingsError: the value does not fit, or the file cannot be read or written.
    """
    section, _, key = name.partition(".")
    value = dict(cast(BaseModel, dict(load({name: text}, files=[]).tree)[section]))[key]
    if value is None:
        raise SettingsError(f"A file cannot say that {name} is unset.", f"Write: mirza settings unset {name}.")
    document = _read(path)
    if section not in document:
        document.add(section, tomlkit.table())
    cast(Table, document[section])[key] = _plain(value)
    write(path, tomlkit.dumps(document))


def unset(path: Path, name: str) -> bool:
    """Takes `name` out of the file; whether it was there.

    Raises:
        SettingsError: the file cannot be read or written.
    """
    section, _, key = name.partition(".")
    document = _read(path)
    table = document.get(section)
    if not isinstance(table, Table) or key not in table:
        return False
    table.remove(key)
    write(path, tomlkit.dumps(document))
    return True


def write(path: Path, text: str) -> None:
    """Writes the file whole or not at all, and for the user's eyes only: it may hold a key.

    Raises:
        SettingsError: it cannot be written.
    """
    new = path.with_suffix(".toml.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new.touch(mode=0o600)
        new.write_text(text, encoding="utf-8")
        new.replace(path)
    except OSError as error:
        raise SettingsError(f"{path} cannot be written: {error.strerror}.", "Look at its rights.") from error


def _read(path: Path) -> tomlkit.TOMLDocument:
    try:
        return tomlkit.parse(path.read_text(encoding="utf-8")) if path.exists() else tomlkit.document()
    except (TOMLKitError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is no TOML: {error}.", "Mend it: `mirza settings edit`.") from error
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}.", "Look at its rights.") from error


def _plain(value: object) -> object:
    """A value as TOML can hold it."""
    match value:
        case SecretStr():
            return value.get_secret_value()
        case Path():
            return str(value)
        case dict():
            table = tomlkit.inline_table()
            table.update({str(key): part for key, part in cast(dict[object, object], value).items()})
            return table
        case _:
            return value
