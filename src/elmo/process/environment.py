"""Where a run happens: versions and machine, for the records beside its results."""

import os
import platform
import sys
from typing import Any


def environment() -> dict[str, Any]:
    """Versions of Python and torch, the machine, its CPUs and threads."""
    import torch

    return {
        "python": sys.version.split()[0],
        "torch": torch.__version__,
        "machine": platform.machine(),
        "system": platform.platform(),
        "cpu_count": os.cpu_count(),
        "threads": torch.get_num_threads(),
    }
