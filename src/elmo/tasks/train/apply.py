"""A trained task model on new data: scores on labelled files, predictions for text."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from elmo.tasks.task import Scores
from elmo.tasks.task_model import SavedTaskModel
from elmo.tasks.train.fit import predict_all

# Sentences of a text that are read before the first of them is predicted: enough for batches of similar length.
_WINDOW = 512


def evaluate(saved: SavedTaskModel, path: Path | str) -> tuple[Scores, list[str]]:
    """The scores on a labelled file, and the lines of its predictions in the task's official format.

    Raises TextError with file and line for what is wrong in the file, also for labels the model doesn't know.
    """
    task = saved.task
    examples = task.read(path, saved.settings)
    task.check(examples, saved.vocabulary, saved.settings)
    predictions = predict_all(saved.model, task, examples, saved.settings.fit.batch_size)
    return task.score(examples, predictions), list(task.write(examples, predictions))


def predict(saved: SavedTaskModel, sentences: Iterable[list[str]]) -> Iterator[tuple[Any, list[str]]]:
    """For each tokenized sentence, in constant memory, its prediction and the lines of the task's official format."""
    task = saved.task
    stream = iter(sentences)
    while group := list(islice(stream, _WINDOW)):
        examples = task.from_text(group)
        predictions = predict_all(saved.model, task, examples, saved.settings.fit.batch_size)
        for example, prediction in zip(examples, predictions, strict=True):
            yield prediction, list(task.write([example], [prediction]))
