"""The catalogue: every model that Mirza knows by name, and which of them suits this machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from difflib import get_close_matches

from mirza.errors import ModelNotFound
from mirza.models.entries import MODELS
from mirza.models.kinds import GB, Model, Purpose


def catalogue() -> Sequence[Model]:
    """All models, by purpose."""
    return MODELS


def find(name: str) -> Model:
    """The model of that name.

    Raises:
        ModelNotFound: no model has it; the message says which names come near.
    """
    models = {model.name: model for model in catalogue()}
    if name in models:
        return models[name]
    near = get_close_matches(name, models, n=1, cutoff=0.5)
    hint = f"Did you mean {near[0]}? " if near else ""
    raise ModelNotFound(f"There is no model called {name}.", f"{hint}`mirza models list` shows all of them.")


def fits(model: Model, memory_bytes: int) -> bool:
    """Whether `model` leaves enough of `memory_bytes` to speech models, the conversation's cache and the system."""
    return model.memory_bytes <= 0.6 * (memory_bytes - 2 * GB)


def choose_llm(memory_bytes: int, reachable_hub: bool) -> Model:
    """The language model for a machine: the largest Qwen 3.5 that fits, or the embedded one where no hub answers."""
    models = [model for model in catalogue() if model.purpose is Purpose.LLM]
    embedded = next(model for model in models if model.default)
    if not reachable_hub:
        return embedded
    fitting = [model for model in models if model.on_hub and fits(model, memory_bytes)]
    return max(fitting, key=lambda model: model.memory_bytes, default=embedded)


def machine_memory_bytes() -> int:
    """The memory of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
