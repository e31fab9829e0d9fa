"""The user's cache folder: what can be made or fetched again, or can't be kept where it belongs."""

import os
import sys
from pathlib import Path

CACHE_VARIABLE = "ELMO_CACHE"
"""Environment variable: the folder to use instead of the system's."""


def cache_folder() -> Path:
    """$ELMO_CACHE, or else `elmo` in the system's folder for caches. It may not exist yet."""
    if given := os.environ.get(CACHE_VARIABLE):
        return Path(given)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "elmo" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "elmo"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "elmo"
