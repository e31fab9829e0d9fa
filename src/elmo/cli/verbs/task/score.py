"""`elmo task score`, and the tables of scores that every action prints."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Generic

import tyro

from elmo.cli.arguments import Switch, parsed
from elmo.tasks.registry import AnyTask, find
from elmo.tasks.settings import S


@dataclass(frozen=True)
class Score(Generic[S]):
    """Compute the official scores of a file of predictions, from any system."""

    gold: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="GOLD")]
    """Labelled file."""
    predicted: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="PREDICTIONS")]
    """File of predictions for the labelled file, in the task's official format."""
    settings: Annotated[S, tyro.conf.arg(name="")]
    json: Switch = False
    """Print the scores as JSON."""


def score(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    task = find(argv[0])
    arguments = parsed(
        Score[task.settings],
        argv[1:],
        f"task score {argv[0]}",
        flag_pairs=True,
        default=Score(gold=tyro.MISSING, predicted=tyro.MISSING, settings=task.settings()),
    )
    scores = task.score_files(arguments.gold, arguments.predicted, arguments.settings)
    print_scores(task, scores, str(arguments.predicted), as_json=arguments.json)
    return 0


def print_scores(task: AnyTask, scores: Mapping[str, Any], source: str, *, as_json: bool) -> None:
    """Prints the scores of the data `source`, and remarks about them on standard error."""
    print(json.dumps(scores, indent=2, ensure_ascii=False) if as_json else table_of_scores(scores))
    for remark in task.remarks(scores):
        print_note(remark, source)


def print_note(remark: str, source: str) -> None:
    """Prints a remark about a file or folder on standard error."""
    print(f"note: {source}: {remark}", file=sys.stderr)


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


def _parts(key: str, value: Mapping[str, Any]) -> Mapping[str, Any]:
    """A table of tables ("per_label") is shown as its tables, any other ("muc") under its own name."""
    return value if all(isinstance(part, Mapping) for part in value.values()) else {key: value}


def _is_counts(value: object) -> bool:
    """Whether it counts something by label, like "predicted_as"."""
    return isinstance(value, Mapping) and all(isinstance(part, int) for part in value.values())


def _counted(value: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {label}" for label, count in value.items())
