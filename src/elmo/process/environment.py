"""Where a run happens: versions and machine, for the records beside its results."""

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Any


def environment(threads: int) -> dict[str, Any]:
    """Versions of Python and torch (None: not installed), the machine, its CPUs, and `threads`: those computing."""
    return {
        "python": sys.version.split()[0],
        "torch": _torch_version(),
        "machine": platform.machine(),
        "system": platform.platform(),
        "cpu_count": os.cpu_count(),
        "threads": threads,
    }


def _torch_version() -> str | None:
    """From its metadata: loading torch takes seconds."""
    try:
        return version("torch")
    except PackageNotFoundError:
        return None
