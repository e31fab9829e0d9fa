"""Checks before a run: its settings and its folder. Messages have the value, the reason, and what to use instead."""

import re
from pathlib import Path
from typing import Any

from elmo.disk.atomic import hidden_names
from elmo.errors import ConfigError, OutputError

# Left by a run that was killed before it had written its recipe.
_BEGUN = re.compile(rf"env\.json|{hidden_names('env.json', 'unfinished')}|{hidden_names('config.json', 'unfinished')}")
# In a run's folder from its first checkpoint or its end on.
_OF_RUNS = ("config.json", "checkpoints", "model", "metrics.jsonl")


def check_combinations(config: Any) -> None:
    """Raises ConfigError for the first settings of a PretrainConfig that are invalid together."""
    _check_softmax(config)
    if config.patience and not (config.keep_best and config.evaluate_every):
        raise ConfigError(
            f"patience is {config.patience} with keep_best={config.keep_best} and "
            f"evaluate_every={config.evaluate_every}, but it counts evaluations and goes back to the best checkpoint. "
            "Set keep_best and evaluate_every, or set patience to 0."
        )


def _check_softmax(config: Any) -> None:
    cutoffs = config.softmax_cutoffs
    is_ascending = all(begin < end for begin, end in zip((0, *cutoffs), cutoffs, strict=False))
    if not is_ascending or (config.softmax == "adaptive" and not cutoffs):
        raise ConfigError(
            f"softmax_cutoffs must be ascending, each at least 1, and there must be some (got {list(cutoffs)}): the "
            "adaptive softmax's clusters of rarer words begin there. Give vocabulary ids, for instance [2000, 10000]."
        )
    if not config.tie_softmax:
        return
    what = None
    if config.characters != "none":
        what = f"characters is {config.characters!r}: such a model has no vectors of words. Set characters to none"
    elif config.word_dim not in (0, config.projection_size):
        what = f"word_dim is {config.word_dim}, not projection_size ({config.projection_size}). Leave word_dim out"
    elif config.softmax == "adaptive":
        what = "softmax is 'adaptive', whose vectors have several widths. Use sampled or full"
    if what:
        raise ConfigError(f"tie_softmax is true, but {what}, or leave tie_softmax out.")


def require_unused(path: Path) -> None:
    """OutputError if a new run can't be written here. Needs no torch: it is asked before torch is loaded."""
    only_begun = path.is_dir() and all(_BEGUN.fullmatch(entry.name) for entry in path.iterdir())
    if path.exists() and not only_begun:
        is_run = path.is_dir() and any((path / name).exists() for name in _OF_RUNS)
        resume = "Use --resume to continue the run in it, or name" if is_run else "There is no run in it: name"
        raise OutputError(f"{path}: exists already and is not empty. {resume} another folder.")
