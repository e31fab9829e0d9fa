"""A trained task model on new data: scores on labelled files, predictions for unlabelled input."""

import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor

from elmo.process.progress.report import SILENT, Count, Progress, following
from elmo.process.torch_settings import usual_torch
from elmo.tasks.saved_config import OTHER_BILM
from elmo.tasks.saved_model import Ensemble, SavedTaskModel
from elmo.tasks.settings import FitSettings
from elmo.tasks.task import E, P, S, Scores, Task
from elmo.tasks.task_model import TaskModel
from elmo.tasks.train.batches import limits_of, sorted_batches
from elmo.text.files.text_file import text_name

# Examples that are read before the first of them is predicted: enough for batches of similar size.
_WINDOW = 512


def evaluate(
    saved: SavedTaskModel[S, E, P], path: Path | str, *, progress: Progress | bool = False
) -> tuple[Scores, list[tuple[E, P]]]:
    """The scores on a labelled file, and each example with its prediction.

    Of an ensemble, `single_models` has the mean and the standard deviation of its models' own scores beside it.
    `progress`: receives the examples that are predicted; True: bars on stderr. Raises TextError with file and line for
    an error in the file, such as a label the model doesn't know.
    """
    task = saved.task
    examples = task.read(path, saved.settings)
    task.check(examples, saved.vocabulary, saved.settings)
    if (frozen := saved.model.tokens.frozen) is not None:
        frozen.warn_of_language(task.sentences_of(examples), text_name(path), OTHER_BILM)
    with following(progress) as reported:
        predictions = predict_all(saved.model, task, examples, saved.settings.fit, progress=reported)
    scores = task.score(examples, predictions)
    if isinstance(saved.model, Ensemble):
        singles = (predict_all(model, task, examples, saved.settings.fit) for model in saved.model.models)
        figures = [task.figure(task.score(examples, own), task.metric) for own in singles]
        spread = {"mean": statistics.fmean(figures), "standard_deviation": statistics.stdev(figures)}
        scores = {**scores, "single_models": {**spread, task.metric: figures}}
    return scores, list(zip(examples, predictions, strict=True))


def predict(
    saved: SavedTaskModel[S, E, P], examples: Iterable[E], *, progress: Progress | bool = False
) -> Iterator[tuple[E, P]]:
    """Each example with its prediction, in constant memory; `Task.write` makes a file of them.

    `progress`: receives the examples that were given; True: bars on stderr.
    """
    stream = iter(examples)
    with following(progress) as reported:
        predicted = Count(reported, "predicting", None, "examples")
        while group := list(islice(stream, _WINDOW)):
            predictions = predict_all(saved.model, saved.task, group, saved.settings.fit)
            yield from predicted.each(zip(group, predictions, strict=True))
        predicted.finish()


@usual_torch()
@torch.no_grad()
def predict_all(
    model: TaskModel[E, P],
    task: Task[S, E, P],
    examples: Sequence[E],
    settings: FitSettings,
    *,
    losses: list[tuple[Float[Tensor, ""] | None, int]] | None = None,
    poll: Callable[[], None] = lambda: None,
    progress: Progress = SILENT,
) -> list[P]:
    """A prediction for each example, in their order. `losses`: gets `held_out_loss_of` and `num_averaged` of each
    batch. `poll` is called before each batch."""
    task.require_moderate(examples)
    model.eval()
    predicted = Count(progress, "predicting", len(examples), "examples")
    predictions: dict[int, P] = {}
    for batch in sorted_batches([task.size(example) for example in examples], limits_of(settings, task)):
        poll()
        chosen = [examples[place] for place in batch]
        with task.enough_memory(chosen):
            outputs = model(chosen)
            if losses is not None:
                losses.append((model.held_out_loss_of(outputs, chosen), model.num_averaged(chosen)))
            predictions |= zip(batch.tolist(), model.decide([outputs], chosen), strict=True)
        predicted.add(len(chosen))
    return [predictions[place] for place in range(len(examples))]


def predict_and_loss(
    model: TaskModel[E, P],
    task: Task[S, E, P],
    examples: Sequence[E],
    settings: FitSettings,
    *,
    poll: Callable[[], None] = lambda: None,
    progress: Progress = SILENT,
) -> tuple[list[P], float | None]:
    """What `predict_all` gives, and `TaskModel.held_out_loss_of` of all examples; None if there is none for a batch."""
    losses: list[tuple[Float[Tensor, ""] | None, int]] = []
    predictions = predict_all(model, task, examples, settings, losses=losses, poll=poll, progress=progress)
    known = [(loss.item(), count) for loss, count in losses if loss is not None]
    total = sum(loss * count for loss, count in known)
    return predictions, total / max(sum(count for _, count in known), 1) if len(known) == len(losses) else None
