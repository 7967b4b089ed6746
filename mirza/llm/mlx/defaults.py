"""What a model itself says about how it is to be run: where its answers end, and how its tokens are drawn."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

from mirza.errors import ModelDamaged
from mirza.llm.mlx.template import ChatTemplate


@dataclass(frozen=True, slots=True)
class SamplingDefaults:
    """Sampling as `generation_config.json` has it. Without one, or with `do_sample` off, greedy: as in transformers."""

    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    repetition_penalty: float = 1.0


def sampling_defaults(folder: Path) -> SamplingDefaults:
    """What the model in `folder` asks for.

    Raises:
        ModelDamaged: its generation_config.json is there and cannot be read.
    """
    config = _generation_config(folder)
    if config.get("do_sample", "temperature" in config) is not True:
        return SamplingDefaults(repetition_penalty=_number(config, "repetition_penalty", 1.0))
    return SamplingDefaults(
        temperature=_number(config, "temperature", 1.0),
        top_p=_number(config, "top_p", 1.0),
        top_k=int(_number(config, "top_k", 50)),  # transformers' own default where sampling is on
        min_p=_number(config, "min_p", 0.0),
        repetition_penalty=_number(config, "repetition_penalty", 1.0),
    )


def stop_ids(folder: Path, config: Mapping[str, Any], tokenizer: object, template: ChatTemplate) -> frozenset[int]:
    """The tokens that end an answer, from every place that names some.

    No place is complete: Qwen's configuration names `<|endoftext|>`, its tokenizer `<|im_end|>`; of others only the
    template shows how a turn ends. The token that begins the next turn ends an answer too: a model that forgets to stop
    goes on with a question of its own, which would be spoken, and taken for the user's from then on.

    Raises:
        ModelDamaged: generation_config.json cannot be read, or nothing says where an answer ends.
    """
    text_config = config.get("text_config")
    sources = [
        _generation_config(folder).get("eos_token_id"),
        config.get("eos_token_id"),
        cast(Mapping[str, Any], text_config).get("eos_token_id") if isinstance(text_config, Mapping) else None,
        getattr(tokenizer, "eos_token_id", None),
    ]
    added = cast(Mapping[int, _AddedToken], getattr(tokenizer, "added_tokens_decoder", {}))
    bridge = [token_id for token_id in template.bridge if token_id in added and added[token_id].special]
    # Harmony's answers have several parts, each begun by the token that begins a turn.
    end_of_turn = bridge[:1] if "<|channel|>" in template.text else bridge
    ids = frozenset(token_id for source in [*sources, end_of_turn] for token_id in _ids(source))
    if not ids:
        raise ModelDamaged(f"Nothing in {folder} says where an answer ends.", "Get the model again.")
    return ids


class _AddedToken(Protocol):
    special: bool


def _ids(source: object) -> Iterator[int]:
    for value in cast("list[object]", source if isinstance(source, list) else [source]):
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            yield value


def _generation_config(folder: Path) -> dict[str, object]:
    file = folder / "generation_config.json"
    if not file.exists():
        return {}
    try:
        content: object = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelDamaged(f"{file} cannot be read: {error}", "Get the model again.") from error
    if not isinstance(content, dict):
        raise ModelDamaged(f"{file} does not hold a JSON object.", "Get the model again.")
    return cast("dict[str, object]", content)


def _number(config: Mapping[str, object], name: str, otherwise: float) -> float:
    value = config.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else otherwise
