"""Where ELMo's gain is: on examples whose words are all in the training data, or on those with a new word?

    elmo-paper unseen FOLDER --data DATA --static VECTORS --record paper/records/reproduction

Splits the dev and test examples of every task whose table 1 is done (`elmo-paper tables`), scores both groups, and
writes SECTION.unseen.json. Nothing is trained. A task is left out if a group has fewer than 50 examples: a document or
an article nearly always has a new word.

The difference of the two gains has an interval over seeds and examples, as those of the tables have.
"""

import argparse
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from elmo.disk.json_file import read_record, write_json
from elmo.errors import ConfigError
from elmo.ops.native.threads import num_threads
from elmo.process.environment import provenance
from elmo.tasks.counts import metric_of
from elmo.tasks.task import MetricKind
from elmo.tasks.train.job import summarize
from elmo.tasks.train.task_data import TaskData, read_data
from elmo_paper.queue.plan import Part, add_arguments, planned_parts
from elmo_paper.reproduce.outcomes import counts_of
from elmo_paper.reproduce.verdicts import (
    Difference,
    Scored,
    contrast,
    effective_units,
    resampled_scores,
    summed_by_unit,
)

GROUPS = ("seen", "new")
FEWEST = 50
"""Examples of a group."""

Systems = Mapping[str, Scored]
"""A group's scores, "baseline" and "elmo"."""


def main(argv: Sequence[str] | None = None) -> int:
    """Writes the records; the exit code."""
    given = _arguments(argv)
    _write(given)
    return 0


def _write(given: argparse.Namespace) -> None:
    for part in planned_parts(given):
        if part.done():
            for path in written(part, given.record):
                print(f"written: {path}")


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    made = argparse.ArgumentParser(
        "elmo-paper unseen", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_arguments(made)
    made.add_argument("--record", type=Path, required=True, metavar="FOLDER", help="where the records are written")
    made.set_defaults(table="table1", seeds=None)
    return made.parse_args(argv)


def written(part: Part, folder: Path) -> Iterator[Path]:
    """The record of a task, if its groups are large enough."""
    record = read_record(part.record)
    data = read_data(part.job.task, part.job.settings, part.job.files)
    chosen = split(part, data)
    if all(own.sum() >= FEWEST for groups in chosen.values() for own in groups.values()):
        found = {name: compared(part, record, name, groups, data) for name, groups in chosen.items()}
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{part.section}.unseen.json"
        facts = {name: record[name] for name in ("task", "name", "metric", "seeds")}
        of_system = ("system", "run", "inputs", "trained")
        systems = [{name: system[name] for name in of_system} for system in record["systems"]]
        read = {"hashes": part.job.files.hashes(), "systems": systems}
        write_json(path, {**facts, **provenance(num_threads()), **read, "data": found})
        yield path


def split(part: Part, data: TaskData[Any]) -> dict[str, dict[str, Bool[np.ndarray, " examples"]]]:
    """Which of the "dev" and "test" examples are in each group."""
    task = part.job.task
    vocabulary = {word for sentence in task.sentences_of(data.train) for word in sentence}
    found = {}
    for name, examples in data.scored().items():
        words = (chain(*task.sentences(example)) for example in examples)
        new = np.array([not vocabulary.issuperset(own) for own in words])
        found[name] = dict(zip(GROUPS, (~new, new), strict=True))
    return found


def compared(
    part: Part,
    record: Mapping[str, Any],
    name: str,
    groups: Mapping[str, Bool[np.ndarray, " examples"]],
    data: TaskData[Any],
) -> dict[str, Any]:
    """Both groups of "dev" or "test", and the difference of their gains."""
    units = part.job.task.groups(data.scored()[name])
    counts = {system["system"]: _counts(part, record, system, name) for system in record["systems"]}
    scored = {
        group: {system: _scored(*own, units, chosen) for system, own in counts.items()}
        for group, chosen in groups.items()
    }
    return {
        "groups": {group: {"examples": int(own.sum()), **_told(scored[group])} for group, own in groups.items()},
        "difference_of_gains": _as_json(_gain({system: _between(scored, system) for system in counts})),
    }


def _counts(
    part: Part, record: Mapping[str, Any], system: Mapping[str, Any], name: str
) -> tuple[Float[np.ndarray, "seeds examples counts"], MetricKind]:
    """Of the record's seeds, and the kind of metric."""
    run = part.job.run / system["run"]
    found = counts_of(run, system["per_seed"], record["metric"], name)
    if found is None:
        raise ConfigError(
            f"{run}: a seed has no {name}.examples.json, whose counts are split here. Train this system again."
        )
    return found


def _scored(
    counts: Float[np.ndarray, "seeds examples counts"],
    kind: MetricKind,
    units: Sequence[Hashable],
    chosen: Bool[np.ndarray, " examples"],
) -> Scored:
    """A system's scores of one group of examples. All units are resampled: some have examples of both groups."""
    by_unit = summed_by_unit(counts * chosen[:, None], units)
    metric = metric_of(kind)
    resampled = resampled_scores(by_unit, metric)
    return Scored(metric(by_unit.sum(axis=1)), resampled, effective_units(by_unit, kind))


def _between(scored: Mapping[str, Systems], system: str) -> Scored:
    """What a system scores more on new words, on the same resamples."""
    seen, new = (scored[group][system] for group in GROUPS)
    assert seen.resampled is not None
    assert new.resampled is not None
    units = min(seen.num_units, new.num_units)
    return Scored(new.scores - seen.scores, new.resampled - seen.resampled, units)


def _gain(systems: Systems) -> Difference:
    return contrast([(1, systems["elmo"]), (-1, systems["baseline"])])


def _told(systems: Systems) -> dict[str, Any]:
    scores = {system: summarize(scored.scores.tolist()) for system, scored in systems.items()}
    return {**scores, "gain": _as_json(_gain(systems))}


def _as_json(difference: Difference) -> dict[str, Any]:
    return {"difference": difference.mean, "interval": difference.interval, "p_value": difference.p_value}
