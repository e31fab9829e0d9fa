"""TaskData: what the files of a task hold - training examples, dev and test examples, vocabulary."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic

import numpy as np
from jaxtyping import Int

from elmo.errors import ConfigError
from elmo.process.progress.report import SILENT, Progress
from elmo.tasks.task import E, P, S, Task, Vocabulary
from elmo.tasks.train.job import REMEMBERED, SCORED, Files

_DEV_SHARE = 0.1
# Short sentences ("Yes .") occur in any two texts; of two parts of one data set 1 to 5 % do.
_LARGE_SHARE = 0.2


@dataclass(frozen=True)
class TaskData(Generic[E]):
    """All examples of a job."""

    train: list[E]
    dev: list[E]
    test: list[E]
    vocabulary: Vocabulary
    trained_on: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Of the data that are scored, how many of their examples are among the training examples, of how many; only where
    that is a large share."""
    second_test: list[E] = field(default_factory=list)
    whole: list[E] = field(default_factory=list)
    """What `Task.training` made the training examples of, which rules learn from."""

    def parts(self) -> tuple[list[E], ...]:
        """All of them: train, dev, test, second test."""
        return self.train, self.dev, self.test, self.second_test

    def scored(self) -> dict[str, list[E]]:
        """The examples that are scored, by `SCORED`'s names, where there are any."""
        return {name: examples for name in SCORED if (examples := getattr(self, name))}


def remarks_on_trained_data(trained_on: Mapping[str, Sequence[int]]) -> list[str]:
    """What to say of dev and test data that are training data; see `TaskData.trained_on`."""
    return [
        f"{count:,} of the {total:,} examples of the {name.replace('_', ' ')} data are also training data: "
        f"{REMEMBERED}. Give other data."
        for name, (count, total) in trained_on.items()
    ]


def read_data(task: Task[S, E, P], settings: S, files: Files, progress: Progress = SILENT) -> TaskData[E]:
    """What is trained on and scored. Raises TextError for errors in the files, ConfigError if nothing is left."""
    data = all_examples(task, settings, files)
    for remark in remarks_on_trained_data(data.trained_on):
        progress.say(f"note: {remark}")
    if not files.dev:
        told = f"{len(data.dev):,} of the training examples decide which epoch is the best"
        together = "all training examples belong together (one document or article), so the last epoch is kept"
        progress.say(f"no --dev was given: {told if data.dev else together}")
    shared = share_of(task.groups(data.train), settings.fit.train_share)
    whole = [data.train[place] for place in shared]
    train = task.training(whole, settings)
    if longest := settings.fit.max_length:
        train = [example for example in train if max(map(len, task.sentences(example)), default=0) <= longest]
    if not train:
        within = f" of at most {longest} tokens (--max-length)" if longest else ""
        raise ConfigError(f"{files.train}: there is no example{within} to train on. Check the file and its settings.")
    data = replace(data, train=train, whole=whole, vocabulary=task.trained_vocabulary(data.vocabulary, train))
    for examples in data.parts():
        task.require_moderate(examples)
    return data


def all_examples(task: Task[S, E, P], settings: S, files: Files) -> TaskData[E]:
    """All examples of the files, checked; without a dev file some of the training examples are dev data."""
    train = task.read(files.train, settings)
    scored = {name: task.read(path, settings) for name, path in files.present().items() if name in SCORED}
    vocabulary = task.vocabulary(train, settings)
    for examples in scored.values():
        task.check(examples, vocabulary, settings)
    trained_on = _trained_on(task.sentences, train, scored)
    if not files.dev:
        train, scored["dev"] = _held_out(train, task.groups(train))
    return TaskData(train, scored["dev"], scored.get("test", []), vocabulary, trained_on, scored.get("second_test", []))


def _trained_on(
    sentences: Callable[[E], Sequence[Sequence[str]]], train: list[E], others: Mapping[str, list[E]]
) -> dict[str, tuple[int, int]]:
    def text_of(example: E) -> Hashable:
        return tuple(map(tuple, sentences(example)))

    known = set(map(text_of, train)) if any(others.values()) else set()
    counts = {
        name: (sum(text_of(one) in known for one in examples), len(examples)) for name, examples in others.items()
    }
    return {name: (count, total) for name, (count, total) in counts.items() if count and count >= _LARGE_SHARE * total}


def _held_out(examples: list[E], groups: list[Hashable]) -> tuple[list[E], list[E]]:
    """(kept, held out); both have something, if there are two groups or more."""
    held = set(share_of(groups, _DEV_SHARE).tolist()) if len(set(groups)) > 1 else set()
    kept = [example for place, example in enumerate(examples) if place not in held]
    return kept, [examples[place] for place in sorted(held)]


def share_of(groups: Sequence[Hashable], share: float) -> Int[np.ndarray, " kept"]:
    """Indices of the examples in that share of the groups (at least one), ascending.

    `groups`: of each example. Smaller shares are subsets of larger ones.
    """
    numbers = {group: number for number, group in enumerate(dict.fromkeys(groups))}
    order = np.random.default_rng(0).permutation(len(numbers))
    kept = np.zeros(len(numbers), dtype=bool)
    kept[order[: max(1, round(share * len(numbers)))]] = True
    return np.flatnonzero(kept[[numbers[group] for group in groups]])
