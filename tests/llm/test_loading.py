"""From a name to a model that runs, or to a sentence that says what to do."""

import json
import shutil
from pathlib import Path

import huggingface_hub.constants
import mlx.core as mx
import pytest

from mirza.errors import ModelDamaged, ModelNotFound, ModelUnsupported
from mirza.llm.mlx.loading import (
    Library,
    has_own_drafter,
    load_drafter,
    load_model,
    load_tokenizer,
    resolve,
    split_mtp,
)
from mirza.llm.mlx.repairs import repair_rope
from mirza.llm.mlx.template import ChatTemplate

TINY = Path(__file__).parent.parent / "fixtures" / "tiny-qwen35"


@pytest.fixture
def copy(tmp_path):
    """A copy of the tiny model, to be damaged."""
    return Path(shutil.copytree(TINY, tmp_path / "model"))


def edit(file, change):
    content = json.loads(file.read_text())
    change(content)
    file.write_text(json.dumps(content))


def logits(loaded):
    output = loaded.language_model(
        mx.array([[1, 2, 3, 4, 5]]), cache=None, position_ids=mx.arange(5)[None], rope_deltas=mx.zeros((1, 1))
    )
    return output.logits


# --- found -----------------------------------------------------------------------------------------------------------


def test_a_folder_is_found_as_it_is_written(tmp_path):
    assert resolve(str(TINY)) == TINY


def test_a_repository_in_the_hubs_cache_is_found_without_a_network(tmp_path, monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    repository = tmp_path / "hub" / "models--someone--tiny"
    snapshot = Path(shutil.copytree(TINY, repository / "snapshots" / "abc123"))
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("abc123")
    assert resolve("someone/tiny", cache=tmp_path) == snapshot


def test_a_repository_that_is_nowhere_is_named_with_the_command_that_gets_it(tmp_path, monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    with pytest.raises(ModelNotFound, match="mirza models pull someone/else"):
        resolve("someone/else", cache=tmp_path)


def test_an_empty_folder_is_no_model(tmp_path):
    with pytest.raises(ModelNotFound, match="empty"):
        resolve(str(tmp_path))


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda folder: (folder / "model.safetensors").unlink(), "no weights"),
        (lambda folder: (folder / "config.json").unlink(), "config.json is missing"),
        (lambda folder: (folder / "config.json").write_text('{"model_type": '), "not JSON"),
        (lambda folder: cut(folder / "model.safetensors", 1_000_000), "should have"),
        (lambda folder: cut(folder / "model.safetensors", 5), "cut short"),
        (lambda folder: index(folder, "model-00002-of-00002.safetensors"), "00002.safetensors is missing"),
    ],
    ids=["no weights", "no config", "config cut off", "weights cut off", "stub", "shard missing"],
)
def test_half_a_model_is_called_damaged_before_it_is_loaded(copy, damage, says):
    damage(copy)
    with pytest.raises(ModelDamaged, match=says):
        resolve(str(copy))


def cut(file, size):
    file.write_bytes(file.read_bytes()[:size])


def index(folder, shard):
    weights = {"a": "model.safetensors", "b": shard}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weights}))


# --- loaded ----------------------------------------------------------------------------------------------------------


def test_a_model_is_loaded_as_it_is_or_in_float32():
    as_it_is, exact = load_model(TINY), load_model(TINY, float32=True)
    assert (as_it_is.dtype, exact.dtype) == ("float16", "float32")
    assert exact.library is Library.MLX_VLM
    assert exact.bytes > 1.9 * as_it_is.bytes
    assert mx.allclose(logits(as_it_is).astype(mx.float32), logits(exact), atol=0.1)
    assert ChatTemplate(exact.tokenizer).thinks


def test_a_model_that_only_mlx_lm_runs_is_loaded_by_it(tmp_path):
    """When this fails, mlx-vlm runs GPT-J too: take another that it does not."""
    from mlx.utils import tree_flatten
    from mlx_lm.models.gptj import Model, ModelArgs

    shape = {"n_embd": 32, "vocab_size": 494, "n_positions": 64, "n_head": 2, "rotary_dim": 8, "n_layer": 2}
    folder = Path(shutil.copytree(TINY, tmp_path / "model"))
    (folder / "config.json").write_text(json.dumps({"model_type": "gptj", **shape}))
    mx.save_safetensors(str(folder / "model.safetensors"), dict(tree_flatten(Model(ModelArgs(**shape)).parameters())))
    loaded = load_model(folder)
    assert loaded.library is Library.MLX_LM
    assert loaded.language_model is loaded.model
    assert loaded.model(mx.array([[1, 2, 3]])).shape == (1, 3, 494)
    assert not has_own_drafter(folder)


def test_weights_that_do_not_fit_the_configuration_are_damage(copy):
    edit(copy / "config.json", lambda config: config["text_config"].update(num_hidden_layers=8))
    with pytest.raises(ModelDamaged, match="do not fit"):
        load_model(copy)
    edit(copy / "config.json", lambda config: config["text_config"].update(num_hidden_layers=4, hidden_size=64))
    with pytest.raises(ModelDamaged, match="do not fit"):
        load_model(copy)


def test_a_folder_without_a_tokenizer_is_damage(copy):
    (copy / "tokenizer.json").write_text("{")
    with pytest.raises(ModelDamaged, match="tokenizer"):
        load_model(copy)


@pytest.mark.parametrize(
    ("config", "says"),
    [({"model_type": "telepathy"}, "telepathy"), ({"model_type": "../evil"}, "evil"), ({}, "model_type")],
)
def test_a_model_that_nothing_here_runs_is_refused_by_name(copy, config, says):
    (copy / "config.json").write_text(json.dumps(config))
    with pytest.raises((ModelUnsupported, ModelDamaged), match=says):
        load_model(copy)


def test_an_embedding_model_is_no_language_model(copy):
    edit(copy / "config.json", lambda config: config.update(model_type="dinov2"))
    with pytest.raises((ModelUnsupported, ModelDamaged)):
        load_model(copy)


def test_code_that_comes_with_a_model_does_not_run(copy):
    (copy / "evil.py").write_text("import pathlib; pathlib.Path(__file__).with_name('ran').touch()")
    edit(copy / "config.json", lambda config: config.update(model_file="evil.py"))
    with pytest.raises(ModelUnsupported, match="trust_remote_code"):
        load_model(copy)
    with pytest.raises(ModelUnsupported, match="trust_remote_code"):
        load_drafter(copy)
    assert not (copy / "ran").exists()


def test_upstream_mlx_vlm_runs_such_code_unasked(copy):
    """Why Mirza looks at `model_file` itself. When this fails, mlx-vlm asks too."""
    from mlx_vlm.utils import load_model as upstream

    (copy / "evil.py").write_text("import pathlib; pathlib.Path(__file__).with_name('ran').touch()")
    edit(copy / "config.json", lambda config: config.update(model_file="evil.py"))
    with pytest.raises(AttributeError):
        upstream(copy)
    assert (copy / "ran").exists()


def test_a_chat_template_beside_the_tokenizer_is_found(copy):
    source = (copy / "chat_template.jinja").read_text()
    (copy / "chat_template.jinja").unlink()
    (copy / "chat_template.json").write_text(json.dumps({"chat_template": source}))
    assert load_tokenizer(copy).chat_template == source


# --- repaired --------------------------------------------------------------------------------------------------------

REAL = {
    "model_type": "qwen3_5",
    "text_config": {
        "model_type": "qwen3_5_text",
        "hidden_size": 4096,
        "rope_parameters": {
            "mrope_interleaved": True,
            "mrope_section": [11, 11, 10],
            "rope_type": "default",
            "rope_theta": 10000000,
            "partial_rotary_factor": 0.25,
        },
    },
}
"""The shape of Qwen3.5-9B's configuration (see its true shapes in docs)."""


def with_rope(**rope):
    parameters = {**REAL["text_config"]["rope_parameters"], **rope}
    parameters = {key: value for key, value in parameters.items() if value is not None}
    return {**REAL, "text_config": {**REAL["text_config"], "rope_parameters": parameters}}


def test_a_whole_configuration_is_left_as_it_is():
    assert repair_rope(REAL) is REAL
    assert repair_rope({"model_type": "llama", "rope_parameters": {"rope_theta": 1}})


@pytest.mark.parametrize("factor", [4, 4.0])
def test_a_missing_partial_rotary_factor_is_one_over_the_factor(factor):
    broken = with_rope(partial_rotary_factor=None, factor=factor)
    rope = repair_rope(broken)["text_config"]["rope_parameters"]
    assert rope["partial_rotary_factor"] == 0.25
    assert rope["mrope_section"] == [11, 11, 10]
    assert "partial_rotary_factor" not in broken["text_config"]["rope_parameters"]


@pytest.mark.parametrize("factor", [None, "4", 0, True, -2.0])
def test_without_a_usable_factor_the_model_is_refused(factor):
    with pytest.raises(ModelUnsupported, match="partial_rotary_factor"):
        repair_rope(with_rope(partial_rotary_factor=None, factor=factor))


def test_other_missing_rotary_parameters_are_named():
    with pytest.raises(ModelUnsupported, match="mrope_section, rope_type"):
        repair_rope(with_rope(mrope_section=None, rope_type=None))


def test_a_repaired_model_computes_what_the_whole_one_does(copy):
    def break_it(config):
        rope = config["text_config"]["rope_parameters"]
        rope["factor"] = 1 / rope.pop("partial_rotary_factor")

    edit(copy / "config.json", break_it)
    before = (copy / "config.json").read_bytes()
    assert mx.array_equal(logits(load_model(copy)), logits(load_model(TINY)))
    assert load_drafter(copy) is not None
    assert (copy / "config.json").read_bytes() == before


# --- its drafter -----------------------------------------------------------------------------------------------------


def test_the_head_of_a_checkpoint_becomes_a_drafter_of_its_own(tmp_path):
    out = split_mtp(TINY, tmp_path / "drafter")
    loaded = load_model(TINY)
    split, own = load_drafter(out).bind(loaded.model), load_drafter(TINY).bind(loaded.model)
    ours, theirs = dict(flat(split)), dict(flat(own))
    assert ours.keys() == theirs.keys()
    assert all(mx.array_equal(ours[name], theirs[name]) for name in ours)


def flat(model):
    from mlx.utils import tree_flatten

    return tree_flatten(model.parameters())


def test_a_drafter_shares_embedding_and_output_head_with_its_model():
    loaded = load_model(TINY)
    drafter = load_drafter(TINY, float32=True)
    own = sum(array.nbytes for _, array in flat(drafter))
    drafter.bind(loaded.model)
    assert sum(array.nbytes for _, array in flat(drafter)) == own < 0.6 * load_model(TINY, float32=True).bytes


def test_a_checkpoint_without_a_head_cannot_be_split(copy, tmp_path):
    weights = mx.load(str(copy / "model.safetensors"))
    kept = {name: array for name, array in weights.items() if not name.startswith("mtp.")}
    mx.eval(kept)
    mx.save_safetensors(str(copy / "model.safetensors"), kept, metadata={"format": "mlx"})
    assert not has_own_drafter(copy)
    with pytest.raises(ModelUnsupported, match="no head"):
        split_mtp(copy, tmp_path / "drafter")
    assert not (tmp_path / "drafter").exists()


def test_a_split_does_not_overwrite(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(ModelDamaged, match="already"):
        split_mtp(TINY, tmp_path / "mine")
