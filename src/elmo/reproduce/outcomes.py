"""What came out of one system, over its seeds, plain for JSON."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elmo.reproduce.systems import System
from elmo.tasks.train.seeds import summarize

DATA = ("dev", "test")


@dataclass(frozen=True)
class Outcome:
    """A system and its scores."""

    system: System
    run: Path
    """Folder of its trainings, as `elmo task train` leaves them."""
    summary: dict[str, Any]
    """What `train` gave: mean, standard deviation and scores for "dev" and "test", and "per_seed"."""

    def score(self, data: str) -> dict[str, Any]:
        """Mean, standard deviation and single scores on "dev" or "test"."""
        return self.summary[data]

    def mixes(self) -> list[dict[str, Any]]:
        """For each placement its "weights", a summary for each layer, and its "gamma", a summary."""
        per_seed = [outcome["mix_weights"] for outcome in self.summary["per_seed"]]
        return [
            {
                "placement": mixes[0]["placement"],
                "weights": [summarize(layer) for layer in zip(*(mix["weights"] for mix in mixes), strict=True)],
                "gamma": summarize([mix["gamma"] for mix in mixes]),
            }
            for mixes in zip(*per_seed, strict=True)
        ]

    def epochs(self) -> list[list[dict[str, Any]]]:
        """For each seed its epochs, as metrics.jsonl has them."""
        files = [self.run / f"seed-{seed}" / "metrics.jsonl" for seed in self.summary["seeds"]]
        return [[json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] for path in files]

    def table(self, root: Path) -> dict[str, Any]:
        """For the JSON file; the run's folder relative to `root`."""
        per_seed = self.summary["per_seed"]
        return {
            "system": self.system.name,
            "label": self.system.label,
            "share": self.system.share,
            "run": str(self.run.relative_to(root)),
            **{data: self.summary[data] for data in DATA if data in self.summary},
            "best_epochs": [outcome["best_epoch"] for outcome in per_seed],
            "mixes": self.mixes(),
        }


def data_of(outcomes: list[Outcome]) -> list[str]:
    """Which of "dev" and "test" all systems have scores on."""
    return [data for data in DATA if all(data in outcome.summary for outcome in outcomes)]
