"""fit: trains a task's model by these steps, whatever the task.

batches of similar size -> loss + penalty of the mixes -> clipped gradients -> step of the optimizer
an epoch done -> scored on the dev data -> better: its weights are kept; not better `patience` times: the end

Random choices in a step (dropout, examples that are drawn) depend on the seed and the number of the step only, so a
training that was stopped or killed and is resumed gives the same model bit for bit (on a CPU: some CUDA kernels add in
varying order).
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, NoReturn

import numpy as np
import torch
from jaxtyping import Int

from elmo.disk.json_file import add_record
from elmo.errors import ElmoError, Interrupted
from elmo.process.progress.report import Progress, following
from elmo.process.stop_flag import StopFlag, StopRequested
from elmo.tasks.settings import FitSettings
from elmo.tasks.task import E, P, Plain, S, Task
from elmo.tasks.task_model import TaskModel
from elmo.tasks.train.apply import predict_and_loss
from elmo.tasks.train.batches import Epochs, limits_of
from elmo.tasks.train.fit_folder import FitFolder, FitPosition
from elmo.tasks.train.optimizers import Learner

# Seconds after which an epoch under way is saved too.
_SAVE_AFTER = 120.0
# Gives each seed its own range of step seeds.
_PRIME = 1_000_003


class TrainingFailed(ElmoError):
    """The loss or the gradient of a step is not finite (NaN or inf)."""


@dataclass(frozen=True)
class Fitted:
    """How a training ended; the model has the best epoch's weights."""

    epochs: int
    """Epochs done."""
    best_epoch: int
    """From 1; without dev data the last one."""


def fit(
    model: TaskModel[E, P],
    task: Task[S, E, P],
    train: Sequence[E],
    dev: Sequence[E],
    settings: FitSettings,
    folder: Path,
    *,
    seed: int,
    progress: Progress | bool = False,
    flag: StopFlag | None = None,
) -> Fitted:
    """Trains a model, or resumes the training in `folder`.

    `dev`: decides which epoch is the best; if empty, the last one is, and nothing ends early. `progress`: receives
    the batches of the training and the examples that are scored; True: bars on stderr. `flag`: when it is raised,
    everything is saved and Interrupted raised. Raises TrainingFailed when a loss or gradient is not finite.
    """
    learner = Learner(settings, model)
    devices = [model.tokens.device] if model.tokens.device.type == "cuda" else []
    files = FitFolder(folder)
    position = files.restore(model, learner)
    limits = limits_of(settings, task).in_training(len(train), settings.least_batches)
    epochs = Epochs([task.size(example) for example in train], limits, seed, settings.epoch_passes)
    batches = epochs.batches(position.epoch)
    best_by = settings.best_by or task.metric
    with torch.random.fork_rng(devices=devices), following(progress) as reported:
        told = seed, reported, flag or StopFlag()
        fitting = _Fit(model, task, train, dev, settings, files, learner, epochs, batches, position, best_by, *told)
        return fitting.run()


@dataclass
class _Fit(Generic[S, E, P]):
    """One training: the arguments of `fit`, what follows from them, and how far it is."""

    model: TaskModel[E, P]
    task: Task[S, E, P]
    train: Sequence[E]
    dev: Sequence[E]
    settings: FitSettings
    folder: FitFolder
    learner: Learner
    epochs: Epochs
    batches: list[Int[np.ndarray, " batch"]]
    """Of the epoch under way."""
    position: FitPosition
    best_by: str
    """The figure that decides which epoch is the best."""
    seed: int
    progress: Progress
    flag: StopFlag

    def run(self) -> Fitted:
        """All epochs that are left."""
        self._show()
        try:
            while not self._is_over():
                self._epoch()
                self._evaluate()
        except StopRequested:
            self._stop()
        self._show(ended=True)
        self.folder.restore_best(self.model)
        self.model.eval()
        return Fitted(self.position.epoch, self.position.best_epoch)

    def _is_over(self) -> bool:
        done, patience = self.position, self.settings.patience
        return done.epoch >= self.settings.epochs or (bool(self.dev) and 0 < patience <= done.fruitless)

    def _epoch(self) -> None:
        self.model.train()
        self.batches = self.epochs.batches(self.position.epoch, self.flag.check)
        if (done := self.position.batch) > 0:  # the rate of the last step, which another process made
            epochs = self.position.epoch + (done - 1) / len(self.batches)
            self.learner.begin(self.position.step - 1, epochs, self.position.fruitless_all)
        before, clock, saved = self.position.seconds, time.monotonic(), time.monotonic()
        for batch in self.batches[self.position.batch :]:
            loss = self._step([self.train[place] for place in batch])
            now = time.monotonic()
            self.position = replace(
                self.position,
                batch=self.position.batch + 1,
                step=self.position.step + 1,
                loss=self.position.loss + loss,
                seconds=before + now - clock,
            )
            if self.position.batch < len(self.batches):  # an epoch is done when it is scored
                self._show()
            self.flag.check()
            if now - saved > _SAVE_AFTER:
                self.folder.save(self.model, self.learner, self.position)
                saved = now

    def _step(self, examples: list[E]) -> float:
        at, step = self.position, self.position.step
        _seed((_PRIME * self.seed + step) % (1 << 63), self.model.tokens.device)
        random = np.random.default_rng([self.seed, step])
        drawn = [self.task.drawn(example, random) for example in examples]
        self.learner.begin(step, at.epoch + at.batch / len(self.batches), at.fruitless_all)
        with self.task.enough_memory(drawn):
            loss = self.model.loss(drawn)
            (loss + self.model.tokens.penalty()).backward()
        norm = self.learner.clip()
        if not (math.isfinite(loss.item()) and math.isfinite(norm)):
            raise self._failed(loss.item(), norm)
        self.learner.step(step)
        return loss.item()

    def _evaluate(self) -> None:
        """Scores the epoch just done, keeps its weights if they are the best, and saves."""
        began, position = time.monotonic(), self.position
        waits = self.learner.waits(position.epoch + 1)
        with self.learner.average.in_place():
            scores, loss = dict[str, Plain](), None
            if self.dev:
                predictions, loss = predict_and_loss(
                    self.model, self.task, self.dev, self.settings, poll=self.flag.check, progress=self.progress
                )
                scores = dict(self.task.score(self.dev, predictions))
            mix_weights = self.model.tokens.mix_weights()
            score = self.task.figure(scores, self.best_by) if self.dev else None
            done = position.after_epoch(score, loss, waits=waits)
            if done.best_epoch == done.epoch:
                self.folder.save_best(self.model)
            examples = self.settings.epoch_passes * len(self.train)
            line = {
                "epoch": done.epoch,
                "loss": round(position.loss / len(self.batches), 6),
                "learning_rate": self.learner.rate,
                "seconds": round(position.seconds, 3),
                "scoring_seconds": round(time.monotonic() - began, 3),
                "examples_per_second": round(examples / max(position.seconds, 1e-9), 1),
                "dev": scores,
                "dev_loss": None if loss is None else round(loss, 6),
                "mix_weights": mix_weights,
            }
            add_record(self.folder.metrics_file, line)
        self.position = done
        self.folder.save(self.model, self.learner, done)
        self._show()

    def _show(self, *, ended: bool = False) -> None:
        """Reports the position. `ended`: no batch follows, though epochs may be left."""
        done, num_batches = self.position, len(self.batches)
        # Later epochs may have a batch more or less than the one under way.
        left = 0 if ended else (self.settings.epochs - done.epoch) * num_batches - done.batch
        self.progress.show(f"seed {self.seed}", done.step, done.step + left, "batches", self._note())

    def _note(self) -> str:
        done = self.position
        parts = [f"epoch {done.epoch + (done.batch > 0)}"]
        if done.batch:
            parts.append(f"loss {done.loss / done.batch:.4g}")
        if done.best_epoch and self.dev:
            parts.append(f"best dev {self.best_by} {done.best_score:.2f} (epoch {done.best_epoch})")
        return ", ".join(parts)

    def _stop(self) -> NoReturn:
        self.folder.save(self.model, self.learner, self.position)
        raise Interrupted(
            f"stopped in epoch {self.position.epoch + 1} of seed {self.seed} by signal {self.flag.signal}; everything "
            f"is saved in {self.folder.path}. Continue with the same command and --resume."
        )

    def _failed(self, loss: float, norm: float) -> TrainingFailed:
        done = self.position
        return TrainingFailed(
            f"{self.folder.path}: epoch {done.epoch + 1}, batch {done.batch + 1}: the loss is {loss}, the gradient's "
            f"global norm {norm}: the training of seed {self.seed} diverged. Its best weights so far are those of "
            f"epoch {done.best_epoch} (0: none). Try a lower --learning-rate or --clip-norm."
        )


def _seed(number: int, device: torch.device) -> None:
    """What `torch.manual_seed` does for the device alone: for others it notes a stack trace in each call."""
    torch.default_generator.manual_seed(number)
    if device.type == "cuda":
        torch.cuda.manual_seed(number)
