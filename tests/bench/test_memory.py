"""A conversation that is over leaves no model behind, and its memory goes back to the system."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import Any

import pytest

from mirza.bench.askers import Askers
from mirza.bench.patient import Busy, run_patiently
from mirza.bench.script import TALKS, read_scripts
from mirza.bench.soak import TINY
from mirza.bench.take import Take, resident_mb
from mirza.bench.talk import settings_for
from mirza.bench.theatre import play
from mirza.folders import cache_folder
from mirza.heap import give_back_freed
from mirza.settings import SettingsTree

QUESTION = "question-capital"


def living() -> dict[int, Any]:
    """Every engine, every session of an ONNX model and every conversation that something still refers to."""
    from mirza.llm.mlx.engine import Engine
    from mirza.models.onnx import Session
    from mirza.pipeline import Conversation

    gc.collect()
    return {id(one): one for one in gc.get_objects() if isinstance(one, (Engine, Session, Conversation))}


@pytest.mark.models
def test_a_talk_that_is_over_leaves_no_model_alive(tmp_path: Path):
    (script,) = read_scripts(TALKS, [QUESTION])
    tree = SettingsTree.model_validate({"llm": {"model": str(TINY), "max_tokens": 8, "snapshots": False}})
    before = living()

    async def talk(busy: Busy) -> Take:
        cache = cache_folder(tree.paths)
        askers = Askers(TALKS / "sounds", cache, keep=False)
        lines = await askers.lines(script)
        await askers.close()
        return await play(script, lines, settings_for(script, tree), tmp_path / "talk.wav", busy)

    take = run_patiently(talk)

    assert len(take.turns) == 1
    assert take.history[-1].role == "assistant"
    assert [type(one).__name__ for key, one in living().items() if key not in before] == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems' C libraries do not keep what is freed")
def test_what_was_freed_in_the_middle_of_the_heap_goes_back_to_the_system():
    size, count = 100_000, 1000  # less than what glibc ever asks the system for by itself
    blocks = [b"x" * size for _ in range(count)]
    last = b"x" * size  # the end of the heap stays in use
    full_mb = resident_mb()
    del blocks

    give_back_freed()

    assert len(last) == size
    assert full_mb - resident_mb() > 0.8 * size * count / 1e6
