"""`mirza models`: what there is, what is here; get, check and remove models."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, TextColumn, TransferSpeedColumn
from rich.progress import Progress as Bars
from rich.table import Table

from mirza.errors import ModelDamaged, ModelNotFound, SettingsError
from mirza.folders import cache_folder
from mirza.models.choice import catalogue, choose_llm, machine_memory_bytes
from mirza.models.fetch import Progress
from mirza.models.kinds import MB, Model
from mirza.models.pulling import pull
from mirza.models.store import folder_of, is_pulled, models_folder, pulled, remove, resolve, verify
from mirza.settings_sources import settings_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = ("list", "pull", "remove", "verify", "split-mtp")
    parser.add_argument("action", nargs="?", default="list", choices=actions, help="what to do (default: list)")
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="models: names from the list, or a hub repository OWNER/NAME; for split-mtp: SOURCE OUT",
    )
    parser.add_argument("--default", action="store_true", help="pull what `mirza talk` needs on this machine")
    parser.add_argument("--all", action="store_true", help="pull every model that needs no hub")
    parser.add_argument("--force", action="store_true", help="pull again what is here already")
    parser.add_argument("--bits", type=int, choices=(2, 3, 4, 6, 8), help="split-mtp: quantise the head")
    parser.add_argument("--json", action="store_true", help="one object a line")


def run(args: argparse.Namespace) -> int:
    cache = cache_folder(settings_of(args).tree.paths)
    names: list[str] = args.names
    match str(args.action):
        case "list":
            _list(cache, as_json=bool(args.json))
        case "pull":
            _pull(_wanted(args, names), cache, force=bool(args.force), as_json=bool(args.json))
        case "remove":
            _remove(_named(names), cache, as_json=bool(args.json))
        case "verify":
            return _verify(names or [model.name for model in pulled(cache)], cache, as_json=bool(args.json))
        case _:
            _split_mtp(names, args.bits)
    return 0


def _list(cache: Path, *, as_json: bool) -> None:
    if as_json:
        for model in catalogue():
            print(json.dumps(_described(model, cache), ensure_ascii=False))
        return
    table = Table(box=None, pad_edge=False)
    for column in ("model", "for", "here", "download", "languages"):
        table.add_column(column, no_wrap=True, justify="right" if column == "download" else "left")
    table.add_column("what it is")
    for model in catalogue():
        languages = " ".join(model.languages[:2]) + (" …" if len(model.languages) > 2 else "")
        here = "yes" if is_pulled(model, cache) else ""
        size = f"{model.download_bytes // MB} MB"
        table.add_row(model.name, model.purpose.value, here, size, languages, model.about)
    Console().print(table)
    print(f"\nThey are kept in {models_folder(cache)}. Get one with `mirza models pull NAME`.")


def _described(model: Model, cache: Path) -> dict[str, object]:
    return {
        "name": model.name,
        "purpose": model.purpose.value,
        "about": model.about,
        "licence": model.licence,
        "languages": model.languages,
        "sources": [str(source) for source in model.sources],
        "download_bytes": model.download_bytes,
        "memory_bytes": model.memory_bytes,
        "default": model.default,
        "pulled": is_pulled(model, cache),
        "path": str(folder_of(model, cache)),
    }


def _named(names: list[str]) -> list[str]:
    if not names:
        raise SettingsError("Which model?", "Name one: `mirza models list` shows all of them.")
    return names


def _wanted(args: argparse.Namespace, names: list[str]) -> list[str]:
    """What to pull, without repeats, in order."""
    wanted = list(names)
    if args.all:
        wanted += [model.name for model in catalogue() if not model.on_hub]
    if args.default:
        wanted += [model.name for model in catalogue() if model.default]
        from mirza.models.hub import hub_reachable

        wanted.append(choose_llm(machine_memory_bytes(), hub_reachable()).name)
    return list(dict.fromkeys(_named(wanted)))


def _pull(names: Sequence[str], cache: Path, *, force: bool, as_json: bool) -> None:
    for name in names:
        model = resolve(name)
        if not force and is_pulled(model, cache):
            _say(as_json, {"model": name, "stage": "here"}, f"{name} is here.")
            continue
        with _reporter(as_json) as report:
            folder = pull(name, cache, report, force=force)
        _say(as_json, {"model": name, "stage": "pulled", "path": str(folder)}, f"{name} is in {folder}.")


@contextmanager
def _reporter(as_json: bool) -> Generator[Callable[[Progress], None]]:
    """Shows progress: lines of JSON on stdout, a bar on a terminal, one line elsewhere. The size comes first."""
    last = {"stage": "", "tenth": -1}

    def as_lines(progress: Progress) -> None:
        tenth = 10 * progress.done_bytes // max(1, progress.total_bytes)
        if (progress.stage, tenth) == (last["stage"], last["tenth"]):
            return
        if as_json:
            print(json.dumps({"model": progress.name, "stage": progress.stage, **_sizes(progress)}), flush=True)
        elif progress.stage != last["stage"]:
            size = f" {max(1, progress.total_bytes // MB)} MB" if progress.stage == "fetching" else ""
            print(f"{progress.name}: {progress.stage}{size}", file=sys.stderr, flush=True)
        last.update(stage=progress.stage, tenth=tenth)

    if as_json or not sys.stderr.isatty():
        yield as_lines
        return
    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn()
    with Bars(*columns, console=Console(stderr=True)) as bars:
        task = bars.add_task("", total=None)

        def as_bar(progress: Progress) -> None:
            description = f"{progress.name}: {progress.stage}"
            bars.update(task, description=description, completed=progress.done_bytes, total=progress.total_bytes)

        yield as_bar


def _sizes(progress: Progress) -> dict[str, int]:
    return {"done_bytes": progress.done_bytes, "total_bytes": progress.total_bytes}


def _remove(names: Sequence[str], cache: Path, *, as_json: bool) -> None:
    for name in names:
        freed = remove(name, cache)
        _say(as_json, {"model": name, "freed_bytes": freed}, f"{name} is gone: {freed // MB} MB are free again.")


def _verify(names: Sequence[str], cache: Path, *, as_json: bool) -> int:
    """Checks every byte; the exit status is 1 if anything is wrong, after all were looked at."""
    wrong = 0
    for name in names:
        try:
            verify(name, cache)
        except (ModelDamaged, ModelNotFound) as error:
            wrong += 1
            _say(as_json, {"model": name, "whole": False, "what": error.what, "do": error.do}, str(error))
        else:
            _say(as_json, {"model": name, "whole": True}, f"{name} is whole.")
    if not names:
        print("There are no models here. `mirza models pull --default` gets what Mirza needs.", file=sys.stderr)
    return 1 if wrong else 0


def _split_mtp(names: list[str], bits: int | None) -> None:
    if len(names) != 2:
        raise SettingsError("split-mtp takes a model and a new folder.", "`mirza models split-mtp SOURCE OUT`.")
    from mirza.llm.mlx.loading import split_mtp

    out = split_mtp(Path(names[0]), Path(names[1]), bits=bits)
    print(f"The drafter is in {out}. Use it with `--set llm.drafter={out}`.")


def _say(as_json: bool, values: dict[str, object], sentence: str) -> None:
    print(json.dumps(values, ensure_ascii=False) if as_json else sentence, flush=True)
