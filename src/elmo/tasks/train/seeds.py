"""Seeds: the same training several times, and what its scores are on the whole: mean and spread."""

import statistics
from collections.abc import Callable, Sequence
from typing import Any

from elmo.errors import ConfigError
from elmo.setting_checks import require_seed

Outcome = dict[str, Any]
"""Of one seed: scores by data ("dev", "test"), each a task's `Scores`, and other facts."""


def over_seeds(
    seeds: Sequence[int], run_one: Callable[[int], Outcome], metric: str, best_by: str | None = None
) -> dict[str, Any]:
    """Runs every seed in turn; mean, standard deviation and single scores of `metric`, plain for JSON.

    The standard deviation is the sample's (n - 1 in the denominator), None for one seed. "best_seed" has the best dev
    score `best_by` (default: `metric`).
    """
    require_seeds(seeds)
    outcomes = [{"seed": seed, **run_one(seed)} for seed in seeds]
    summary: dict[str, Any] = {"metric": metric, "seeds": list(seeds)}
    for data in ("dev", "test"):
        if all(outcome.get(data) for outcome in outcomes):
            summary[data] = summarize([float(outcome[data][metric]) for outcome in outcomes])
    best = max(outcomes, key=lambda outcome: (outcome.get("dev") or {}).get(best_by or metric, 0.0))
    return {**summary, "best_seed": best["seed"], "per_seed": outcomes}


def require_seeds(seeds: Sequence[int]) -> None:
    """ConfigError if there is no seed, one twice, or one that a generator of random numbers can't take."""
    if not seeds or len(set(seeds)) != len(seeds):
        raise ConfigError(
            f"seeds are {list(seeds)}, but at least one seed is needed, and no seed twice. Name each one once."
        )
    for seed in seeds:
        require_seed(seed)


def summarize(scores: Sequence[float]) -> dict[str, Any]:
    """Mean, standard deviation (None for one score) and the scores."""
    spread = statistics.stdev(scores) if len(scores) > 1 else None
    return {"mean": statistics.fmean(scores), "standard_deviation": spread, "scores": list(scores)}
