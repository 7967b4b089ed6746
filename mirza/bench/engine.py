"""`mirza bench engine`: what the language model's engine takes, in time and in bytes, beside its peers.

Everything is measured on the same checkpoint in the same run: decoding against mlx-vlm's bare loop, turn after turn of
one conversation against mlx-vlm's `stream_generate`, `mlx_vlm.server` and `mlx_lm.server`. On a CPU all of them get a
float32 copy, which is what MLX is quickest with there, and the same BLAS.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirza.bench.allowance import Allowance
from mirza.bench.sections import Sections
from mirza.errors import ModelUnsupported, ServerError

if TYPE_CHECKING:
    from mirza.bench.contest import Contestant
    from mirza.bench.measures import Measures

SCHEMA = 2
"""Of the run file."""
MEMORY, DECODING, BY_CONTEXT, TOKEN, DRAFTING, FIRST_TOKEN, FIRST_SPEECH, SIZES, KEEPING, TURNS, ROUNDING = SECTIONS = (
    "memory",
    "decoding",
    "decoding-by-context",
    "token",
    "drafting",
    "first-token",
    "first-speech",
    "bytes",
    "keeping",
    "turns",
    "rounding",
)
USUAL = SECTIONS[:-1]
"""`rounding` takes a second copy of the model, in float32."""
BUDGETS = (0, 24)
"""Tokens of thought before the first spoken one."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure."""

    model: str
    """With a shape: where tokenizer and template come from."""
    runs: int = 3
    tokens: int = 64
    contexts: Sequence[int] = (128, 512, 2048)
    peers: bool = True
    servers: bool = True
    """Among the peers."""
    only: Sequence[str] = USUAL
    """Some of `SECTIONS`."""
    section_s: float = 0.0
    """What a section may take; 0 is as long as it wants."""
    prompts_s: float = 0.0
    """What first tokens by context may take together; long contexts are left out, and that is said."""
    shape: str = ""
    """Random weights in this shape, instead of the model's own."""
    bits: int = 0
    float32: bool = False
    """Random weights that are not quantised: in float32 instead of bfloat16."""
    agreeing: bool = False
    keep: str = ""
    """A folder where random weights stay, and are looked for first."""


def measure(
    plan: Plan, on_progress: Callable[[str], None] = lambda _: None, output: Path | None = None
) -> dict[str, Any]:
    """The whole run file. With `output` it is also written there, again after each section.

    Raises:
        ModelError: the model is not there, damaged, or cannot run here.
        MirzaError: the file cannot be written.
    """
    from mirza.blas import ensure_fast_blas

    blas = ensure_fast_blas()
    from mirza.bench.measures import Measures, as_it_runs
    from mirza.bench.provenance import busy, provenance
    from mirza.llm.mlx.loading import has_own_drafter, resolve

    report: dict[str, Any] = {"schema": SCHEMA, "bench": "engine", "plan": asdict(plan), "seconds": {}, "failed": {}}
    report["left_out"] = []
    sections = Sections(report, plan.only, plan.section_s, output, on_progress)
    with tempfile.TemporaryDirectory(prefix="mirza-bench-") as scratch:
        start = time.perf_counter()
        model = resolve(plan.model)
        if plan.shape:
            on_progress("making random weights")
            model = _random(plan, model, Path(scratch) / plan.shape)
        folder = as_it_runs(model, Path(scratch) / "model")
        report["seconds"]["weights"] = round(time.perf_counter() - start, 2)
        report["notes"] = busy()
        if set(plan.only) - {TURNS}:
            on_progress("loading")
            measures = Measures(folder, Path(scratch) / "snapshots")
            report["seconds"]["load"] = round(measures.load_s, 2)
            report["provenance"] = provenance(folder, measures.dtype, blas)
            report["notes"] = [*measures.notes, *busy()]
            sections.save()
            _of_the_engine(sections, measures, plan)
            measures.close()
        else:
            report["provenance"] = provenance(folder, "as stored", blas)
        sections.run(TURNS, "turns", partial(_turns, folder, plan, has_own_drafter(folder), sections))
    report["verdict"] = _verdict(report.get("turns", []))
    sections.save()
    return report


def _random(plan: Plan, like: Path, out: Path) -> Path:
    """Random weights: those that were kept, or new ones."""
    from mirza.bench.shapes import recipe, recipe_of, shape_named, write_random

    shape = shape_named(plan.shape)
    out = Path(plan.keep or out)
    if out.exists():
        if recipe_of(out) != recipe(shape, bits=plan.bits, agreeing=plan.agreeing, float32=plan.float32):
            raise ModelUnsupported(f"{out} holds something else than these random weights.", "Name another folder.")
        return out
    return write_random(out, shape, like=like, bits=plan.bits, agreeing=plan.agreeing, float32=plan.float32)


def _of_the_engine(sections: Sections, measures: Measures, plan: Plan) -> None:
    """All sections that one loaded engine is enough for; the memory before a second model is loaded."""
    runs, tokens, contexts = plan.runs, plan.tokens, plan.contexts
    one, many = _one, _many
    sections.run(MEMORY, "memory", lambda: one(measures.memory(max(contexts), tokens)))
    sections.run(SIZES, "bytes", lambda: one(measures.sizes()))
    sections.run(DECODING, "decoding", lambda: iter([_rows(measures.decoding(runs, tokens))]))
    allowance = Allowance(runs, plan.prompts_s)
    sections.run(FIRST_TOKEN, "first_token", lambda: many(measures.first_token(contexts, allowance)))
    sections.report["left_out"] += [f"{FIRST_TOKEN}: {note}" for note in allowance.notes]
    sections.run(FIRST_SPEECH, "first_speech", lambda: many(measures.first_speech(BUDGETS, runs)))
    sections.run(TOKEN, "token", lambda: one(measures.token(tokens)))
    sections.run(KEEPING, "keeping", lambda: many(measures.keeping(contexts, runs)))
    sections.run(DRAFTING, "drafting_agrees", lambda: one(measures.drafting_agrees(tokens)))
    sections.run(DRAFTING, "forced_drafts", lambda: many(measures.forced_drafts(tokens)))
    rates = (rate for context in contexts for rate in measures.decoding(1, tokens, context))
    sections.run(BY_CONTEXT, "decoding_by_context", lambda: many(rates))
    sections.run(ROUNDING, "rounding", lambda: many(measures.rounding(tokens)))


def _one(found: Any) -> Iterator[dict[str, Any] | None]:
    yield None if found is None else asdict(found)


def _many(found: Iterable[Any]) -> Iterator[list[dict[str, Any]]]:
    """The list as it grows."""
    rows: list[dict[str, Any]] = []
    yield rows
    for row in found:
        rows.append(asdict(row))
        yield rows


def _rows(found: Iterable[Any]) -> list[dict[str, Any]]:
    return [asdict(row) for row in found]


def _turns(folder: Path, plan: Plan, head: bool, sections: Sections) -> Iterator[list[dict[str, Any]]]:
    from mirza.bench.contest import compete

    def leave_out(error: ServerError) -> None:
        sections.fail(f"turns, peer {len(sections.report['failed']) + 1}", error.what)

    yield []
    for rows in compete(_contestants(folder, plan, head), plan.runs, sections.on_progress, leave_out):
        yield _rows(rows)


def _contestants(folder: Path, plan: Plan, head: bool) -> list[Callable[[], Contestant]]:
    from mirza.bench.peers import Mirza, Server, StreamGenerate

    all_of_them: list[Callable[[], Contestant]] = [partial(Mirza, folder, False)]
    if head:
        all_of_them.append(partial(Mirza, folder, True))
    if not plan.peers:
        return all_of_them
    all_of_them.append(partial(StreamGenerate, folder, False))
    if head:
        all_of_them.append(partial(StreamGenerate, folder, True))
    if not plan.servers:
        return all_of_them
    all_of_them.append(partial(Server, folder, "mlx_vlm.server", apc=True))
    if head:
        draft = ["--draft-model", str(folder), "--draft-kind", "mtp"]
        all_of_them.append(partial(Server, folder, "mlx_vlm.server", options=draft, apc=True))
    all_of_them.append(partial(Server, folder, "mlx_lm.server"))
    return all_of_them


def _verdict(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """In each scene, Mirza's slower self against the best of the others; above 1, Mirza is ahead."""
    verdicts: list[dict[str, Any]] = []
    for scene in dict.fromkeys(row["scene"] for row in rows):
        mine = [row for row in rows if row["scene"] == scene and row["contestant"].startswith("mirza")]
        others = [row for row in rows if row["scene"] == scene and row["first_token_s"] and row not in mine]
        if not others or not mine:
            continue
        best = min(others, key=lambda row: row["first_token_s"])
        slowest = max(row["first_token_s"] for row in mine)
        times = round(best["first_token_s"] / slowest, 2)
        verdicts.append({"scene": scene, "best_peer": best["contestant"], "times_faster": times})
    return verdicts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", default="", metavar="DIR", help="a folder, a repository or a catalogue name")
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="medians over so many runs (3)")
    parser.add_argument("--tokens", type=int, default=64, metavar="N", help="decoded in each run (64)")
    parser.add_argument("--no-peers", action="store_true", help="Mirza alone")
    parser.add_argument("--no-servers", action="store_true", help="no peer that is a server")
    parser.add_argument("--no-turns", action="store_true", help="no conversations")
    parser.add_argument(
        "--only", nargs="+", choices=SECTIONS, default=USUAL, metavar="NAME", help=f"some of {', '.join(SECTIONS)}"
    )
    parser.add_argument(
        "--section-time", type=float, default=0.0, metavar="S", help="seconds after which a section is given up (never)"
    )
    parser.add_argument(
        "--prompt-time", type=float, default=0.0, metavar="S",
        help="seconds for first tokens by context; contexts that do not fit are left out (as long as it takes)",
    )  # fmt: skip
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the run file there, after each section")
    parser.add_argument(
        "--contexts", type=int, nargs="+", default=[128, 512, 2048], metavar="N", help="prompts' tokens"
    )
    parser.add_argument(
        "--shape", default="", help="random weights in this shape (qwen3.5-4b, qwen3.5-9b); --model gives the tokenizer"
    )
    parser.add_argument("--bits", type=int, choices=[0, 4, 8], default=0, help="of random weights; 0 is bfloat16")
    parser.add_argument("--float32", action="store_true", help="random weights in float32 instead of bfloat16")
    parser.add_argument("--agreeing", action="store_true", help="random weights for which every draft is right")
    parser.add_argument("--keep", default="", metavar="DIR", help="where random weights stay for the next run")
    parser.add_argument("--json", action="store_true", help="print the run file")


def run(args: argparse.Namespace) -> int:
    """Prints what was measured."""
    plan = Plan(
        args.model or "smollm2-135m",
        args.runs,
        args.tokens,
        tuple(args.contexts),
        peers=not args.no_peers,
        servers=not args.no_servers,
        only=tuple(name for name in args.only if name != TURNS or not args.no_turns),
        section_s=args.section_time,
        prompts_s=args.prompt_time,
        shape=args.shape,
        bits=args.bits,
        float32=args.float32,
        agreeing=args.agreeing,
        keep=args.keep,
    )
    report = measure(plan, lambda what: print(f"... {what}", file=sys.stderr, flush=True), args.output)
    print(json.dumps(report, ensure_ascii=False, indent=1) if args.json else _in_words(report))
    return 0


def _in_words(report: dict[str, Any]) -> str:
    model = report["provenance"]["model"]
    lines = [f"{model['type']} {model['dtype']}, {model['bytes'] / 1e6:.1f} MB"]
    if report.get("decoding"):
        lines += ["", "decoding, tokens a second", *map(_rate, report["decoding"])]
    if report.get("token"):
        token = report["token"]
        parts = ", ".join(f"{name} {1e3 * token[f'{name}_s']:.2f}" for name in ("build", "submit", "wait", "in_loop"))
        lines += ["", f"a token, ms: {parts}; {token['operations']} operations"]
    if report.get("first_token"):
        lines += ["", "first token by context, cold and warm, ms"]
    for row in report.get("first_token", ()):
        lines.append(f"  {row['context_tokens']:6} {1e3 * row['cold_s']:9.1f} {1e3 * row['warm_s']:9.1f}")
    for row in report.get("first_speech", ()):
        kind = f"{'cold' if row['cold'] else 'warm'}, {row['thinking_tokens']} tokens of thought"
        first, speech = (
            "none" if row[name] is None else f"{1e3 * row[name]:.1f}" for name in ("first_token_s", "first_speech_s")
        )
        lines.append(f"  {kind:30} first token {first}, speech {speech}")
    for name in ("bytes", "memory"):
        if report.get(name):
            lines += ["", name, *(f"  {what:24} {size:14,}" for what, size in report[name].items())]
    if report.get("turns"):
        lines += ["", f"{'first token, ms':24} {'':30} {'median':>8} {'min':>8} {'max':>8}  speech  reused/prompt"]
        lines += map(_turn, report["turns"])
    lines += ["", *report["notes"]]
    lines += ["", *(f"{row['scene']}: {row['times_faster']} x {row['best_peer']}" for row in report["verdict"])]
    lines += [f"{name}: {why}" for name, why in report["failed"].items()]
    lines += [f"left out: {what}" for what in report["left_out"]]
    return "\n".join(lines)


def _rate(rate: dict[str, Any]) -> str:
    accepted = f", {rate['accepted_share']:.0%} of drafts accepted" if rate["accepted_share"] else ""
    return f"  {rate['how']:24} {rate['tokens_per_s']:8.1f}  {rate['against_bare']:.2f} x bare{accepted}"


def _turn(row: dict[str, Any]) -> str:
    times = [1e3 * row[name] for name in ("first_token_s", "first_token_min_s", "first_token_max_s", "first_speech_s")]
    figures = " ".join(f"{value:8.1f}" for value in times) if times[0] else f"{'refused':>35}"
    return f"{row['scene']:24} {row['contestant'][:30]:30} {figures}  {row['reused_tokens']}/{row['prompt_tokens']}"
