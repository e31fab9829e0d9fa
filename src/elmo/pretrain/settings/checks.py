"""Checks before a run: its settings and its folder. Messages have the value, the reason, and what to use instead."""

import re
from pathlib import Path

from elmo.disk.atomic import hidden_names
from elmo.errors import OutputError

# Left by a run that was killed before it had written its recipe.
_BEGUN = re.compile(rf"env\.json|{hidden_names('env.json', 'unfinished')}|{hidden_names('config.json', 'unfinished')}")
# In a run's folder from its first checkpoint or its end on.
_OF_RUNS = ("config.json", "checkpoints", "model", "metrics.jsonl")


def require_unused(path: Path) -> None:
    """OutputError if a new run can't be written here. Needs no torch: it is asked before torch is loaded."""
    only_begun = path.is_dir() and all(_BEGUN.fullmatch(entry.name) for entry in path.iterdir())
    if path.exists() and not only_begun:
        is_run = path.is_dir() and any((path / name).exists() for name in _OF_RUNS)
        resume = "Use --resume to continue the run in it, or name" if is_run else "There is no run in it: name"
        raise OutputError(f"{path}: exists already and is not empty. {resume} another folder.")
