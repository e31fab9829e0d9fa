"""Outcome: what one system scored with each of its seeds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float

from elmo.reproduce.verdicts.difference import Scored, contrast
from elmo.tasks.train.seeds import summarize

DATA = ("dev", "test")

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
    """For each seed what `train` gave: "dev" and "test" (the task's scores), "best_epoch" and "mix_weights"."""
    curves: Sequence[Sequence[float]] = ()
    """For each seed the dev score after each epoch; empty where the epochs had no dev score."""
    resampled: Mapping[str, Float[np.ndarray, "draws seeds"]] = field(default_factory=dict)
    """By data, the scores on resamples of its examples (`verdicts.bootstrap`)."""
    num_units: Mapping[str, int] = field(default_factory=dict)
    """By data, from how many units (sentences, documents) the resamples were drawn."""
    effective_units: Mapping[str, float] = field(default_factory=dict)
    """The same, as a number of units of equal size (`verdicts.bootstrap.effective_units`)."""
    inputs: Mapping[str, str] = field(default_factory=dict)
    """What it read besides the data: the hashes of its biLM, "bilm", and of each kind of static vectors by its name."""

    def scored(self, data: str) -> Scored:
        """The scores on "dev" or "test", for comparisons."""
        scores = np.array([seed[data][self.metric] for seed in self.per_seed], dtype=np.float64)
        return Scored(scores, self.resampled.get(data), self.effective_units.get(data, 0))

    def summary(self, data: str) -> Summary:
        """Mean, spread and single scores on "dev" or "test", with the confidence interval of the mean."""
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
            "per_seed": [
                {"seed": number, **{data: seed[data] for data in data_of([self])}}
                for number, seed in zip(self.seeds, self.per_seed, strict=True)
            ],
        }


def data_of(outcomes: Sequence[Outcome]) -> list[str]:
    """Which of "dev" and "test" all systems have scores on."""
    return [data for data in DATA if all(seed.get(data) for one in outcomes for seed in one.per_seed)]


def decisive(outcomes: Sequence[Outcome]) -> str:
    """The data on which claims are decided: test, because dev has chosen the epochs; dev where there is no test."""
    return data_of(outcomes)[-1]
