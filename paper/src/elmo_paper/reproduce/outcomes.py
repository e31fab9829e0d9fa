"""Outcome: what one system scored with each of its seeds, read from its finished run."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from elmo.disk.json_file import read_record, read_records
from elmo.errors import ElmoError
from elmo.tasks.counts import metric_of, tabulated
from elmo.tasks.task import MetricKind
from elmo.tasks.train.job import SCORED, summarize
from elmo_paper.reproduce.systems import System
from elmo_paper.reproduce.verdicts import Scored, contrast, effective_units, resampled_scores, summed_by_unit

Summary = dict[str, Any]
"""Of a figure over seeds: "mean", "standard_deviation" (None for one seed) and "scores"."""


@dataclass(frozen=True)
class Outcome:
    """A system's scores, layer weights and learning curves."""

    name: str
    """The system's name, without blanks; figure 1 has it once for each share."""
    label: str
    """The name for people."""
    share: float
    """Percent of the training data."""
    run: str
    """The folder of its trainings, as `elmo task train` leaves it, relative to that of the experiment."""
    metric: str
    """The key of the score that is compared."""
    seeds: Sequence[int]
    per_seed: Sequence[Mapping[str, Any]]
    """For each seed what `train` gave: the task's scores by data, "best_epoch" and "mix_weights"."""
    curves: Sequence[Sequence[float]] = ()
    """For each seed the dev score after each epoch; empty where the epochs had no dev score."""
    resampled: Mapping[str, Float[np.ndarray, "draws seeds"]] = field(default_factory=dict)
    """By data, the scores on resamples of its examples (`resampled_scores`)."""
    num_units: Mapping[str, int] = field(default_factory=dict)
    """By data, from how many units (sentences, documents) the resamples were drawn."""
    effective_units: Mapping[str, float] = field(default_factory=dict)
    """The same, as a number of units of equal size (`verdicts.effective_units`)."""
    inputs: Mapping[str, str] = field(default_factory=dict)
    """What it read besides the data: the hashes of its biLM, "bilm", and of each kind of static vectors by its name."""
    trained: Sequence[Mapping[str, Any]] = ()
    """For each seed when, by which code and where it was trained; empty where that wasn't noted."""

    def scored(self, data: str) -> Scored:
        """The scores on one of the data, for comparisons."""
        scores = np.array([seed[data][self.metric] for seed in self.per_seed], dtype=np.float64)
        return Scored(scores, self.resampled.get(data), self.effective_units.get(data, 0))

    def summary(self, data: str) -> Summary:
        """Mean, spread and single scores on one of the data, with the confidence interval of the mean."""
        scored = self.scored(data)
        return {**summarize(scored.scores.tolist()), "interval": contrast([(1, scored)]).interval}

    def mixes(self) -> list[dict[str, Any]]:
        """For each placement its "weights", a summary for each layer, and its "gamma", a summary."""
        per_seed = [seed.get("mix_weights", []) for seed in self.per_seed]
        return [
            {
                "placement": mixes[0]["placement"],
                "weights": [summarize(layer) for layer in zip(*(mix["weights"] for mix in mixes), strict=True)],
                "gamma": summarize([mix["gamma"] for mix in mixes]),
            }
            for mixes in zip(*per_seed, strict=True)
        ]

    def table(self) -> dict[str, Any]:
        """For the record: the summaries, and all scores of each seed, per label too."""
        return {
            "system": self.name,
            "label": self.label,
            "share": self.share,
            "run": self.run,
            "inputs": dict(self.inputs),
            **{data: self.summary(data) for data in data_of([self])},
            "best_epochs": [seed.get("best_epoch") for seed in self.per_seed],
            "mixes": self.mixes(),
            "curves": [list(curve) for curve in self.curves],
            "trained": [dict(one) for one in self.trained],
            "per_seed": [
                {"seed": number, **{data: seed[data] for data in data_of([self])}}
                for number, seed in zip(self.seeds, self.per_seed, strict=True)
            ],
        }


def data_of(outcomes: Sequence[Outcome]) -> list[str]:
    """Which data all systems have scores on: of "dev", "test" and "second_test"."""
    return [data for data in SCORED if all(seed.get(data) for one in outcomes for seed in one.per_seed)]


def decisive(outcomes: Sequence[Outcome]) -> str:
    """The data on which claims are decided: test, because dev has chosen the epochs; dev where there is no test."""
    return [data for data in data_of(outcomes) if data != "second_test"][-1]


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
    for data in SCORED:
        found = counts_of(trained.run, summary["per_seed"], summary["metric"], data)
        if found is None:
            continue
        counts, kind = found
        by_unit = summed_by_unit(counts, units[data]) if data in units else counts
        resampled[data] = resampled_scores(by_unit, metric_of(kind))
        num_units[data], effective[data] = by_unit.shape[1], effective_units(by_unit, kind)
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
        [_trained(trained.run / f"seed-{seed}" / "env.json") for seed in summary["seeds"]],
    )


def _inputs(run: Path) -> dict[str, str]:
    """The hashes that the run noted of its biLM and its static vectors."""
    noted = read_record(run / "run.json")
    bilm = noted.get("bilm")
    return {**({} if bilm is None else {"bilm": bilm}), **noted.get("vectors", {})}


def _trained(path: Path) -> dict[str, Any]:
    return read_record(path) if path.is_file() else {}


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
    return read_record(path, limit=_LARGEST) if path.is_file() else {}
