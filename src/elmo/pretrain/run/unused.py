"""Whether a folder can take a new run: asked before torch is loaded, and again when the run begins."""

import re
from pathlib import Path

from elmo.errors import OutputError

# What a run that was killed before it had written its recipe has left.
_BEGUN = re.compile(r"env\.json|\.(env|config)\.json\.[0-9a-f]{12}\.unfinished")
# What a run has from its first checkpoint, or its end, on.
_OF_RUNS = ("config.json", "checkpoints", "model", "metrics.jsonl")


def require_unused(path: Path) -> None:
    """OutputError if a new run can't be written here."""
    if path.exists() and not _only_begun(path):
        is_run = path.is_dir() and any((path / name).exists() for name in _OF_RUNS)
        resume = "Use --resume to continue the run in it, or name" if is_run else "There is no run in it: name"
        raise OutputError(f"{path}: exists already and is not empty. {resume} another folder.")


def _only_begun(path: Path) -> bool:
    return path.is_dir() and all(_BEGUN.fullmatch(entry.name) for entry in path.iterdir())
