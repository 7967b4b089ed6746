"""`mirza bench talk`: scripted conversations with the real models, measured on their stereo recordings.

In real time, or with `--full-speed` as quickly as the models allow: then only the waiting is left out.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from mirza.bench.script import TALKS, Script, read_scripts
from mirza.errors import MirzaError

if TYPE_CHECKING:
    from mirza.audio.base import Samples
    from mirza.bench.judge import Judge, Verdict
    from mirza.bench.patient import Busy
    from mirza.bench.peer import Pipecat
    from mirza.bench.take import Take
    from mirza.bench.turn_table import TurnRow
    from mirza.settings import SettingsTree

MAX_TOKENS = 120
"""Long enough for a story to be interrupted, for both systems; greedy, so that both say the same."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `mirza bench talk` takes."""
    parser.add_argument("--talks", type=Path, default=TALKS, metavar="DIR", help="the scripts (tests/talks)")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="scripts or groups of scripts")
    parser.add_argument("--runs", type=int, default=1, metavar="N", help="how often each is held (1)")
    parser.add_argument("--peer", choices=["pipecat"], help="hold them with this one, too (make peers)")
    parser.add_argument("--output", type=Path, metavar="DIR", help="keep the stereo recordings and takes here")
    parser.add_argument("--table-only", action="store_true", help="decide ends of turns only, faster than real time")
    parser.add_argument("--full-speed", action="store_true", help="let no time pass in which no model works")
    parser.add_argument("--no-judge", action="store_true", help="do not listen to the answers with Whisper")
    parser.add_argument(
        "--keep-sounds", action="store_true", help="record lines that have no recording beside the scripts"
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def run(args: argparse.Namespace) -> int:
    """Holds the conversations and prints the report; 1 if Mirza did anything that a script forbids."""
    from mirza.blas import ensure_fast_blas

    ensure_fast_blas()
    from mirza.bench.talk_report import in_words, summed_up
    from mirza.log import set_up
    from mirza.settings_sources import settings_of

    if args.runs < 1:
        raise MirzaError(f"A conversation cannot be held {args.runs} times.", "Give --runs 1 or more.")
    scripts = read_scripts(args.talks, args.only)
    settings = settings_of(args).tree
    set_up(settings.log, settings.paths)
    scripts, skipped = playable(scripts, settings)
    if args.full_speed:
        from mirza.bench.patient import run_patiently

        if args.peer:
            raise MirzaError("A peer is held in real time only.", "Leave out --full-speed.")
        verdicts, table = run_patiently(lambda busy: _hold(args, scripts, settings, busy), work_takes_time=True)
    else:
        verdicts, table = asyncio.run(_hold(args, scripts, settings))
    report = summed_up(scripts, verdicts, table, skipped, full_speed=args.full_speed)
    if args.json:
        print(report.model_dump_json(indent=1))
    else:
        print(in_words(report))
    return 1 if any(verdict.faults for verdict in verdicts if verdict.system == "mirza") else 0


def playable(scripts: Sequence[Script], settings: SettingsTree) -> tuple[list[Script], list[str]]:
    """The scripts whose models are here, and a sentence for each that has to be left out."""
    from mirza import models
    from mirza.folders import cache_folder

    cache = cache_folder(settings.paths)
    kept: list[Script] = []
    skipped: list[str] = []
    for script in scripts:
        missing = [name for name in script.needs if not models.is_pulled(models.find(name), cache)]
        if missing:
            skipped.append(f"{script.name} was left out: mirza models pull {' '.join(missing)}")
        else:
            kept.append(script)
    return kept, skipped


async def _hold(
    args: argparse.Namespace, scripts: Sequence[Script], settings: SettingsTree, busy: Busy | None = None
) -> tuple[list[Verdict], list[TurnRow]]:
    from mirza.bench.askers import Askers
    from mirza.bench.judge import Judge
    from mirza.bench.turn_table import spoken_turns, turn_table
    from mirza.folders import cache_folder

    cache = cache_folder(settings.paths)
    askers = Askers(args.talks / "sounds", cache, keep=args.keep_sounds)
    ears = None if args.no_judge else Judge(cache)
    sounds = [await askers.lines(script) for script in scripts]
    await askers.close()
    pairs = list(zip(scripts, sounds, strict=True))
    spoken = [turn for script, lines in pairs if not script.settings for turn in spoken_turns(script, lines)]
    table = await turn_table(spoken, settings, cache)
    pairs = [pair for pair in pairs if not pair[0].table_only]
    if args.table_only:
        return [], table
    with ExitStack() as stack:
        folder = args.output or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="mirza-talk-")))
        folder.mkdir(parents=True, exist_ok=True)
        stage = Stage(settings, folder, ears, busy)
        takes = await stage.mirza(pairs, args.runs)
        if args.peer:
            takes += stage.peer(pairs, args.runs)
        return await stage.judge(scripts, takes), table


class Stage:
    """Where scripts are held, one after another, and judged when all is quiet again."""

    def __init__(self, settings: SettingsTree, folder: Path, ears: Judge | None, busy: Busy | None = None) -> None:
        self._settings, self._folder, self._ears, self._busy = settings, folder, ears, busy

    async def mirza(self, pairs: Sequence[tuple[Script, list[Samples]]], runs: int) -> list[Take]:
        """Mirza's takes of scripts, with the sounds of their lines."""
        from mirza.bench.theatre import play

        takes: list[Take] = []
        for number in range(runs):
            for script, lines in pairs:
                _say(f"mirza: {script.name} ({number + 1} of {runs})")
                wanted, file = settings_for(script, self._settings), self._file("mirza", script, number)
                take = await play(script, lines, wanted, file, self._busy)
                takes.append(self._kept(take))
        return takes

    def peer(self, pairs: Sequence[tuple[Script, list[Samples]]], runs: int) -> list[Take]:
        """Pipecat's takes; scripts that try one of Mirza's settings are not for it."""
        from mirza.bench.peer import pipecat
        from mirza.build import llm_folder

        takes: list[Take] = []
        settings = settings_for(None, self._settings)
        with pipecat(settings, Path(llm_folder(settings))) as peer:
            for number in range(runs):
                for script, lines in pairs:
                    if script.settings:
                        continue
                    _say(f"pipecat: {script.name} ({number + 1} of {runs})")
                    takes.append(self._kept(self._play(peer, script, lines, number)))
        return takes

    def _play(self, peer: Pipecat, script: Script, lines: list[Samples], number: int) -> Take:
        """A peer that fails at a script has failed at it; the others are held all the same."""
        from mirza.bench.take import Take

        file = self._file("pipecat", script, number)
        try:
            return peer.play(script, lines, file)
        except MirzaError as error:
            return Take(system="pipecat", script=script.name, failures=[str(error)])

    async def judge(self, scripts: Sequence[Script], takes: Sequence[Take]) -> list[Verdict]:
        """A verdict for each take."""
        import numpy as np

        from mirza.bench.judge import judge
        from mirza.bench.stereo import read_stereo

        by_name = {script.name: script for script in scripts}
        if self._ears is not None:
            await self._ears.open()
        verdicts: list[Verdict] = []
        for take in takes:
            recorded = read_stereo(Path(take.recording)) if take.recording else None
            loudspeaker = recorded.loudspeaker if recorded else np.zeros(1, np.float32)
            rate = recorded.rate if recorded else 1
            verdicts.append(await judge(by_name[take.script], take, loudspeaker, rate, self._ears))
        if self._ears is not None:
            await self._ears.close()
        return verdicts

    def _file(self, system: str, script: Script, number: int) -> Path:
        return self._folder / f"{script.name}-{system}-{number + 1}.wav"

    def _kept(self, take: Take) -> Take:
        if take.recording:
            Path(take.recording).with_suffix(".json").write_text(take.model_dump_json(indent=1), encoding="utf-8")
        return take


def settings_for(script: Script | None, settings: SettingsTree) -> SettingsTree:
    """The settings that a script is held with: greedy answers of a bounded length, and what the script sets.

    Raises:
        MirzaError: the script sets something that does not exist.
    """
    from pydantic import ValidationError

    from mirza.settings import SettingsTree

    changes: dict[str, object] = {"llm.temperature": 0.0, "llm.max_tokens": min(MAX_TOKENS, settings.llm.max_tokens)}
    changes |= script.settings if script is not None else {}
    tree = settings.model_dump()
    for name, value in changes.items():
        section, _, key = name.partition(".")
        tree.setdefault(section, {})[key] = value
    try:
        return SettingsTree.model_validate(tree)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        name = script.name if script is not None else "the benchmark"
        raise MirzaError(f"The script {name!r} cannot set {where}: {first['msg']}.", "Mend the script.") from error


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
