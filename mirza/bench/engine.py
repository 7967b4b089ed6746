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
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mirza.bench.contest import Contestant, Row
    from mirza.bench.step import Agreement

SCHEMA = 1
"""Of the run file."""


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
    turns: bool = True
    """Whether conversations are held."""
    shape: str = ""
    """Random weights in this shape, instead of the model's own."""
    bits: int = 0
    agreeing: bool = False


def measure(plan: Plan, on_progress: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """The whole run file.

    Raises:
        ModelError: the model is not there, damaged, or cannot run here.
    """
    from mirza.blas import ensure_fast_blas

    blas = ensure_fast_blas()
    from mirza.bench.contest import compete
    from mirza.bench.measures import Measures, as_it_runs
    from mirza.bench.provenance import busy, memory, provenance
    from mirza.bench.shapes import shape_named, write_random
    from mirza.llm.mlx.loading import resolve

    with tempfile.TemporaryDirectory(prefix="mirza-bench-") as scratch:
        model = resolve(plan.model)
        if plan.shape:
            on_progress("making random weights")
            shape = shape_named(plan.shape)
            random = Path(scratch) / plan.shape
            model = write_random(random, shape, like=model, bits=plan.bits, agreeing=plan.agreeing)
        folder = as_it_runs(model, Path(scratch) / "model")
        on_progress("decoding")
        measures = Measures(folder, Path(scratch) / "snapshots")
        report: dict[str, Any] = {
            "schema": SCHEMA,
            "bench": "engine",
            "plan": asdict(plan),
            "provenance": provenance(folder, measures.dtype, blas),
            "decoding": [asdict(rate) for rate in measures.decoding(plan.runs, plan.tokens)],
            "decoding_by_context": [
                asdict(rate) for context in plan.contexts for rate in measures.decoding(1, plan.tokens, context)
            ],
            "token": asdict(measures.token(plan.tokens)),
            "drafting_agrees": _table(measures.drafting_agrees(plan.tokens)),
            "first_token": [asdict(row) for row in measures.first_token(plan.contexts, plan.runs)],
            "bytes": asdict(measures.sizes()),
            "keeping": [asdict(cost) for cost in measures.keeping(plan.contexts, plan.runs)],
            "memory": asdict(memory()),
            "notes": [*measures.notes, *busy()],
        }
        head = measures.has_drafter
        measures.close()
        rows = compete(_contestants(folder, plan, head) if plan.turns else (), plan.runs, on_progress)
        report["turns"] = [asdict(row) for row in rows]
        report["verdict"] = _verdict(rows)
    return report


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


def _table(found: Agreement | None) -> dict[str, Any] | None:
    return None if found is None else asdict(found)


def _verdict(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """In each scene, Mirza's slower self against the best of the others; above 1, Mirza is ahead."""
    verdicts: list[dict[str, Any]] = []
    for scene in dict.fromkeys(row.scene for row in rows):
        mine = [row for row in rows if row.scene == scene and row.contestant.startswith("mirza")]
        others = [row for row in rows if row.scene == scene and row.first_token_s and row not in mine]
        if not others:
            continue
        best = min(others, key=lambda row: row.first_token_s)
        slowest = max(row.first_token_s for row in mine)
        verdicts.append(
            {"scene": scene, "best_peer": best.contestant, "times_faster": round(best.first_token_s / slowest, 2)}
        )
    return verdicts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", default="", metavar="DIR", help="a folder, a repository or a catalogue name")
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="medians over so many runs (3)")
    parser.add_argument("--tokens", type=int, default=64, metavar="N", help="decoded in each run (64)")
    parser.add_argument("--no-peers", action="store_true", help="Mirza alone")
    parser.add_argument("--no-servers", action="store_true", help="no peer that is a server")
    parser.add_argument("--no-turns", action="store_true", help="no conversations")
    parser.add_argument(
        "--contexts", type=int, nargs="+", default=[128, 512, 2048], metavar="N", help="prompts' tokens"
    )
    parser.add_argument(
        "--shape", default="", help="random weights in this shape (qwen3.5-4b, qwen3.5-9b); --model gives the tokenizer"
    )
    parser.add_argument("--bits", type=int, choices=[0, 4, 8], default=0, help="of random weights; 0 is bfloat16")
    parser.add_argument("--agreeing", action="store_true", help="random weights for which every draft is right")
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
        turns=not args.no_turns,
        shape=args.shape,
        bits=args.bits,
        agreeing=args.agreeing,
    )
    report = measure(plan, lambda what: print(f"... {what}", file=sys.stderr, flush=True))
    print(json.dumps(report, ensure_ascii=False, indent=1) if args.json else _in_words(report))
    return 0


def _in_words(report: dict[str, Any]) -> str:
    model = report["provenance"]["model"]
    lines = [f"{model['type']} {model['dtype']}, {model['bytes'] / 1e6:.1f} MB", "", "decoding, tokens a second"]
    for rate in report["decoding"]:
        accepted = f", {rate['accepted_share']:.0%} of drafts accepted" if rate["accepted_share"] else ""
        lines.append(f"  {rate['how']:24} {rate['tokens_per_s']:8.1f}  {rate['against_bare']:.2f} x bare{accepted}")
    token = report["token"]
    parts = ", ".join(f"{name} {1e3 * token[f'{name}_s']:.2f}" for name in ("build", "submit", "wait", "in_loop"))
    lines += ["", f"a token, ms: {parts}; {token['operations']} operations"]
    lines += ["", "first token by context, cold and warm, ms"]
    for row in report["first_token"]:
        lines.append(f"  {row['context_tokens']:6} {1e3 * row['cold_s']:9.1f} {1e3 * row['warm_s']:9.1f}")
    lines += ["", "bytes", *(f"  {name:24} {size:14,}" for name, size in report["bytes"].items())]
    lines += ["", "memory", *(f"  {name:24} {size:14,}" for name, size in report["memory"].items())]
    lines += ["", f"{'first token, ms':24} {'':30} {'median':>8} {'min':>8} {'max':>8}  speech  reused/prompt"]
    for row in report["turns"]:
        times = [
            1e3 * row[name] for name in ("first_token_s", "first_token_min_s", "first_token_max_s", "first_speech_s")
        ]
        figures = " ".join(f"{value:8.1f}" for value in times) if times[0] else f"{'refused':>35}"
        lines.append(
            f"{row['scene']:24} {row['contestant'][:30]:30} {figures}  {row['reused_tokens']}/{row['prompt_tokens']}"
        )
    lines += ["", *report["notes"]]
    lines += ["", *(f"{row['scene']}: {row['times_faster']} x {row['best_peer']}" for row in report["verdict"])]
    return "\n".join(lines)
