"""The user's cache folder: what can be made or fetched again, or can't be kept where it belongs."""

import os
import sys
from pathlib import Path

from elmo.errors import OutputError

CACHE_VARIABLE = "ELMO_CACHE"
"""Environment variable: the folder to use instead of the system's."""


def cache_folder() -> Path:
    """$ELMO_CACHE, or else `elmo` in the system's folder for caches. It may not exist, and nobody may write there."""
    if given := os.environ.get(CACHE_VARIABLE):
        return Path(given)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or _home() / "AppData" / "Local") / "elmo" / "cache"
    if sys.platform == "darwin":
        return _home() / "Library" / "Caches" / "elmo"
    return Path(os.environ.get("XDG_CACHE_HOME") or _home() / ".cache") / "elmo"


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:  # no $HOME, and the system doesn't list this user, as in some containers
        return Path("/")


def unusable(folder: Path, error: OSError) -> OutputError:
    """What to raise for a folder of the cache that can't be made or locked."""
    reason = error.strerror or error
    return OutputError(f"{folder}: can't be used: {reason}. Set {CACHE_VARIABLE} to a folder that can be written.")
