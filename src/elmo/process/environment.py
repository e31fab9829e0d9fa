"""Where a run happens: versions, machine and commit, for the records beside its results."""

import datetime
import os
import platform
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from elmo.version import __version__

_FOLDER = Path(__file__).resolve().parents[1]


def provenance(threads: int) -> dict[str, Any]:
    """When something was computed ("date", now), by which code ("elmo", "commit") and where ("machine")."""
    return {
        "date": f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d %H:%M} UTC",
        "elmo": __version__,
        "commit": commit(),
        "machine": environment(threads),
    }


def environment(threads: int) -> dict[str, Any]:
    """Versions of Python and torch (None: not installed), the machine, its processor and CPUs, the threads."""
    return {
        "python": sys.version.split()[0],
        "torch": _torch_version(),
        "machine": platform.machine(),
        "processor": processor(),
        "system": platform.platform(),
        "cpu_count": os.cpu_count(),
        "threads": threads,
    }


def processor() -> str:
    """The processor's name, as the system tells it."""
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        found = None
    return found[1].strip() if found else platform.processor() or platform.machine()


def _torch_version() -> str | None:
    """From its metadata: loading torch takes seconds."""
    try:
        return version("torch")
    except PackageNotFoundError:
        return None


def commit() -> str | None:
    """The git commit of this package's files, with "+" if they were changed; None outside of its own checkout."""
    # An environment may lie inside another project's checkout, whose commit has nothing to do with these files.
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
