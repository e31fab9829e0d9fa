"""Outcomes of trainings that never were: what comes out of them can be computed by hand."""

import json
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from elmo.reproduce.outcomes import Outcome
from elmo.reproduce.systems import systems_of
from elmo.tasks.ner.settings import Settings

Scores = Sequence[float]


def summary(scores: Scores) -> dict:
    spread = statistics.stdev(scores) if len(scores) > 1 else None
    return {"mean": statistics.fmean(scores), "standard_deviation": spread, "scores": list(scores)}


@pytest.fixture
def outcomes_of(tmp_path: Path) -> Callable[..., list[Outcome]]:
    """Outcomes of an experiment, whose `scores[k]` are the dev scores of its system k, a score a seed."""

    def make(experiment, scores, *, shares=(), test=None, mixes=None, epochs=None) -> list[Outcome]:
        found = []
        for place, system in enumerate(systems_of(experiment, Settings(), shares)):
            seeds = range(1, 1 + len(scores[place]))
            per_seed = [
                {"seed": seed, "best_epoch": 1, "mix_weights": mixes[place][seed - 1] if mixes else []}
                for seed in seeds
            ]
            result = {"task": "ner", "metric": "f1", "seeds": list(seeds), "per_seed": per_seed}
            result |= {"dev": summary(scores[place])} | ({"test": summary(test[place])} if test else {})
            run = tmp_path / "runs" / system.folder
            for seed in seeds:
                (run / f"seed-{seed}").mkdir(parents=True)
                curve = epochs[place][seed - 1] if epochs else [scores[place][seed - 1]]
                lines = [json.dumps({"epoch": epoch, "dev": {"f1": f1}}) for epoch, f1 in enumerate(curve, start=1)]
                (run / f"seed-{seed}" / "metrics.jsonl").write_text("\n".join(lines) + "\n")
            found.append(Outcome(system, run, result))
        return found

    return make
