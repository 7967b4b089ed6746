"""From settings to an engine that is ready: everything that is decided once, at load."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path

import mlx.core as mx
from loguru import logger

from mirza.blas import ensure_fast_blas
from mirza.errors import MirzaError, ModelUnsupported, SettingsError
from mirza.llm.base import Message
from mirza.llm.mlx.answer import Markers
from mirza.llm.mlx.calibration import calibrate, warm_up
from mirza.llm.mlx.defaults import SamplingDefaults, sampling_defaults, stop_ids
from mirza.llm.mlx.engine import Engine, Limits
from mirza.llm.mlx.fingerprint import provenance
from mirza.llm.mlx.loading import LoadedModel, has_own_drafter, load_drafter, load_model, resolve
from mirza.llm.mlx.quick_cpu import make_quick, on_cpu
from mirza.llm.mlx.sampler import Sampling
from mirza.llm.mlx.snapshots import DiskSnapshots
from mirza.llm.mlx.speculation import Drafter
from mirza.llm.mlx.target import Target
from mirza.llm.mlx.template import ChatTemplate
from mirza.llm.mlx.tool_calls import tool_format
from mirza.mlx_thread import Step
from mirza.settings import LlmSettings


@dataclass(frozen=True, slots=True)
class Progress:
    """What is being done while loading, and how far it is, 0 .. 1."""

    what: str
    share: float


def load_engine(
    name: str, settings: LlmSettings, snapshot_dir: Path | None, clock: Callable[[], float]
) -> Generator[Progress | Step, None, Engine]:
    """Finds the model on this disk, loads it and its drafter, and makes them ready.

    Raises:
        ModelError: it is not there, damaged, or cannot do what the settings ask for.
    """
    yield Progress("reading the model", 0.0)
    _limit_memory(settings)
    loaded = load_model(resolve(name), float32=on_cpu(), trust_remote_code=settings.trust_remote_code)
    if on_cpu():
        make_quick(loaded.language_model, ensure_fast_blas())
    template = ChatTemplate(loaded.tokenizer)
    target = Target(loaded.model, settings.kv_bits)
    _check_bias(settings, target)
    engine = Engine(
        target,
        loaded.tokenizer,
        template=template,
        markers=Markers(
            stops=stop_ids(loaded.folder, loaded.config, loaded.tokenizer, template), thought=template.thought
        ),
        tool_format=tool_format(template.text, loaded.tokenizer),
        sampling=sampling_of(settings, sampling_defaults(loaded.folder)),
        limits=Limits(settings.max_tokens, settings.context_tokens, settings.prefill_step),
        clock=clock,
    )
    yield Progress("looking for a drafter", 0.5)
    engine.drafter, note = _drafter(loaded, target, settings)
    engine.notes = (note,) if note else ()
    yield Progress("warming up", 0.6)
    yield from _measure(engine, settings, clock)
    if snapshot_dir is not None and settings.snapshots:
        cache = f"{settings.kv_bits} bits" if settings.kv_bits else "full"
        origin = provenance(loaded.folder, template=template.text, dtype=loaded.dtype, cache=cache)
        engine.key = origin.key
        engine.disk = DiskSnapshots(snapshot_dir, origin, int(settings.snapshots_max_gb * 1e9))
    return engine


def sampling_of(settings: LlmSettings, defaults: SamplingDefaults) -> Sampling:
    """What the settings say; where they say nothing, what the model's makers recommend."""

    def first(value: float | None, otherwise: float) -> float:
        return otherwise if value is None else value

    return Sampling(
        temperature=first(settings.temperature, defaults.temperature),
        top_p=first(settings.top_p, defaults.top_p),
        top_k=int(first(settings.top_k, defaults.top_k)),
        min_p=first(settings.min_p, defaults.min_p),
        repetition_penalty=first(settings.repetition_penalty, defaults.repetition_penalty),
        presence_penalty=settings.presence_penalty,
        frequency_penalty=settings.frequency_penalty,
        logit_bias=settings.logit_bias,
        seed=settings.seed,
    )


def _check_bias(settings: LlmSettings, target: Target) -> None:
    unknown = [token for token in settings.logit_bias if not 0 <= token < target.vocabulary]
    if unknown:
        raise SettingsError(
            f"llm.logit_bias names the token {unknown[0]}, and this model has {target.vocabulary}.",
            "Give ids of this model's own tokens.",
        )


def _limit_memory(settings: LlmSettings) -> None:
    mx.set_cache_limit(int(settings.cache_limit_gb * 1e9))
    if mx.metal.is_available():
        # Weights that are wired stay in memory while other programs want it. Set through the public call only.
        mx.set_wired_limit(int(mx.device_info()["max_recommended_working_set_size"]))


def _drafter(loaded: LoadedModel, target: Target, settings: LlmSettings) -> tuple[Drafter | None, str]:
    wanted = settings.mtp == "on" or bool(settings.drafter)
    if settings.mtp == "off":
        return None, ""
    if not target.shows_hidden:
        return None, _without(wanted, "no multi-token prediction for this architecture here")
    folder = resolve(settings.drafter) if settings.drafter else loaded.folder
    if not settings.drafter and not has_own_drafter(folder):
        return None, _without(wanted, "the model has no head of its own, and no drafter was given")
    drafter = Drafter(load_drafter(folder, float32=on_cpu()), target)
    if not drafter.fits:
        raise ModelUnsupported(
            f"The drafter in {folder} was made for a model of another size.", "Give the one of this model, or none."
        )
    return drafter, ""


def _without(wanted: bool, why: str) -> str:
    if wanted:
        raise ModelUnsupported(f"Multi-token prediction cannot be used: {why}.", "Set llm.mtp to auto or off.")
    return f"mtp off: {why}"


def _measure(engine: Engine, settings: LlmSettings, clock: Callable[[], float]) -> Generator[Step]:
    """Warms up, and decides on drafting. That this fails is no reason not to answer."""
    start = clock()
    prompt = engine.template.prompt([Message("user", "Tell me something about the sea.")])
    wants = settings.mtp == "auto" and engine.drafter is not None
    try:
        yield from warm_up(engine.target, prompt, settings.prefill_step)
        measured = yield from calibrate(
            engine.target,
            engine.drafter if wants else None,
            depth=settings.draft_depth,
            prompt=prompt,
            stops=engine.stops,
            thought=engine.template.thought,
            clock=clock,
        )
    except (MirzaError, RuntimeError, ValueError) as error:
        logger.warning("The warm-up failed: {}", error)
        engine.depth = settings.draft_depth if settings.mtp == "on" else 0
        return
    logger.info("Warm-up: {:.2f} s, {:.0f} tokens a second", clock() - start, measured.plain)
    engine.tokens_per_s = measured.plain
    if wants:
        engine.notes += (str(measured),)
        engine.depth = settings.draft_depth if measured.pays else 0
        engine.round_cost = measured.round_cost
        engine.tokens_per_s = max(measured.plain, measured.drafted)
    elif engine.drafter is not None:
        engine.depth = settings.draft_depth
