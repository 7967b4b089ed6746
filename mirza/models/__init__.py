"""Models: what there is (`catalogue`), where it is on this disk (`path`), and how it gets there (`pull`).

Once pulled a model is used offline: nothing here but `pull` touches the network.
"""

from mirza.models.catalogue import catalogue, choose_llm, find, fits
from mirza.models.fetch import Progress
from mirza.models.folder import check_folder
from mirza.models.kinds import Model, Purpose
from mirza.models.pull import pull
from mirza.models.store import is_pulled, models_folder, path, pulled, remove, verified_path, verify

__all__ = [
    "Model",
    "Progress",
    "Purpose",
    "catalogue",
    "check_folder",
    "choose_llm",
    "find",
    "fits",
    "is_pulled",
    "models_folder",
    "path",
    "pull",
    "pulled",
    "remove",
    "verified_path",
    "verify",
]
