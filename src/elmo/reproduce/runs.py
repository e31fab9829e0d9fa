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
from elmo.tasks.counts import metric_of, tabulated
from elmo.tasks.task import MetricKind

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
        found = counts_of(trained.run, summary["per_seed"], summary["metric"], data)
        if found is None:
            continue
        counts, kind = found
        by_unit = summed_by_unit(counts, units[data]) if data in units else counts
        (resampled[data],) = resampled_scores([by_unit], metric_of(kind))
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
        _inputs(trained.run),
    )


def _inputs(run: Path) -> dict[str, str]:
    """The hashes that the run noted of its biLM and its static vectors."""
    noted = read_record(run / "run.json")
    bilm = noted.get("bilm")
    return {**({} if bilm is None else {"bilm": bilm}), **noted.get("vectors", {})}


def _curve(trained: Trained, seed: int) -> list[float]:
    """The dev score after each epoch; empty if an epoch has none."""
    scores = [values["dev"] for _, values in read_records(trained.run / f"seed-{seed}" / "metrics.jsonl", "epoch")]
    return [score[trained.summary["metric"]] for score in scores] if all(scores) else []


def counts_of(
    run: Path, per_seed: Sequence[Mapping[str, Any]], metric: str, data: str
) -> tuple[Float[np.ndarray, "seeds examples counts"], MetricKind] | None:
    """The counts of every seed's examples, and the kind of metric they are of; None for a task without counts.

    `per_seed`: of each seed its number, "seed", and its scores by data. Raises CountsDontFit if the counts give others.
    """
    found = [_examples(run, seed["seed"], data) for seed in per_seed]
    if not all(found):
        return None
    kind = found[0]["kind"]
    counts = tabulated([one["examples"] for one in found], kind)
    scores = [seed[data][metric] for seed in per_seed]
    if not np.allclose(metric_of(kind)(counts.sum(axis=1)), scores, atol=1e-6):
        raise CountsDontFit(
            f"{run}: the counts of the {data} examples give other scores than scores.json has ({scores}). The "
            "folder was changed or is from another version of elmo: train this system again in a new folder."
        )
    return counts, kind


def _examples(run: Path, seed: int, data: str) -> dict[str, Any]:
    """What a seed's file of counts holds; empty if there is none."""
    path = run / f"seed-{seed}" / f"{data}.examples.json"
    if not path.is_file():
        return {}
    if path.stat().st_size > _LARGEST:
        raise CountsDontFit(f"{path}: has more than {_LARGEST:,} bytes, so it isn't a file of counts. Remove it.")
    return read_record(path, limit=_LARGEST)
