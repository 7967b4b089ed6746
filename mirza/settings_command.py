"""`mirza settings`: every value and where it came from; explain one, change one, open the file in an editor."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import cast

from pydantic import BaseModel, SecretStr

from mirza.errors import SettingsError
from mirza.folders import PROJECT, user_file
from mirza.settings import SettingsTree
from mirza.settings_file import put, unset, write
from mirza.settings_sources import DEFAULT, Loaded, check_name, load, profiles, settings_of
from mirza.settings_text import COPY_HEADER, as_toml, described, markdown, sections, toml

ACTIONS = {"show", "explain", "set", "unset", "edit", "where"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "words",
        nargs="*",
        metavar="ACTION",
        help="show [GROUP] | explain NAME | set NAME VALUE | unset NAME | edit | where (default: show every setting)",
    )
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="one object a line")
    output.add_argument("--toml", action="store_true", help="the defaults as a file, for config/mirza.toml")
    output.add_argument("--markdown", action="store_true", help="the reference, for docs/settings.md")


def run(args: argparse.Namespace) -> int:
    if args.toml or args.markdown:
        sys.stdout.write(toml(*COPY_HEADER) if args.toml else markdown())
        return 0
    match cast(list[str], args.words):
        case [] | ["show"]:
            show(settings_of(args), as_json=cast(bool, args.json))
        case ["show", group] | [group] if group in SettingsTree.model_fields:
            show(settings_of(args), group, as_json=cast(bool, args.json))
        case ["edit"]:
            return edit()
        case ["where"]:
            where()
        case ["set", name, *values] if values:
            change(name, " ".join(values))
        case ["unset", name]:
            change(name, None)
        case ["explain" | "show", name] | [name] if name not in ACTIONS:
            explain(settings_of(args), name)
        case _:
            said = " ".join(["mirza settings", *cast(list[str], args.words)])
            raise SettingsError(f"`{said}` says too little or too much.", "See `mirza settings --help`.")
    return 0


def value_of(tree: SettingsTree, name: str) -> object:
    """The value of one setting. A secret is never given away: `***` where there is one."""
    section, _, key = name.partition(".")
    value = dict(cast(BaseModel, dict(tree)[section]))[key]
    if isinstance(value, SecretStr):
        return "***" if value.get_secret_value() else ""
    return str(value) if isinstance(value, Path) else value


def show(settings: Loaded, group: str = "", *, as_json: bool = False) -> None:
    """Prints every setting, or those of one group, with its value and origin."""
    names = [name for name in described() if not group or name.startswith(f"{group}.")]
    if as_json:
        defaults = SettingsTree()
        for name in names:
            setting = described()[name]
            line = {"name": name, "value": value_of(settings.tree, name), "from": settings.origin(name)}
            print(json.dumps(line | {"default": value_of(defaults, name), "takes": setting.takes}, ensure_ascii=False))
        return
    width = max(len(name) for name in names)
    columns = shutil.get_terminal_size().columns
    for section in sections():
        inside = [setting.name for setting in section.settings if setting.name in names]
        if inside:
            print(f"\n{section.about}")
        for name in inside:
            origin = settings.origin(name)
            text = as_toml(value_of(settings.tree, name))
            room = max(columns - width - 4, 20)
            print(f"  {name:{width}}  {text if len(text) <= room else text[: room - 1] + '…'}")
            if origin != DEFAULT:
                print(f"  {'':{width}}  from {origin}")
    if not group:
        print("\n`mirza settings explain NAME` tells more about one; `mirza settings set NAME VALUE` changes it.")


def explain(settings: Loaded, name: str) -> None:
    """Prints all there is to know about one setting."""
    check_name(name)
    setting = described()[name]
    print(f"{name} = {as_toml(value_of(settings.tree, name))}    from {settings.origin(name)}\n")
    print(textwrap.fill(setting.about, 100))
    print(f"\nTakes {setting.takes}. The default is {setting.default}.")
    print(f"Change it for good:  mirza settings set {name} VALUE")
    print(f"For one run:         --set {name}=VALUE, or MIRZA_{name.upper().replace('.', '__')}=VALUE")


def change(name: str, text: str | None) -> None:
    """Writes one setting to the user's file, or takes it out, and says so."""
    check_name(name)
    path = user_file()
    if text is None:
        print(f"{name} {'is no longer set' if unset(path, name) else 'was not set'} in {path}.")
    else:
        put(path, name, text)
        print(f"{name} is set in {path}.")
    origin = load().origin(name)
    if origin not in {str(path), DEFAULT, str(PROJECT / "config" / "mirza.toml")}:
        print(f"For now {origin} wins over it.")


def edit() -> int:
    """Opens the user's file in `$VISUAL` or `$EDITOR`, and checks it afterwards."""
    path = user_file()
    if not path.exists():
        write(path, toml("# Your own settings. They win over config/mirza.toml. Take the # away where you change one."))
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or shutil.which("nano") or shutil.which("vi")
    if not editor:
        raise SettingsError("There is no editor.", f"Set EDITOR, or open {path} yourself.")
    try:
        status = subprocess.call([*shlex.split(editor), str(path)])
    except OSError as error:
        raise SettingsError(f"{editor} did not start: {error.strerror}.", "Set EDITOR to one that is there.") from error
    load()
    return status


def where() -> None:
    """Prints the files that settings are read from, weakest first."""
    for path in (PROJECT / "config" / "mirza.toml", *profiles().values(), user_file()):
        print(f"{path}{'' if path.exists() else '  (not there yet)'}")
