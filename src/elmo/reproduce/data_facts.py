"""What an experiment needs to know about its data apart from any training: sizes, units, and what rules score."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from elmo.tasks.rules import rule_scores
from elmo.tasks.task import E, P, S
from elmo.tasks.train.job import Job
from elmo.tasks.train.task_data import all_examples


@dataclass(frozen=True)
class DataFacts:
    """Facts about the examples of a job."""

    num_groups: int
    """How many groups of training examples (questions about one article) a share is drawn from."""
    units: Mapping[str, Sequence[Hashable]]
    """By data, the unit of each example: what belongs together (a document's sentences) is resampled together."""
    rules: Sequence[Mapping[str, Any]]
    """The task's rules without learning: "rule", "label", the metric by data, and all "scores"."""


def data_facts(job: Job[S, E, P]) -> DataFacts:
    """Reads all files. Raises TextError for errors in them."""
    data = all_examples(job.task, job.settings, job.files)
    scored = data.scored()
    units = {
        name: [job.task.group(example, place) for place, example in enumerate(examples)]
        for name, examples in scored.items()
    }
    rules = rule_scores(job.task.rules(data.train), job.task.score, job.task.metric, scored)
    return DataFacts(len(set(job.task.groups(data.train))), units, rules)
