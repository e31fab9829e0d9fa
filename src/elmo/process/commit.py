"""Which commit of the source is running, for records."""

import subprocess
from pathlib import Path

_FOLDER = Path(__file__).resolve().parents[1]


def commit() -> str | None:
    """The git commit of this package's files, with "+" if they were changed; None outside of its own checkout."""
    # An environment may lie inside another project's checkout, whose commit says nothing about these files.
    if _git("ls-files", "--error-unmatch", "version.py") is None:
        return None
    found, changes = _git("rev-parse", "--short=10", "HEAD"), _git("status", "--porcelain", "--", ".")
    return found and found + ("+" if changes else "")


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(_FOLDER), *arguments], capture_output=True, text=True, check=True, timeout=20
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
