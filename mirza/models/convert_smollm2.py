"""SmolLM2 as a GGUF file, rebuilt for MLX."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGUFReader, dequantize
from numpy.typing import NDArray
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from mirza.errors import ModelDamaged
from mirza.models.weights import Weights, save, write_json

# llama.cpp's names, and the names of the original (https://github.com/ggml-org/llama.cpp, gguf-py, tensor_mapping.py).
LAYER_NAMES = {
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


def smollm2(source: Path, folder: Path) -> None:
    """SmolLM2, a Llama, from its GGUF file, which is deleted."""
    reader = GGUFReader(source)
    fields: dict[str, Any] = {key: field.contents() for key, field in reader.fields.items()}
    tensors = {tensor.name: dequantize(tensor.data, tensor.tensor_type).astype(np.float32) for tensor in reader.tensors}
    if fields.get("general.architecture") != "llama":
        raise ModelDamaged(f"{source.name} is not a Llama model.", "Get it again: `mirza models pull smollm2-135m`.")
    save(_llama_weights(fields, tensors), folder)
    write_json(folder / "config.json", _llama_config(fields))
    # Either token ends an answer: the turn's own, and the end of text that the model was pre-trained with.
    write_json(folder / "generation_config.json", {"bos_token_id": 1, "eos_token_id": [2, 0]})
    _write_bpe_tokenizer(fields, folder)
    del reader, tensors
    source.unlink()


def _llama_weights(fields: dict[str, Any], tensors: Weights) -> Weights:
    heads, key_heads = int(fields["llama.attention.head_count"]), int(fields["llama.attention.head_count_kv"])
    weights = {
        "model.embed_tokens.weight": tensors["token_embd.weight"],
        "model.norm.weight": tensors["output_norm.weight"],
    }
    for layer in range(int(fields["llama.block_count"])):
        for theirs, ours in LAYER_NAMES.items():
            weight = tensors[f"blk.{layer}.{theirs}.weight"]
            if theirs == "attn_q":
                weight = _halves(weight, heads)
            elif theirs == "attn_k":
                weight = _halves(weight, key_heads)
            weights[f"model.layers.{layer}.{ours}.weight"] = weight
    return weights


def _halves(weight: NDArray[np.float32], heads: int) -> NDArray[np.float32]:
    """`(heads * width, n)`: rows that rotate together lie side by side in GGUF, half a head apart in MLX."""
    rows = weight.shape[0] // heads
    return weight.reshape(heads, rows // 2, 2, -1).swapaxes(1, 2).reshape(weight.shape)


def _llama_config(fields: dict[str, Any]) -> dict[str, Any]:
    width, heads = int(fields["llama.embedding_length"]), int(fields["llama.attention.head_count"])
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": width,
        "intermediate_size": int(fields["llama.feed_forward_length"]),
        "num_hidden_layers": int(fields["llama.block_count"]),
        "num_attention_heads": heads,
        "num_key_value_heads": int(fields["llama.attention.head_count_kv"]),
        "head_dim": width // heads,
        "rms_norm_eps": float(fields["llama.attention.layer_norm_rms_epsilon"]),
        "rope_theta": float(fields["llama.rope.freq_base"]),
        "vocab_size": len(fields["tokenizer.ggml.tokens"]),
        "max_position_embeddings": int(fields["llama.context_length"]),
        "tie_word_embeddings": True,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "torch_dtype": "float32",
    }


def _write_bpe_tokenizer(fields: dict[str, Any], folder: Path) -> None:
    """A byte-level BPE that splits digits, as the original's tokenizer.json has it; ChatML from the GGUF file."""
    control = 3  # gguf.TokenType.CONTROL
    tokens: list[str] = fields["tokenizer.ggml.tokens"]
    merges = [tuple(merge.split(" ")) for merge in fields["tokenizer.ggml.merges"]]
    tokenizer = Tokenizer(models.BPE(vocab={token: i for i, token in enumerate(tokens)}, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(
        [
            AddedToken(token, special=True, normalized=False)
            for token, kind in zip(tokens, fields["tokenizer.ggml.token_type"], strict=True)
            if kind == control
        ]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    tokenizer_config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": "<|im_start|>",
        "eos_token": "<|im_end|>",
        "pad_token": "<|im_end|>",
        "unk_token": "<|endoftext|>",
        "model_max_length": 8192,
        "clean_up_tokenization_spaces": False,
        "chat_template": fields["tokenizer.chat_template"],
    }
    write_json(folder / "tokenizer_config.json", tokenizer_config)
