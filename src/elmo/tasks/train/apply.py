"""A trained task model on new data: scores on labelled files, predictions for unlabelled input."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from elmo.tasks.saved_model import SavedTaskModel
from elmo.tasks.task import E, P, S, Scores
from elmo.tasks.train.fit import predict_all

# Examples that are read before the first of them is predicted: enough for batches of similar size.
_WINDOW = 512


def evaluate(saved: SavedTaskModel[S, E, P], path: Path | str) -> tuple[Scores, list[tuple[E, P]]]:
    """The scores on a labelled file, and each example with its prediction.

    Raises TextError with file and line for what is wrong in the file, also for labels the model doesn't know.
    """
    task = saved.task
    examples = task.read(path, saved.settings)
    task.check(examples, saved.vocabulary, saved.settings)
    predictions = predict_all(saved.model, task, examples, saved.settings.fit)
    return task.score(examples, predictions), list(zip(examples, predictions, strict=True))


def predict(saved: SavedTaskModel[S, E, P], examples: Iterable[E]) -> Iterator[tuple[E, P]]:
    """Each example with its prediction, in constant memory; `Task.write` makes a file of them."""
    stream = iter(examples)
    while group := list(islice(stream, _WINDOW)):
        predictions = predict_all(saved.model, saved.task, group, saved.settings.fit)
        yield from zip(group, predictions, strict=True)
