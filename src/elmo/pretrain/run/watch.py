"""Watch: what a person sees of a run while it goes, and what stays in its files.

To the caller's `Progress` go the steps, and as lines to stay the evaluations; log.txt has the same as lines,
metrics.jsonl as numbers; with `log_to="tensorboard"` as curves too. No perplexity follows from the sampled loss
(docs/specification.md, 6.5). Of several ranks only the first one reports.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

from elmo.errors import MissingExtraError
from elmo.lm.sums import Perplexity
from elmo.pretrain.run.run_folder import RunFolder
from elmo.pretrain.step.trainer import StepResult, Trainer
from elmo.process.progress.report import SILENT, Progress
from elmo.process.progress.shown import duration

LogTo = Literal["files", "tensorboard"]


class Watch:
    """Reports how a run goes, to its files and to `progress`. Use it in a `with` block: it closes the curves."""

    def __init__(
        self, run: RunFolder, trainer: Trainer, *, progress: Progress = SILENT, log_to: LogTo = "files"
    ) -> None:
        self.run = run
        self.trainer = trainer
        self.progress = progress if trainer.ranks.is_first else SILENT
        self.loss_name = "sampled loss" if trainer.config.softmax == "sampled" else "loss"
        writer = curve_writer(log_to) if trainer.ranks.is_first else None
        # The points of steps that will be taken again are dropped.
        self._board = writer and writer(str(run.path / "tensorboard"), purge_step=trainer.step_number + 1)
        self._first_step = trainer.step_number
        self._begun = self._clock = time.perf_counter()
        self._counted = 0
        self._shown = ""
        self._show(trainer.last_step)

    def __enter__(self) -> "Watch":
        return self

    def __exit__(self, *_: object) -> None:
        if self._board is not None:
            self._board.close()

    def step(self, result: StepResult | None) -> None:
        """A step is done; None: it was skipped."""
        self._counted += 1
        if result is not None and self.trainer.step_number % self.trainer.config.log_every == 0:
            self._log(result)
        self._show(self.trainer.last_step)

    def ended(self) -> None:
        """No step follows, whether or not the last one was reached."""
        if self.trainer.step_number != self.trainer.last_step:
            self._show(self.trainer.step_number)

    def say(self, text: str) -> None:
        """A line to stay, also in log.txt."""
        self.run.log(text)
        self.progress.say(text)

    @property
    def place(self) -> dict[str, Any]:
        """How far the run has come, as lines of metrics.jsonl say."""
        trainer = self.trainer
        return {"step": trainer.step_number, "epoch": round(trainer.epoch, 5), "tokens_read": trainer.tokens_read}

    def record(self, **values: Any) -> None:
        """Append an object to metrics.jsonl, headed by how far the run has come."""
        self.run.record(**self.place, **values)

    def settings_changed(self, changes: Mapping[str, tuple[Any, Any]]) -> None:
        """Other settings were given when the run was resumed; each as (before, now)."""
        self.record(settings={name: {"before": before, "now": now} for name, (before, now) in changes.items()})
        shown = ", ".join(f"{name} {before} -> {now}" for name, (before, now) in changes.items())
        self.say(f"settings changed at step {self.trainer.step_number}: {shown}")

    def evaluated(self, name: str, perplexity: Perplexity) -> None:
        """The figures of an evaluation."""
        trainer = self.trainer
        values = perplexity.to_dict()
        self.record(evaluation=name, **values)
        for direction in (*perplexity.nats, "mean"):
            self._curve(f"perplexity {name}/{direction}", perplexity.of(direction))
        figures = ", ".join(f"{direction} {perplexity.of(direction):.2f}" for direction in (*perplexity.nats, "mean"))
        what = "validation perplexity" if name == "valid" else f"perplexity of the {name} text"
        self.say(f"step {trainer.step_number}: {what} {figures}")

    @contextmanager
    def not_training(self) -> Iterator[None]:
        """For evaluations and saving, which don't count in tokens_per_second."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            spent = time.perf_counter() - begun
            self._clock += spent
            self._begun += spent

    def _show(self, last_step: int) -> None:
        trainer = self.trainer
        note = f"epoch {trainer.epoch:.2f}{self._shown}"
        self.progress.show("training", trainer.step_number, last_step, "steps", note)

    def _log(self, result: StepResult) -> None:
        trainer, now = self.trainer, time.perf_counter()
        speed = self._counted * trainer.tokens_per_step / (now - self._clock)
        self._clock, self._counted = now, 0
        values = {
            "loss": result.loss,
            "losses": result.losses,
            "gradient_norm": result.gradient_norm,
            "learning_rate": result.learning_rate,
            "tokens_per_second": round(speed, 1),
        }
        self.record(**values)
        shown = f"{self.loss_name} {result.loss:.3f}, {speed:,.0f} tokens/s"
        self._shown = f", {shown}"
        done = trainer.step_number / trainer.last_step
        pace = (now - self._begun) / (trainer.step_number - self._first_step)
        left = pace * (trainer.last_step - trainer.step_number)
        self.run.log(
            f"step {trainer.step_number:,} of {trainer.last_step:,} ({done:.1%}), epoch {trainer.epoch:.3f}, {shown}, "
            f"{duration(left)} left"
        )
        for direction, loss in {**result.losses, "mean": result.loss}.items():
            self._curve(f"{self.loss_name}/{direction}", loss)
        for name in ("gradient_norm", "learning_rate", "tokens_per_second"):
            self._curve(name.replace("_", " "), values[name])

    def _curve(self, name: str, value: float) -> None:
        if self._board is not None:
            self._board.add_scalar(name, value, self.trainer.step_number)


def curve_writer(log_to: LogTo) -> Any:
    """The class of TensorBoard's writer, None if no curves are asked for. Raises MissingExtraError."""
    if log_to != "tensorboard":
        return None
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise MissingExtraError("tensorboard", "tensorboard", "--log tensorboard") from None
    return SummaryWriter
