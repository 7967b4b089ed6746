"""The full screen's colours: the terminal's own, or a theme that was chosen and is kept in the user's settings."""

from __future__ import annotations

import os

from mirza.folders import user_file
from mirza.settings_file import put, unset
from mirza.settings_sources import load

SETTING = "console.theme"


def terminals_own(*, no_color: bool) -> str:
    """The theme that paints with the terminal's own colours, light or dark."""
    # What terminals that know say of their background: `COLORFGBG=0;15` is black on white.
    light = os.environ.get("COLORFGBG", "").rpartition(";")[2] in {"7", "15"}
    # Without colours it is the light one: it marks the cursor by reversing it, which still shows.
    return "ansi-light" if no_color or light else "ansi-dark"


def keep_theme(name: str) -> str:
    """Writes the theme to the user's settings, or takes it out if it has no name; says so if that will not show.

    Raises:
        SettingsError: the file cannot be read or written.
    """
    path = user_file()
    if name:
        put(path, SETTING, name)
    else:
        unset(path, SETTING)
    loaded = load()
    if loaded.tree.console.theme == name:
        return ""
    return f"The theme is kept in {path}, but {loaded.origin(SETTING)} wins over it."
