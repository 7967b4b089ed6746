"""From settings to an engine that is ready: everything that is decided once, at load."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import mlx.core as mx

from mirza.errors import ModelUnsupported
from mirza.llm.mlx.answer import Markers
from mirza.llm.mlx.engine import Engine, Limits
from mirza.llm.mlx.loading import LoadedModel, has_own_drafter, load_drafter, load_model, resolve
from mirza.llm.mlx.sampler import Sampling
from mirza.llm.mlx.speculation import Drafter
from mirza.llm.mlx.target import Target
from mirza.llm.mlx.template import ChatTemplate
from mirza.mlx_thread import Step
from mirza.settings import LlmSettings


@dataclass(frozen=True, slots=True)
class Progress:
    """What is being done while loading, and how far it is, 0 .. 1."""

    what: str
    share: float


def load_engine(
    name: str, settings: LlmSettings, clock: Callable[[], float]
) -> Generator[Progress | Step, None, Engine]:
    """Finds the model on this disk, loads it and its drafter, and makes them ready.

    Raises:
        ModelError: it is not there, damaged, or cannot do what the settings ask for.
    """
    yield Progress("reading the model", 0.0)
    _limit_memory(settings)
    loaded = load_model(resolve(name), float32=_computes_in_float32(), trust_remote_code=settings.trust_remote_code)
    template = ChatTemplate(loaded.tokenizer)
    target = Target(loaded.model, settings.kv_bits)
    engine = Engine(
        target,
        loaded.tokenizer,
        template=template,
        markers=Markers(stops=_stops(loaded), thought=template.thought),
        sampling=sampling_of(settings, _generation_config(loaded.folder)),
        limits=Limits(settings.max_tokens, settings.context_tokens, settings.prefill_step),
        clock=clock,
    )
    yield Progress("reading the drafter", 0.6)
    engine.drafter, note = _drafter(loaded, target, settings)
    engine.depth = settings.draft_depth if engine.drafter is not None else 0
    engine.notes = (note,) if note else ()
    return engine


def sampling_of(settings: LlmSettings, defaults: Mapping[str, object]) -> Sampling:
    """What the settings say; where they say nothing, what the model's makers recommend."""
    greedy = defaults.get("do_sample") is False

    def default(name: str, otherwise: float) -> float:
        value = defaults.get(name)
        return float(value) if isinstance(value, int | float) else otherwise

    return Sampling(
        temperature=_first(settings.temperature, 0.0 if greedy else default("temperature", 0.0)),
        top_p=_first(settings.top_p, default("top_p", 1.0)),
        top_k=int(_first(settings.top_k, default("top_k", 0))),
        min_p=_first(settings.min_p, default("min_p", 0.0)),
        repetition_penalty=_first(settings.repetition_penalty, default("repetition_penalty", 1.0)),
        presence_penalty=settings.presence_penalty,
        frequency_penalty=settings.frequency_penalty,
        logit_bias=settings.logit_bias,
        seed=settings.seed,
    )


def _first(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value


def _computes_in_float32() -> bool:
    """On a CPU, float32 is what BLAS is quick at; half types go through slow kernels there."""
    return mx.default_device().type == mx.DeviceType.cpu


def _limit_memory(settings: LlmSettings) -> None:
    mx.set_cache_limit(int(settings.cache_limit_gb * 1e9))
    if mx.metal.is_available():
        info = mx.device_info()
        mx.set_wired_limit(int(info["max_recommended_working_set_size"]))


def _drafter(loaded: LoadedModel, target: Target, settings: LlmSettings) -> tuple[Drafter | None, str]:
    wanted = settings.mtp == "on" or bool(settings.drafter)
    if settings.mtp == "off":
        return None, ""
    if not target.shows_hidden:
        return None, _without(wanted, "this architecture has no multi-token prediction here")
    folder = resolve(settings.drafter) if settings.drafter else loaded.folder
    if not settings.drafter and not has_own_drafter(folder):
        return None, _without(wanted, "the model has no head of its own, and no drafter was given")
    return Drafter(load_drafter(folder, float32=_computes_in_float32()), target), ""


def _without(wanted: bool, why: str) -> str:
    if wanted:
        raise ModelUnsupported(f"Multi-token prediction cannot be used: {why}.", "Set llm.mtp to auto or off.")
    return f"mtp off: {why}"


def _stops(loaded: LoadedModel) -> frozenset[int]:
    sources = [loaded.config, _generation_config(loaded.folder)]
    sources += [cast("dict[str, object]", loaded.config.get("text_config") or {})]
    found: set[int] = set()
    for source in sources:
        value = source.get("eos_token_id")
        found.update(cast("list[int]", value) if isinstance(value, list) else [value] if isinstance(value, int) else [])
    if loaded.tokenizer.eos_token_id is not None:
        found.add(int(loaded.tokenizer.eos_token_id))
    return frozenset(found)


def _generation_config(folder: Path) -> dict[str, object]:
    file = folder / "generation_config.json"
    return cast("dict[str, object]", json.loads(file.read_text(encoding="utf-8"))) if file.exists() else {}
