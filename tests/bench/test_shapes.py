"""Random checkpoints in true shapes: loadable, drafted on, and every id is text that gives the id again."""

from dataclasses import replace
from pathlib import Path

import mlx.core as mx
import pytest

from mirza.bench.engine import Plan, measure
from mirza.bench.first_speech import first_speech
from mirza.bench.shapes import SHAPES, Experts, Shape, shape_named, write_random
from mirza.bench.step import finished
from mirza.errors import ModelUnsupported
from mirza.events import LlmDone
from mirza.llm.base import Message, ThinkingBudget
from mirza.llm.mlx.assembly import load_engine
from mirza.llm.mlx.loading import has_own_drafter, load_model, load_tokenizer
from mirza.settings import LlmSettings

TINY = Path(__file__).parent.parent / "fixtures" / "tiny-qwen35"
SMALL = Shape(
    hidden=128,
    intermediate=192,
    tied=True,
    layers=4,
    heads=4,
    kv_heads=2,
    head_size=32,
    linear_heads=4,
    linear_key_heads=2,
    linear_head_size=32,
    vocabulary=900,
    rope_sections=(2, 1, 1),
)

MIXED = replace(
    SMALL, intermediate=0, tied=False, experts=Experts(count=6, chosen=2, intermediate=64, shared_intermediate=128)
)

ONLY = ("token", "drafting", "keeping")


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setitem(SHAPES, "small", SMALL)


def test_a_random_checkpoint_has_the_shape_it_was_asked_for(tmp_path):
    loaded = load_model(write_random(tmp_path / "random", SMALL, like=TINY))
    assert loaded.dtype == "bfloat16"
    assert loaded.config["text_config"]["num_hidden_layers"] == len(loaded.language_model.layers) == 4
    assert loaded.language_model.model.embed_tokens.weight.shape == (900, 128)
    assert has_own_drafter(loaded.folder)


def test_float32_weights_have_the_values_of_the_bfloat16_ones(tmp_path):
    half, full = (
        load_model(write_random(tmp_path / name, SMALL, like=TINY, float32=name == "full")) for name in ("half", "full")
    )
    assert (half.dtype, full.dtype) == ("bfloat16", "float32")
    ours, theirs = (model.language_model.model.embed_tokens.weight for model in (half, full))
    assert mx.array_equal(ours.astype(mx.float32), theirs)


def test_four_bits_take_about_a_quarter_and_the_head_stays_as_it_is(tmp_path):
    half = load_model(write_random(tmp_path / "half", SMALL, like=TINY))
    quarter = load_model(write_random(tmp_path / "quarter", SMALL, like=TINY, bits=4))
    assert 0.25 < quarter.bytes / half.bytes < 0.4
    assert quarter.config["quantization"] == {"group_size": 64, "bits": 4}


@pytest.mark.parametrize("bits", [0, 4])
def test_a_mixture_of_experts_is_loaded_as_one_and_answers(tmp_path, bits):
    folder = write_random(tmp_path / "random", MIXED, like=TINY, bits=bits, agreeing=True)
    settings = LlmSettings(mtp="on", temperature=0.0, max_tokens=4)
    engine = finished(load_engine(str(folder), settings, None, lambda: 0.0))
    layer = engine.target.model.layers[0].mlp
    assert (layer.num_experts, layer.top_k) == (6, 2)
    assert layer.switch_mlp.up_proj.output_dims == 64
    assert layer.shared_expert.up_proj.weight.shape[0] == 128
    messages = [Message("user", "Count to 9.")]
    done = [event for event in engine.answer(messages, (), ThinkingBudget(0), 0.0) if isinstance(event, LlmDone)]
    assert done[0].stats.drafted_tokens == done[0].stats.accepted_tokens > 0


def test_every_id_of_the_filled_vocabulary_is_text_that_gives_the_id_again(tmp_path):
    tokenizer = load_tokenizer(write_random(tmp_path / "random", SMALL, like=TINY))
    filled = [500, 501, 899, 640]
    text = tokenizer.decode(filled)
    assert tokenizer.encode(text, add_special_tokens=False) == filled
    assert tokenizer.encode("Count to 9.", add_special_tokens=False) == load_tokenizer(TINY).encode(
        "Count to 9.", add_special_tokens=False
    )


@pytest.mark.parametrize(("agreeing", "bits"), [(False, 4), (True, 0)])
def test_noise_accepts_no_draft_and_agreeing_weights_accept_all(small, agreeing, bits):
    plan = Plan(str(TINY), runs=1, tokens=16, contexts=(64,), only=ONLY, shape="small", bits=bits, agreeing=agreeing)
    report = measure(plan)
    found = report["drafting_agrees"]
    assert found["first_difference"] is None
    assert all(row["first_difference"] is None for row in report["forced_drafts"])
    assert found["accepted"] == (found["drafted"] if agreeing else 0)
    assert (found["drafted"] > 0) == agreeing
    model = report["provenance"]["model"]
    assert model["vocabulary"] == SMALL.vocabulary
    assert "model.safetensors" not in model["sha256"]  # its recipe is in the plan
    assert report["token"]["operations"] > 50
    assert report["keeping"][0]["mark_bytes"] < report["keeping"][0]["snapshot_bytes"]


def test_weights_that_only_ever_repeat_a_line_break_are_not_given_a_time_for_their_first_spoken_token(tmp_path):
    folder = write_random(tmp_path / "random", SMALL, like=TINY, agreeing=True)
    settings = LlmSettings(mtp="off", temperature=0.0, max_tokens=4)
    engine = finished(load_engine(str(folder), settings, None, lambda: 0.0))
    cold, warm = first_speech(engine, (0,), runs=1)
    assert (cold.cold, warm.cold) == (True, False)
    assert cold.first_speech_s is warm.first_speech_s is None
    assert cold.prefilled_tokens > warm.prefilled_tokens > 0


def test_weights_that_were_kept_are_used_again_and_others_are_refused(small, tmp_path):
    plan = Plan(str(TINY), contexts=(64,), tokens=8, only=("token",), shape="small", keep=str(tmp_path / "kept"))
    first = measure(plan)
    made = (tmp_path / "kept" / "model.safetensors").stat().st_mtime_ns
    again = measure(plan)
    assert (tmp_path / "kept" / "model.safetensors").stat().st_mtime_ns == made
    recipes = [report["provenance"]["model"]["random_weights"] for report in (first, again)]
    assert recipes[0] == recipes[1]
    assert (recipes[0]["hidden"], recipes[0]["seed"]) == (SMALL.hidden, 0)
    with pytest.raises(ModelUnsupported, match="something else"):
        measure(replace(plan, agreeing=True))


def test_an_unknown_shape_is_refused_by_name():
    with pytest.raises(ModelUnsupported, match=r"no shape 'huge'"):
        shape_named("huge")
