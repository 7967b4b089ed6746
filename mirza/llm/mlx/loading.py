"""From the name of a model to a model that runs: found on this disk, checked, its configuration repaired, loaded.

mlx-vlm loads nearly every text model there is; the others go through mlx-lm. Only the language model's weights are read
into memory: a vision tower stays on the disk. Nothing here uses the network.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportMissingTypeStubs=false
from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, cast

import mlx.core as mx
from huggingface_hub import snapshot_download
from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError
from mlx import nn
from mlx.utils import tree_flatten

from mirza.errors import ModelDamaged, ModelNotFound, ModelUnsupported
from mirza.llm.mlx.repairs import Config, repaired
from mirza.models import check_folder
from mirza.models import path as pulled_path

AGAIN = "Get the model again: `mirza models pull NAME`, or copy the folder anew."


class Library(StrEnum):
    """Whose implementation of the architecture runs."""

    MLX_VLM = "mlx-vlm"
    MLX_LM = "mlx-lm"


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model in memory, with what came beside it."""

    folder: Path
    model: Any
    """The library's model; `language_model` of it is what runs (mlx-lm's models are that themselves)."""
    tokenizer: Any
    config: Config
    library: Library
    bytes: int
    """What the language model's parameters take."""
    dtype: str
    """The floating type of its parameters, e.g. `bfloat16`; quantised weights have scales of this type."""

    @property
    def language_model(self) -> Any:
        """The part that turns tokens into logits."""
        return self.model.language_model if self.library is Library.MLX_VLM else self.model


# --- where it is -----------------------------------------------------------------------------------------------------


def resolve(name: str, cache: Path | None = None) -> Path:
    """The folder of a model: one of one's own, a pulled one (`cache` is Mirza's), or one in the hub's local cache.

    Raises:
        ModelNotFound: it is not on this disk.
        ModelDamaged: it is there, but not whole.
    """
    own = Path(name).expanduser()
    if own.is_dir():
        folder = own
    else:
        try:
            folder = pulled_path(name, cache)
        except ModelNotFound:
            folder = _in_hub_cache(name)
            if folder is None:
                raise
    check_folder(folder)
    return folder


def _in_hub_cache(name: str) -> Path | None:
    """The newest snapshot that any program on this machine has fetched of a repository."""
    if name.count("/") != 1:
        return None
    try:
        return Path(snapshot_download(name, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError):
        return None


# --- into memory -----------------------------------------------------------------------------------------------------


def load_model(folder: Path, *, float32: bool = False, trust_remote_code: bool = False) -> LoadedModel:
    """Loads a checked folder. Call it on the thread that owns MLX.

    Args:
        folder: as `resolve` gives it.
        float32: compute in float32, whatever the checkpoint holds; quantised weights stay quantised.
        trust_remote_code: run Python code that lies beside the weights.

    Raises:
        ModelDamaged: weights or tokenizer are missing or do not fit the configuration.
        ModelUnsupported: no library here runs this architecture, or it brings code of its own.
    """
    config = _read_config(folder)
    _refuse_foreign_code(folder, config, trust_remote_code)
    library = _library(config)
    with repaired(folder, config) as readable:
        model = _load_weights(readable, library, trust_remote_code)
    language_model = cast(nn.Module, model.language_model if library is Library.MLX_VLM else model)
    if float32:
        language_model.set_dtype(mx.float32)
    arrays = [array for _, array in cast(list[tuple[str, mx.array]], tree_flatten(language_model.parameters()))]
    mx.eval(arrays)
    floating = [array.dtype for array in arrays if mx.issubdtype(array.dtype, mx.floating)]
    return LoadedModel(
        folder=folder,
        model=model,
        tokenizer=load_tokenizer(folder, trust_remote_code=trust_remote_code),
        config=config,
        library=library,
        bytes=sum(array.nbytes for array in arrays),
        dtype=_name(max(set(floating), key=floating.count)),
    )


def load_tokenizer(folder: Path, *, trust_remote_code: bool = False) -> Any:
    """The tokenizer of a model's folder, with its chat template.

    Raises:
        ModelDamaged: there is none, or it cannot be read.
    """
    from transformers import AutoTokenizer

    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(
            folder, trust_remote_code=trust_remote_code, local_files_only=True
        )
    except (OSError, ValueError, KeyError, TypeError, ImportError) as error:
        raise ModelDamaged(f"The tokenizer in {folder} cannot be read: {_first_line(error)}", AGAIN) from error
    beside = folder / "chat_template.json"
    if not tokenizer.chat_template and beside.exists():
        # Where older processors keep it; a tokenizer alone does not look there.
        tokenizer.chat_template = _json_object(beside).get("chat_template")
    return tokenizer


def _refuse_foreign_code(folder: Path, config: Config, trusted: bool) -> None:
    # mlx-vlm 0.7.10 runs a `model_file` without asking (utils.py, get_model_and_args); mlx-lm asks.
    if config.get("model_file") and not trusted:
        raise ModelUnsupported(
            f"The model in {folder} wants to run Python code of its own ({config['model_file']}).",
            "Read that code; if you trust it, set `llm.trust_remote_code = true`.",
        )


def _library(config: Config) -> Library:
    from mlx_vlm.utils import get_model_type

    own, known = str(config.get("model_type", "")).lower(), get_model_type(config)
    if config.get("model_file"):
        return Library.MLX_LM
    if known and known.isidentifier() and importlib.util.find_spec(f"mlx_vlm.models.{known}"):
        return Library.MLX_VLM
    if own.isidentifier() and importlib.util.find_spec(f"mlx_lm.models.{own}"):
        return Library.MLX_LM
    raise ModelUnsupported(
        f"Neither mlx-vlm nor mlx-lm runs models of type {config.get('model_type')!r}.",
        "Take another model: `mirza models list` shows some.",
    )


def _load_weights(folder: Path, library: Library, trust_remote_code: bool) -> Any:
    from mlx_lm.utils import load_model as load_with_lm
    from mlx_vlm.utils import load_model as load_with_vlm

    try:
        if library is Library.MLX_VLM:
            model: Any = load_with_vlm(folder, lazy=True)
        else:
            model, _ = load_with_lm(folder, lazy=True, trust_remote_code=trust_remote_code)
    except (ValueError, KeyError, TypeError, RuntimeError, OSError) as error:
        raise ModelDamaged(
            f"The weights in {folder} do not fit its config.json: {_first_line(error)}", AGAIN
        ) from error
    if library is Library.MLX_VLM and not isinstance(getattr(model, "language_model", None), nn.Module):
        raise ModelUnsupported(f"The model in {folder} writes no text.", "Take a language model.")
    model.eval()
    return model


# --- its drafter -----------------------------------------------------------------------------------------------------


def has_own_drafter(folder: Path) -> bool:
    """Whether this checkpoint carries a head for multi-token prediction beside the model."""
    from mlx_vlm.speculative.drafters.mtp_split import detect_mtp_splitter

    return detect_mtp_splitter(folder) is not None


def load_drafter(folder: Path, *, float32: bool = False) -> Any:
    """An MTP head: of a full checkpoint (only its tensors are read), or one that was split off.

    It is to be bound to its model (`bind`), whose embedding and output head it uses.

    Raises:
        ModelUnsupported: there is no MTP head in this folder.
        ModelDamaged: it does not fit its configuration.
    """
    from mlx_vlm.speculative.drafters import load_drafter as load

    config = _read_config(folder)
    _refuse_foreign_code(folder, config, False)
    try:
        with repaired(folder, config) as readable:
            drafter, kind = cast(tuple[Any, str], load(str(readable)))
    except (ValueError, KeyError, TypeError, RuntimeError, OSError) as error:
        raise ModelDamaged(f"The drafter in {folder} cannot be loaded: {_first_line(error)}", AGAIN) from error
    if kind != "mtp":
        raise ModelUnsupported(
            f"{folder} holds a drafter of kind {kind!r}; Mirza drafts with MTP heads.", "Leave `llm.drafter` empty."
        )
    if float32:
        drafter.set_dtype(mx.float32)
    mx.eval(drafter.parameters())
    return drafter


def split_mtp(source: Path, out: Path, *, bits: int | None = None) -> Path:
    """Writes the MTP head of an original checkpoint as a drafter of its own; `bits` quantises it.

    Raises:
        ModelUnsupported: this checkpoint has no such head; most MLX conversions leave it out.
        ModelNotFound, ModelDamaged: the source is not there or not whole, or `out` is not empty.
    """
    from mlx_vlm.split_mtp import split_mtp as split

    check_folder(source)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ModelDamaged(f"{out} is there already.", "Give a new folder.")
    if not has_own_drafter(source):
        raise ModelUnsupported(
            f"The checkpoint in {source} has no head for multi-token prediction.",
            "Take the original checkpoint: most conversions leave the head out.",
        )
    try:
        return split(str(source), str(out), q_bits=bits)
    except (ValueError, KeyError, RuntimeError, OSError) as error:
        raise ModelDamaged(f"The head of {source} cannot be split off: {_first_line(error)}", AGAIN) from error


# --- small things ----------------------------------------------------------------------------------------------------


def _read_config(folder: Path) -> Config:
    config = _json_object(folder / "config.json")
    if not config.get("model_type"):
        raise ModelDamaged(f"{folder / 'config.json'} names no model_type.", AGAIN)
    return config


def _json_object(file: Path) -> Config:
    try:
        content: object = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelDamaged(f"{file} cannot be read: {_first_line(error)}", AGAIN) from error
    if not isinstance(content, Mapping):
        raise ModelDamaged(f"{file} does not hold a JSON object.", AGAIN)
    return dict(cast(Mapping[str, Any], content))


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _name(dtype: mx.Dtype) -> str:
    return str(dtype).rpartition(".")[2]
