"""Models: what there is (`catalogue`), where it is on this disk (`path`), and how it gets there (`pull`).

Once pulled a model is used offline: nothing here but `pull` touches the network.
"""

from __future__ import annotations

from mirza.models.choice import catalogue, choose_llm, find, fits, machine_memory_bytes
from mirza.models.fetch import Progress
from mirza.models.folder import check_folder
from mirza.models.kinds import Model, Purpose
from mirza.models.pulling import pull
from mirza.models.store import best_llm, is_pulled, models_folder, path, pulled, remove, verified_path, verify

__all__ = [
    "Model",
    "Progress",
    "Purpose",
    "best_llm",
    "catalogue",
    "check_folder",
    "choose_llm",
    "find",
    "fits",
    "is_pulled",
    "machine_memory_bytes",
    "models_folder",
    "path",
    "pull",
    "pulled",
    "remove",
    "verified_path",
    "verify",
]
