"""Checkpoints of random weights in the true shapes of published models, for measuring where those cannot be fetched.

What a pass costs depends on shapes and types, not on what the weights say. What they say decides how many drafts are
right, so there are two kinds: plain noise, of which no draft is right, and `agreeing` weights, of which every one is.
Between the two, a round costs the same.

Tokenizer and template come from another checkpoint of the family. Its vocabulary is filled up with words of no meaning,
so that any id is text, and that text gives the same id again.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportMissingTypeStubs=false
# pyright: reportUnknownArgumentType=false
from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from string import ascii_letters
from typing import Any, cast

import mlx.core as mx
from mlx import nn
from mlx.utils import tree_flatten

from mirza.errors import ModelUnsupported

FULL_ATTENTION_INTERVAL = 4
GROUP_SIZE = 64
FAINT = 1e-4
"""What layers add to an agreeing model's hidden states, against plain noise."""
LOUD = 50.0
"""How much an agreeing model prefers its choice: the head's probability has to pass every threshold."""
STEP = 7919
"""An agreeing model with a head of its own counts in steps of this prime, so that its ids do not repeat soon."""
RECIPE = "mirza_random_weights"
"""In config.json: how they were made."""
SPACE = "\u0120"
"""How a byte-level tokenizer writes a space."""


@dataclass(frozen=True, slots=True)
class Experts:
    """Of a layer that is a mixture of them; one more is asked for every token."""

    count: int
    chosen: int
    """How many a token is sent to."""
    intermediate: int
    shared_intermediate: int


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of a Qwen 3.5; what is not here is the same in all of them."""

    hidden: int
    intermediate: int
    """Of a dense layer; 0 where there are experts."""
    tied: bool
    """Whether the output head is the embedding."""
    layers: int = 32
    heads: int = 16
    kv_heads: int = 4
    head_size: int = 256
    linear_heads: int = 32
    """Value heads of a gated-delta layer."""
    linear_key_heads: int = 16
    linear_head_size: int = 128
    vocabulary: int = 248_320
    rope_sections: tuple[int, int, int] = (11, 11, 10)
    experts: Experts | None = None


SHAPES = {
    "qwen3.5-4b": Shape(hidden=2560, intermediate=9216, tied=True),
    "qwen3.5-9b": Shape(hidden=4096, intermediate=12288, tied=False),
    "qwen3.5-35b-a3b": Shape(
        hidden=2048,
        intermediate=0,
        tied=False,
        layers=40,
        kv_heads=2,
        experts=Experts(count=256, chosen=8, intermediate=512, shared_intermediate=512),
    ),
}
"""By config.json of Qwen/Qwen3.5-4B and Qwen/Qwen3.5-9B; Qwen/Qwen3.5-35B-A3B by what it is trained further with
(github.com/THUDM/slime, scripts/models/qwen3.5-35B-A3B.sh)."""


def shape_named(name: str) -> Shape:
    """One of `SHAPES`.

    Raises:
        ModelUnsupported: there is none of that name.
    """
    if name not in SHAPES:
        raise ModelUnsupported(f"There is no shape {name!r}.", f"Take one of {', '.join(SHAPES)}.")
    return SHAPES[name]


def write_random(
    out: Path,
    shape: Shape,
    *,
    like: Path,
    bits: int = 0,
    agreeing: bool = False,
    float32: bool = False,
    seed: int = 0,
) -> Path:
    """Writes a checkpoint with an MTP head into the new folder `out`.

    Args:
        out: a folder that does not exist.
        shape: its sizes.
        like: a folder with a Qwen 3.5's tokenizer, template and config.json; its ids of special tokens are taken over.
        bits: quantised to so many, in groups of 64; 0 is bfloat16. The MTP head stays bfloat16.
        agreeing: weights for which every draft is right.
        float32: instead of bfloat16, with the same values.
        seed: of the random numbers.
    """
    from mlx_vlm.models import qwen3_5, qwen3_5_moe
    from mlx_vlm.speculative.drafters import qwen3_5_mtp

    kind = cast(Any, qwen3_5_moe if shape.experts else qwen3_5)
    mx.random.seed(seed)
    shutil.copytree(like, out, ignore=shutil.ignore_patterns("*.safetensors*", "config.json"))
    _fill_vocabulary(out / "tokenizer.json", shape.vocabulary)
    config = _config(shape, json.loads((like / "config.json").read_text(encoding="utf-8")), float32)
    # The libraries change the tables that they are given.
    model = kind.Model(kind.ModelConfig.from_dict(json.loads(json.dumps(config)))).language_model
    text = json.loads(json.dumps(config["text_config"]))
    head = qwen3_5_mtp.Model(
        qwen3_5_mtp.ModelConfig.from_dict({"model_type": "qwen3_5_mtp", "text_config": text, "block_size": 3})
    )
    if agreeing:
        _make_agree(model, head, shape)
    for module in (model, head):
        _to_bfloat16(module)
        if float32:
            module.set_dtype(mx.float32)
    if bits:
        config["quantization"] = {"group_size": GROUP_SIZE, "bits": bits}
        nn.quantize(model, group_size=GROUP_SIZE, bits=bits)
    weights = {f"language_model.{name}": array for name, array in _arrays(model)}
    weights |= {f"mtp.{name}": array for name, array in _arrays(head)}
    # "mlx" says that the head's norms are stored as they are used; the original format has them less one.
    mx.save_safetensors(str(out / "model.safetensors"), weights, metadata={"format": "mlx"})
    config[RECIPE] = recipe(shape, bits=bits, agreeing=agreeing, float32=float32, seed=seed)
    (out / "config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")  # last: with it, all is there
    return out


def recipe(shape: Shape, *, bits: int, agreeing: bool, float32: bool, seed: int = 0) -> dict[str, Any]:
    """What random weights are made of: with it, the same ones can be made again."""
    made = {**asdict(shape), "bits": bits, "agreeing": agreeing, "float32": float32, "seed": seed}
    return cast("dict[str, Any]", json.loads(json.dumps(made)))


def recipe_of(folder: Path) -> dict[str, Any] | None:
    """The recipe of a folder's weights; `None` if they are not random, or not whole."""
    config = folder / "config.json"
    return json.loads(config.read_text(encoding="utf-8")).get(RECIPE) if config.exists() else None


def _arrays(module: nn.Module) -> list[tuple[str, mx.array]]:
    return cast("list[tuple[str, mx.array]]", tree_flatten(module.parameters()))


def _to_bfloat16(module: nn.Module) -> None:
    """All but the `A_log` of gated-delta layers, which sits inside two exponentials and stays float32."""
    module.load_weights(
        [(name, array if name.endswith("A_log") else array.astype(mx.bfloat16)) for name, array in _arrays(module)]
    )


def _make_agree(model: nn.Module, head: nn.Module, shape: Shape) -> None:
    """The next token follows from the last one alone, and the MTP head knows it too."""
    changed: list[tuple[str, mx.array]] = []
    step = STEP % shape.vocabulary
    embedding = mx.random.normal((shape.vocabulary, shape.hidden)) * shape.hidden**-0.5
    for name, array in _arrays(model):
        if name.endswith(("o_proj.weight", "out_proj.weight", "down_proj.weight")):
            changed.append((name, array * FAINT))
        elif name.endswith("embed_tokens.weight"):
            changed.append((name, embedding))
        elif name.endswith("lm_head.weight"):
            changed.append((name, mx.concatenate([embedding[-step:], embedding[:-step]])))
        elif name == "model.norm.weight":
            changed.append((name, array * LOUD * shape.hidden**-0.5))
    model.load_weights(changed, strict=False)
    # It joins (embedding of the next token, hidden state): only the first half goes on.
    through = mx.concatenate([mx.eye(shape.hidden), mx.zeros((shape.hidden, shape.hidden))], axis=1)
    head_changed = [
        (name, array * FAINT) for name, array in _arrays(head) if name.endswith(("o_proj.weight", "down_proj.weight"))
    ]
    head_changed.append(("norm.weight", mx.full((shape.hidden,), LOUD * shape.hidden**-0.5)))
    head.load_weights([*head_changed, ("fc.weight", through)], strict=False)


def _config(shape: Shape, like: dict[str, Any], float32: bool) -> dict[str, Any]:
    """`config.json` of the shape; ids of special tokens and the mention of a vision tower from `like`."""
    kinds = [
        "full_attention" if (layer + 1) % FULL_ATTENTION_INTERVAL == 0 else "linear_attention"
        for layer in range(shape.layers)
    ]
    text = {
        **like["text_config"],
        "hidden_size": shape.hidden,
        "intermediate_size": shape.intermediate,
        "num_hidden_layers": shape.layers,
        "layer_types": kinds,
        "full_attention_interval": FULL_ATTENTION_INTERVAL,
        "linear_num_value_heads": shape.linear_heads,
        "linear_num_key_heads": shape.linear_key_heads,
        "linear_key_head_dim": shape.linear_head_size,
        "linear_value_head_dim": shape.linear_head_size,
        "linear_conv_kernel_dim": 4,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.kv_heads,
        "head_dim": shape.head_size,
        "vocab_size": shape.vocabulary,
        "max_position_embeddings": 262_144,
        "tie_word_embeddings": shape.tied,
        "dtype": "float32" if float32 else "bfloat16",
        "rope_parameters": {
            "rope_type": "default",
            "mrope_section": list(shape.rope_sections),
            "mrope_interleaved": True,
            "rope_theta": 10_000_000,
            "partial_rotary_factor": 0.25,
        },
    }
    config = {**like, "text_config": text, "vocab_size": shape.vocabulary, "tie_word_embeddings": shape.tied}
    if shape.experts is not None:
        config["model_type"], text["model_type"] = "qwen3_5_moe", "qwen3_5_moe_text"
        config["vision_config"] = {**like["vision_config"], "model_type": "qwen3_5_moe"}
        text |= {
            "num_experts": shape.experts.count,
            "num_experts_per_tok": shape.experts.chosen,
            "moe_intermediate_size": shape.experts.intermediate,
            "shared_expert_intermediate_size": shape.experts.shared_intermediate,
        }
    config.pop("quantization", None)
    return config


def _fill_vocabulary(file: Path, size: int) -> None:
    """Gives every id up to `size` a word, with a space before it."""
    content = cast("dict[str, Any]", json.loads(file.read_text(encoding="utf-8")))
    vocabulary = cast("dict[str, int]", content["model"]["vocab"])
    merges = cast("list[list[str]]", content["model"]["merges"])
    merged = {letter for pair in merges for token in pair for letter in token}
    # Each word is a shorter one and a letter that no other merge touches, so that nothing else can become of its text.
    words = _words([letter for letter in ascii_letters if letter not in merged])
    taken = {*vocabulary.values(), *(added["id"] for added in content["added_tokens"])}
    for token in range(size):
        if token not in taken:
            shorter, letter = next(words)
            vocabulary[shorter + letter] = token
            merges.append([shorter, letter])
    file.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


def _words(letters: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Words by length, each as its beginning and its last letter."""
    words = [SPACE]
    while letters:
        longer: list[str] = []
        for word in words:
            for letter in letters:
                yield word, letter
                longer.append(word + letter)
        words = longer
