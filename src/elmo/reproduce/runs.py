"""Finished runs -> outcomes: scores, learning curves, and resampled scores from the counts of single examples."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from elmo.disk.json_file import read_record, read_records
from elmo.errors import ElmoError
from elmo.reproduce.outcomes import DATA, Outcome
from elmo.reproduce.systems import System
from elmo.reproduce.verdicts.bootstrap import effective_units, resampled_scores, summed_by_unit
from elmo.reproduce.verdicts.counts import metric_of, tabulated

_LARGEST = 1 << 30

Units = Mapping[str, Sequence[Hashable]]
"""By data, the unit (sentence, document) of each example; one without units has each example as its own."""


class CountsDontFit(ElmoError):
    """The counts of a run's examples are not those of its scores."""


@dataclass(frozen=True)
class Trained:
    """A system that was trained."""

    system: System
    run: Path
    """The folder of its trainings, as `elmo task train` leaves it."""
    summary: Mapping[str, Any]
    """What `train` gave."""


def outcome_of(trained: Trained, folder: Path, units: Units) -> Outcome:
    """A system's outcome; `folder` is that of the experiment.

    Raises CountsDontFit if the counts of single examples give other scores than the run has.
    """
    system, summary = trained.system, trained.summary
    resampled, num_units, effective = {}, {}, {}
    for data in DATA:
        counts = _counts(trained, data)
        if counts is None:
            continue
        by_unit = summed_by_unit(counts, units[data]) if data in units else counts
        (resampled[data],) = resampled_scores([by_unit], metric_of(_kind(trained, data)))
        num_units[data], effective[data] = by_unit.shape[1], effective_units(by_unit)
    return Outcome(
        system.name,
        system.label,
        system.share,
        trained.run.relative_to(folder).as_posix(),
        summary["metric"],
        summary["seeds"],
        summary["per_seed"],
        [_curve(trained, seed) for seed in summary["seeds"]],
        resampled,
        num_units,
        effective,
    )


def _curve(trained: Trained, seed: int) -> list[float]:
    """The dev score after each epoch; empty if an epoch has none."""
    scores = [values["dev"] for _, values in read_records(trained.run / f"seed-{seed}" / "metrics.jsonl", "epoch")]
    return [score[trained.summary["metric"]] for score in scores] if all(scores) else []


def _counts(trained: Trained, data: str) -> Float[np.ndarray, "seeds examples counts"] | None:
    """The counts of every seed's examples; None for a task without counts."""
    found = [_examples(trained, seed, data) for seed in trained.summary["seeds"]]
    if not all(found):
        return None
    counts = tabulated([one["examples"] for one in found], found[0]["kind"])
    scores = [seed[data][trained.summary["metric"]] for seed in trained.summary["per_seed"]]
    if not np.allclose(metric_of(found[0]["kind"])(counts.sum(axis=1)), scores, atol=1e-6):
        raise CountsDontFit(
            f"{trained.run}: the counts of the {data} examples give other scores than scores.json has ({scores}). The "
            "folder was changed or is from another version of elmo: train this system again in a new folder."
        )
    return counts


def _kind(trained: Trained, data: str) -> str:
    return _examples(trained, trained.summary["seeds"][0], data)["kind"]


def _examples(trained: Trained, seed: int, data: str) -> dict[str, Any]:
    """What a seed's file of counts holds; empty if there is none."""
    path = trained.run / f"seed-{seed}" / f"{data}.examples.json"
    if not path.is_file():
        return {}
    if path.stat().st_size > _LARGEST:
        raise CountsDontFit(f"{path}: has more than {_LARGEST:,} bytes, so it isn't a file of counts. Remove it.")
    return read_record(path, limit=_LARGEST)
