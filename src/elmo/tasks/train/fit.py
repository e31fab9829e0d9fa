"""fit: a task's model is trained by these steps, whatever the task.

batches of similar length -> loss + penalty of the mixes -> clipped gradients -> step
an epoch done -> scored on the dev data -> better: its weights are kept; not better `patience` times: the end

What chance decides in a step (dropout) follows from the seed and the number of the step alone, so that a training that
was stopped or killed goes on bit for bit as if nothing had happened.
"""

import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import torch
from torch import nn
from tqdm import tqdm

from elmo.errors import ElmoError, Interrupted
from elmo.process.stop_flag import StopFlag, StopRequested
from elmo.tasks.settings import FitSettings
from elmo.tasks.task import Scores, Task
from elmo.tasks.train.example_batches import shuffled_batches, sorted_batches
from elmo.tasks.train.fit_folder import FitFolder, Progress
from elmo.tasks.train.optimizers import make_optimizer, rate_at
from elmo.tasks.train.weight_average import WeightAverage

# Seconds after which an epoch under way is saved too.
_SAVE_AFTER = 120.0
# Keeps the steps of one seed apart from those of the next.
_PRIME = 1_000_003


class TrainingFailed(ElmoError):
    """The loss or the gradient of a step is no number."""


@dataclass(frozen=True)
class Fitted:
    """How a training ended; the model has the best epoch's weights."""

    epochs: int
    """Epochs done."""
    best_epoch: int
    """From 1; without dev data the last one."""
    dev: Scores
    """The best epoch's scores on the dev data; empty without."""


def fit(
    model: nn.Module,
    task: Task,
    train: Sequence[Any],
    dev: Sequence[Any],
    settings: FitSettings,
    folder: Path,
    *,
    seed: int,
    quiet: bool = False,
    flag: StopFlag | None = None,
) -> Fitted:
    """Train a `TaskModel`, or go on with the training in `folder`.

    `dev`: what decides which epoch is the best; empty: the last one is, and nothing ends early. `flag`: when it is up,
    all is saved and Interrupted raised. Raises TrainingFailed when a loss or gradient is no number.
    """
    with torch.random.fork_rng():
        return _Fit(model, task, train, dev, settings, FitFolder(folder), seed, quiet, flag or StopFlag()).run()


class _Fit:
    """One training."""

    def __init__(
        self,
        model: Any,
        task: Task,
        train: Sequence[Any],
        dev: Sequence[Any],
        settings: FitSettings,
        folder: FitFolder,
        seed: int,
        quiet: bool,
        flag: StopFlag,
    ) -> None:
        self.model, self.task, self.train, self.dev = model, task, train, dev
        self.settings, self.folder, self.seed, self.flag = settings, folder, seed, flag
        self.parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        self.optimizer = make_optimizer(settings, self.parameters)
        self.average = WeightAverage(self.parameters, settings.average_decay)
        self.lengths = example_lengths(task, train)
        self.num_batches = settings.epoch_passes * math.ceil(len(train) / settings.batch_size)
        self.progress = folder.restore(model, self.optimizer, self.average)
        self.bar = tqdm(
            total=settings.epochs * self.num_batches,
            initial=self.progress.epoch * self.num_batches + self.progress.batch,
            desc=f"seed {seed}",
            unit="batch",
            disable=quiet,
            file=sys.stderr,
        )

    def run(self) -> Fitted:
        """All epochs from where the training stands."""
        with self.bar:
            while not self._is_over():
                self._epoch()
                self._evaluate()
        done = self.progress
        self.folder.restore_best(self.model)
        self.model.eval()
        recorded = {line["epoch"]: line for line in self.folder.metrics()}
        return Fitted(done.epoch, done.best_epoch, recorded.get(done.best_epoch, {}).get("dev", {}))

    def _is_over(self) -> bool:
        done, patience = self.progress, self.settings.patience
        in_vain = done.epoch - done.best_epoch  # after the first epoch there always is a best one
        return done.epoch >= self.settings.epochs or (bool(self.dev) and 0 < patience <= in_vain)

    def _epoch(self) -> None:
        """The rest of the epoch under way."""
        self.model.train()
        before, clock, saved = self.progress.seconds, time.monotonic(), time.monotonic()
        for batch in self._batches()[self.progress.batch :]:
            loss = self._step([self.train[place] for place in batch])
            now = time.monotonic()
            self.progress = self.progress.changed(
                batch=self.progress.batch + 1, loss=self.progress.loss + loss, seconds=before + now - clock
            )
            self.bar.update()
            if self.bar.n % 10 == 0:
                self._show()
            if self.flag.signal is not None:
                self._stop()
            if now - saved > _SAVE_AFTER:
                self.folder.save(self.model, self.optimizer, self.average, self.progress)
                saved = now

    def _batches(self) -> list[Any]:
        """The whole epoch's batches, each pass in an order of its own."""
        settings, first = self.settings, self.progress.epoch * self.settings.epoch_passes
        passes = range(first, first + settings.epoch_passes)
        orders = (shuffled_batches(self.lengths, settings.batch_size, self.seed, number) for number in passes)
        return [batch for order in orders for batch in order]

    def _step(self, examples: list[Any]) -> float:
        step = self.progress.epoch * self.num_batches + self.progress.batch
        torch.manual_seed(_PRIME * self.seed + step)
        rate = rate_at(self.settings, step, self.settings.epochs * self.num_batches, self.progress.num_halvings)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.model.loss(examples)
        (loss + self.model.tokens.penalty()).backward()
        norm = nn.utils.clip_grad_norm_(self.parameters, self.settings.clip_norm or math.inf)
        if not (math.isfinite(loss.item()) and math.isfinite(norm.item())):
            raise self._failed(loss.item(), norm.item())
        self.optimizer.step()
        self.average.update(step)
        return loss.item()

    def _evaluate(self) -> None:
        """Scores the epoch just done, keeps its weights if they are the best, and saves."""
        try:
            with self.average.in_place():
                scores = self._dev_scores()
                done = self._judged(scores)
                self.folder.record(self._line(done.epoch, scores))
        except StopRequested:
            self._stop()
        self.progress = done
        self.folder.save(self.model, self.optimizer, self.average, done)
        self._show()

    def _judged(self, scores: Scores) -> Progress:
        """Progress after an epoch with these scores; the weights are kept if they are the best."""
        done = self.progress.changed(epoch=self.progress.epoch + 1, batch=0, loss=0.0, seconds=0.0)
        score = float(scores.get(self.task.metric, 0.0))
        better = not self.dev or done.best_epoch == 0 or score > done.best_score
        if better:
            self.folder.save_best(self.model)
            done = done.changed(best_epoch=done.epoch, best_score=score)
        else:
            done = done.changed(num_halvings=done.num_halvings + 1)
        return done

    def _dev_scores(self) -> Scores:
        if not self.dev:
            return {}
        predictions = predict_all(self.model, self.task, self.dev, self.settings.batch_size, self.flag.look)
        return self.task.score(self.dev, predictions)

    def _line(self, epoch: int, scores: Scores) -> dict[str, Any]:
        progress = self.progress
        return {
            "epoch": epoch,
            "loss": round(progress.loss / self.num_batches, 6),
            "learning_rate": self.optimizer.param_groups[0]["lr"],
            "seconds": round(progress.seconds, 3),
            "examples_per_second": round(self.settings.epoch_passes * len(self.train) / max(progress.seconds, 1e-9), 1),
            "dev": scores,
            "mix_weights": self.model.tokens.mix_weights(),
        }

    def _show(self) -> None:
        done = self.progress
        parts = [f"epoch {done.epoch + (done.batch > 0)}"]
        if done.batch:
            parts.append(f"loss {done.loss / done.batch:.4g}")
        if done.best_epoch and self.dev:
            parts.append(f"best dev {self.task.metric} {done.best_score:.2f} (epoch {done.best_epoch})")
        self.bar.set_postfix_str(", ".join(parts))

    def _stop(self) -> NoReturn:
        self.folder.save(self.model, self.optimizer, self.average, self.progress)
        raise Interrupted(
            f"stopped in epoch {self.progress.epoch + 1} of seed {self.seed} by signal {self.flag.signal}; everything "
            f"is saved in {self.folder.path}. Go on with the same command and --resume."
        )

    def _failed(self, loss: float, norm: float) -> TrainingFailed:
        done = self.progress
        return TrainingFailed(
            f"{self.folder.path}: epoch {done.epoch + 1}, batch {done.batch + 1}: the loss is {loss}, the gradient's "
            f"norm {norm}: the training of seed {self.seed} diverged. Its best weights so far are those of epoch "
            f"{done.best_epoch} (0: none). Try a lower --learning-rate or --clip-norm."
        )


@torch.no_grad()
def predict_all(
    model: Any, task: Task, examples: Sequence[Any], batch_size: int, poll: Callable[[], None] | None = None
) -> list[Any]:
    """A prediction for each example, in their order. `poll` is called before each batch."""
    model.eval()
    predictions: list[Any] = [None] * len(examples)
    for batch in sorted_batches(example_lengths(task, examples), batch_size):
        if poll is not None:
            poll()
        for place, prediction in zip(batch, model.predict([examples[place] for place in batch]), strict=True):
            predictions[place] = prediction
    return predictions


def example_lengths(task: Task, examples: Sequence[Any]) -> list[int]:
    """Tokens of each example."""
    return [sum(map(len, task.sentences(example))) for example in examples]
