"""Whisper as faster-whisper stores it (CTranslate2), rebuilt for mlx-audio."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirza.errors import ModelDamaged
from mirza.models.weights import Weights, save, write_json

# The types of a model.bin (https://github.com/OpenNMT/CTranslate2, python/ctranslate2/specs/model_spec.py).
TYPES = (np.float32, np.int8, np.int16, np.int32, np.float16)
TIME_TOKENS = 1501


@dataclass(slots=True)
class _Reader:
    """Reads little-endian values, one after the other."""

    content: bytes
    at: int = 0

    def number(self, kind: str) -> int:
        value = int(struct.unpack_from("<" + kind, self.content, self.at)[0])
        self.at += struct.calcsize("<" + kind)
        return value

    def text(self) -> str:
        length = self.number("H")
        value = self.content[self.at : self.at + length - 1].decode()
        self.at += length
        return value

    def array(self) -> NDArray[np.generic]:
        shape = [self.number("I") for _ in range(self.number("B"))]
        dtype = np.dtype(TYPES[self.number("B")])
        size = self.number("I")
        array = np.frombuffer(self.content, dtype, size // dtype.itemsize, self.at).reshape(shape)
        self.at += size
        return array


def whisper(folder: Path) -> None:
    """Rebuilds a faster-whisper folder in place, with the small files that mlx-audio reads.

    Raises:
        ModelDamaged: `model.bin` is no Whisper of CTranslate2.
    """
    source = _read(folder / "model.bin")
    save(_rename(source), folder)
    (folder / "model.bin").unlink()
    (folder / "vocabulary.txt").unlink()
    _write_configs(source, folder)
    _add_time_tokens(folder / "tokenizer.json")


def _read(file: Path) -> Weights:
    reader = _Reader(file.read_bytes())
    try:
        reader.number("I")
        name = reader.text()
        reader.number("I")
        arrays = {reader.text(): reader.array() for _ in range(reader.number("I"))}
        aliases = {reader.text(): reader.text() for _ in range(reader.number("I"))}
    except (struct.error, ValueError, IndexError) as error:
        raise ModelDamaged(f"{file} is cut short.", "Get it again: `mirza models pull whisper-tiny-en-mlx`.") from error
    if name != "WhisperSpec":
        raise ModelDamaged(
            f"{file} is a {name}, not a Whisper.", "Get it again: `mirza models pull whisper-tiny-en-mlx`."
        )
    arrays |= {alias: arrays[name] for alias, name in aliases.items()}
    return {name: array.astype(np.float32) for name, array in arrays.items()}


def _layers(source: Weights, side: str) -> int:
    prefix = f"{side}/layer_"
    numbers = {
        int(name[len(prefix) :].split("/")[0])
        for name in source
        if name.startswith(prefix) and name[len(prefix)].isdigit()
    }
    return len(numbers)


def _rename(source: Weights) -> Weights:
    """CTranslate2's names to those of `WhisperForConditionalGeneration`; fused projections are split."""
    target: Weights = {
        "model.decoder.embed_tokens.weight": source["decoder/embeddings/weight"],
        "model.decoder.embed_positions.weight": source["decoder/position_encodings/encodings"],
    }

    def put(ours: str, theirs: str) -> None:
        for a, b in (("weight", "weight"), ("bias", "bias"), ("weight", "gamma"), ("bias", "beta")):
            if f"{theirs}/{b}" in source:
                target[f"{ours}.{a}"] = source[f"{theirs}/{b}"]

    def split(ours: str, theirs: str, *names: str) -> None:
        weights = np.split(source[f"{theirs}/weight"], len(names))
        biases = np.split(source[f"{theirs}/bias"], len(names))
        for name, weight, bias in zip(names, weights, biases, strict=True):
            target[f"{ours}.{name}.weight"] = weight
            if name != "k_proj":  # Whisper's key projection has no bias; CTranslate2 stores zeros
                target[f"{ours}.{name}.bias"] = bias

    for name in ("conv1", "conv2", "layer_norm"):
        put(f"model.encoder.{name}", f"encoder/{name}")
    put("model.decoder.layer_norm", "decoder/layer_norm")
    for side in ("encoder", "decoder"):
        for layer in range(_layers(source, side)):
            ours, theirs = f"model.{side}.layers.{layer}", f"{side}/layer_{layer}"
            put(f"{ours}.self_attn_layer_norm", f"{theirs}/self_attention/layer_norm")
            split(f"{ours}.self_attn", f"{theirs}/self_attention/linear_0", "q_proj", "k_proj", "v_proj")
            put(f"{ours}.self_attn.out_proj", f"{theirs}/self_attention/linear_1")
            if side == "decoder":
                put(f"{ours}.encoder_attn_layer_norm", f"{theirs}/attention/layer_norm")
                put(f"{ours}.encoder_attn.q_proj", f"{theirs}/attention/linear_0")
                split(f"{ours}.encoder_attn", f"{theirs}/attention/linear_1", "k_proj", "v_proj")
                put(f"{ours}.encoder_attn.out_proj", f"{theirs}/attention/linear_2")
            put(f"{ours}.final_layer_norm", f"{theirs}/ffn/layer_norm")
            put(f"{ours}.fc1", f"{theirs}/ffn/linear_0")
            put(f"{ours}.fc2", f"{theirs}/ffn/linear_1")
    return target


def _write_configs(source: Weights, folder: Path) -> None:
    width, mels, _ = source["encoder/conv1/weight"].shape
    theirs: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config = {
        "model_type": "whisper",
        "architectures": ["WhisperForConditionalGeneration"],
        "num_mel_bins": mels,
        "max_source_positions": 1500,
        "max_target_positions": 448,
        "d_model": width,
        "encoder_attention_heads": width // 64,
        "decoder_attention_heads": width // 64,
        "encoder_layers": _layers(source, "encoder"),
        "decoder_layers": _layers(source, "decoder"),
        "encoder_ffn_dim": 4 * width,
        "decoder_ffn_dim": 4 * width,
        "vocab_size": source["decoder/embeddings/weight"].shape[0],
        "torch_dtype": "float32",
    }
    generation = {
        "alignment_heads": theirs.get("alignment_heads"),
        "suppress_tokens": theirs.get("suppress_ids"),
        "begin_suppress_tokens": theirs.get("suppress_ids_begin"),
    }
    features = {
        "feature_extractor_type": "WhisperFeatureExtractor",
        "processor_class": "WhisperProcessor",
        "feature_size": mels,
        "sampling_rate": 16_000,
        "hop_length": 160,
        "chunk_length": 30,
        "n_fft": 400,
        "n_samples": 480_000,
        "nb_max_frames": 3000,
        "padding_side": "right",
        "padding_value": 0.0,
        "return_attention_mask": False,
    }
    end = "<|endoftext|>"
    tokenizer = {
        "tokenizer_class": "WhisperTokenizer",
        "processor_class": "WhisperProcessor",
        "bos_token": end,
        "eos_token": end,
        "unk_token": end,
        "pad_token": end,
        "model_max_length": 448,
    }
    write_json(folder / "config.json", config)
    write_json(folder / "generation_config.json", generation)
    write_json(folder / "preprocessor_config.json", features)
    write_json(folder / "tokenizer_config.json", tokenizer)


def _add_time_tokens(file: Path) -> None:
    """mlx-audio looks `<|0.00|>` up by name (0.6.2), and faster-whisper's tokenizer stops before the time tokens."""
    tokenizer: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    added: list[dict[str, Any]] = tokenizer["added_tokens"]
    known = {token["content"] for token in added}
    first = next(int(token["id"]) for token in added if token["content"] == "<|notimestamps|>") + 1
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": False}
    for step in range(TIME_TOKENS):
        content = f"<|{step * 0.02:.2f}|>"
        if content not in known:
            added.append({"id": first + step, "content": content, **plain})
    write_json(file, tokenizer)
