"""Scores of a task as text."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any


def table_of_scores(scores: Mapping[str, Any], name: str = "all", depth: int = 0) -> str:
    """A line of figures, and below it, indented, a line for each part ("per_label")."""
    figures = {key: value for key, value in scores.items() if not isinstance(value, Mapping)}
    counts = {key: value for key, value in scores.items() if _is_counts(value)}
    shown = [f"{key} {value:.2f}" if isinstance(value, float) else f"{key} {value}" for key, value in figures.items()]
    shown += [f"{key.replace('_', ' ')}: {_counted(value)}" for key, value in counts.items()]
    lines = [f"{'  ' * depth}{name:13} {'  '.join(shown)}"] if shown else []
    for key, value in scores.items():
        if isinstance(value, Mapping) and key not in counts:
            lines += [table_of_scores(part, label, depth + 1) for label, part in _parts(key, value).items()]
    return "\n".join(lines)


def table_of_summary(summary: dict[str, Any], run: Path) -> str:
    """What came out of a training: scores over the seeds, those of the rules, the best seed's labels, the mixes."""
    lines = [f"{run}: finished, the best model is {run / 'model'}"]
    best = next(outcome for outcome in summary["per_seed"] if outcome["seed"] == summary["best_seed"])
    for data in ("dev", "test"):
        if data in summary:
            lines.append(f"{data:5} {summary['metric']} {_mean_and_deviation(summary[data])}")
    for rule in summary["rules"]:
        figures = ", ".join(f"{data} {rule[data]:.2f}" for data in ("dev", "test") if data in rule)
        lines.append(f"{rule['label']}: {figures}")
    data = "test" if "test" in summary else "dev"
    if isinstance(best.get(data, {}).get("per_label"), Mapping):
        lines.append(f"{data}, seed {summary['best_seed']}:")
        lines.append(table_of_scores(best[data]))
    for mix in summary["per_seed"][0]["mix_weights"]:
        weights = ", ".join(f"{weight:.3f}" for weight in mix["weights"])
        lines.append(f"mix at the {mix['placement']}: layers {weights}, gamma {mix['gamma']:.3f}")
    return "\n".join(lines)


def _parts(key: str, value: Mapping[str, Any]) -> Mapping[str, Any]:
    """A table of tables ("per_label") is shown as its tables, any other ("muc") under its own name."""
    return value if all(isinstance(part, Mapping) for part in value.values()) else {key: value}


def _is_counts(value: object) -> bool:
    """Whether it counts something by label, like "predicted_as"."""
    return isinstance(value, Mapping) and all(isinstance(part, int) for part in value.values())


def _counted(value: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {label}" for label, count in value.items())


def _mean_and_deviation(found: Mapping[str, Any]) -> str:
    deviation = found["standard_deviation"]
    scores = ", ".join(f"{score:.2f}" for score in found["scores"])
    return f"{found['mean']:.2f}" + ("" if deviation is None else f" +- {deviation:.2f} (seeds: {scores})")
