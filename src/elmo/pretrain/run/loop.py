"""The loop around the steps: logging, evaluating, saving, and stopping when asked.

All ranks of a run go through it together: they agree on what only one of them can know (a signal, what is on the disk)
before anything depends on it.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from elmo.errors import Interrupted, OutputError, WeightFileError
from elmo.lm.in_torch import TorchLanguageModel
from elmo.pretrain.ranks.distributed import FirstFailed, Ranks
from elmo.pretrain.run.held_out import HeldOut, evaluate_together
from elmo.pretrain.run.run_folder import RunFolder
from elmo.pretrain.run.saved_training import weights_of
from elmo.pretrain.run.watch import Watch
from elmo.pretrain.step.stream import RunPosition
from elmo.pretrain.step.trainer import StepResult, Trainer, TrainingDiverged
from elmo.pretrain.step.trainer_state import load_weights
from elmo.process.stop_flag import StopFlag, StopRequested
from elmo.process.torch_settings import few_host_threads
from elmo.weights.native.read import read as read_checkpoint

_PLACE_OF_LINE = ("step", "epoch", "tokens_read", "evaluation")


@dataclass(frozen=True)
class Trained:
    """A finished training."""

    model: Path
    """The model's folder."""
    before: dict[str, dict[str, float]] = field(default_factory=dict)
    """Of a fine-tuning: `Perplexity.to_dict` of the original model, by the text's name: "valid", "old"."""
    after: dict[str, dict[str, float]] = field(default_factory=dict)
    """The same for the new model."""


@contextmanager
def beginning(ranks: Ranks, flag: StopFlag) -> Iterator[None]:
    """What is done before the first step: a signal ends it, with nothing to be saved.

    At once, or with several ranks when the block is done: all must end, whichever of them was asked to stop.
    """
    try:
        with nullcontext() if ranks.size > 1 else flag.at_once():
            yield
    except KeyboardInterrupt:
        if ranks.size > 1 or flag.signal is None:
            raise
    if signal := ranks.largest(flag.signal or 0):
        raise Interrupted(
            f"stopped by signal {signal} before the first step, so there was nothing to save. Run the command again."
        )


class Loop:
    """Takes a trainer's steps to the last; evaluates, saves and stops in between."""

    def __init__(
        self, run: RunFolder, trainer: Trainer, watch: Watch, flag: StopFlag, held_out: HeldOut | None
    ) -> None:
        self.run = run
        self.trainer = trainer
        self.watch = watch
        self.flag = flag
        self.held_out = held_out
        self.num_skipped = 0
        """Steps skipped in a row."""
        lines = [line for line in run.metrics() if {"evaluation", "sentences"} <= line.keys()]
        self._recorded = {(line["evaluation"], line["step"], line["sentences"]): line for line in lines}
        self._perplexities = self._perplexities_recorded()

    def train(self) -> None:
        """All steps from the trainer's position on; saves a checkpoint at the end."""
        trainer = self.trainer
        with few_host_threads(trainer.device):
            self._report_start()
            self._stop_if_asked()  # while the model was built
            self._evaluate_if_due()  # a run stopped in an evaluation comes back to it
            while trainer.step_number < trainer.last_step and not self.out_of_patience:
                result = self._step()
                self.watch.step(result)
                self._evaluate_if_due()
                if trainer.ranks.size == 1:
                    self._stop_if_asked()
                elif result is not None and result.stop_signal:  # the ranks exchanged their flags in the step
                    self._stop(result.stop_signal)
                if trainer.step_number % trainer.config.save_every == 0:
                    self.save()
            self.watch.ended()
            self.save()

    def evaluate(self, text: HeldOut, limit: int = 0) -> dict[str, float]:
        """`Perplexity.to_dict` on a held-out text (about `limit` of its sentences; 0: all), logged and recorded.

        If metrics.jsonl has it for this step already, it is taken from there.
        """
        key = (text.name, self.trainer.step_number, text.count(limit))
        if key not in self._recorded:
            self._recorded[key] = self.watch.place | self._evaluate(text, limit)
        return {name: value for name, value in self._recorded[key].items() if name not in _PLACE_OF_LINE}

    def _evaluate(self, text: HeldOut, limit: int) -> dict[str, float]:
        model = TorchLanguageModel(self.trainer.bilm, self.trainer.head)
        try:
            with self.watch.not_training():
                found = evaluate_together(
                    model, text, limit, self.trainer.ranks, progress=self.watch.progress, poll=self.flag.check
                )
        except StopRequested:
            self._stop_if_asked()
            raise
        self.watch.evaluated(text.name, found)
        return found.to_dict()

    def evaluate_whole(self) -> dict[str, float]:
        """The figures of the whole held-out text; none without one."""
        return {} if self.held_out is None else self.evaluate(self.held_out)

    def finished(self, metadata: dict[str, str], **perplexities: dict[str, dict[str, float]]) -> Trained:
        """Write the finished model. `perplexities`: `before` and `after`."""
        model = self.run.finish(self.trainer, metadata)
        self.watch.say(f"finished at step {self.trainer.step_number}: {model}")
        return Trained(model, **perplexities)

    def save(self, *, is_best: bool = False) -> None:
        """Leave a checkpoint."""
        with self.watch.not_training():
            self.run.save(self.trainer, self.trainer.config.keep_checkpoints, is_best=is_best)

    def _stop_if_asked(self) -> None:
        """All ranks stop at the same step, whichever got the signal."""
        if signal := self.trainer.ranks.largest(self.flag.signal or 0):
            self._stop(signal)

    def _stop(self, signal: int) -> NoReturn:
        self.save()
        message = (
            f"stopped at step {self.trainer.step_number} of {self.trainer.last_step} by signal {signal}; "
            f"everything is saved in {self.run.path}. Continue with --resume."
        )
        self.run.log(message)
        raise Interrupted(message)

    def _step(self) -> StepResult | None:
        """One step; None if it was skipped because its loss or a gradient was not finite."""
        trainer = self.trainer
        before = trainer.position
        try:
            result = trainer.step(self.flag)
        except TrainingDiverged as error:
            if trainer.config.on_nan == "stop" or self.num_skipped == trainer.config.max_skipped_steps:
                raise self._stopped_before(error, before) from None
            self._skip(error)
            return None
        self.num_skipped = 0
        return result

    def _stopped_before(self, error: TrainingDiverged, before: RunPosition) -> TrainingDiverged:
        """The error, after the state before the step was saved: only the position is another one now."""
        try:
            kept = f"The state before the step is in {self.run.save_before_nan(self.trainer, before)}"
        except FirstFailed:
            kept = "The first process reports what was kept"
        except WeightFileError:
            kept = "The weights before the step are not finite either, so they were not saved"
        except OutputError as full:
            kept = f"The state before the step could not be saved ({full})"
        found = TrainingDiverged(
            f"{error} {kept}; the last checkpoint is {self.run.latest or 'not there yet'}. Resume with a lower "
            "--learning-rate, or skip such steps with --on-nan skip."
        )
        self.run.log(str(found))
        return found

    def _skip(self, error: TrainingDiverged) -> None:
        """Skip a window: the step counts, the weights stay."""
        trainer = self.trainer
        self.num_skipped += 1
        trainer.count_step()
        self.watch.record(skipped=str(error))
        self.watch.say(f"step {trainer.step_number}: skipped, {self.num_skipped} in a row. {error}")

    def _evaluate_if_due(self) -> None:
        config, step = self.trainer.config, self.trainer.step_number
        if self.held_out is None or not config.evaluate_every or not step or step % config.evaluate_every:
            return
        before = min((found for at, found in self._perplexities.items() if at < step), default=None)
        found = self.evaluate(self.held_out, config.evaluation_sentences)["mean_perplexity"]
        self._perplexities[step] = found
        if (config.keep_best or config.patience) and (before is None or found < before):
            self.save(is_best=True)

    @property
    def out_of_patience(self) -> bool:
        """Whether the last `patience` evaluations in a row found no lower perplexity than one before them."""
        patience = self.trainer.config.patience
        found = [self._perplexities[step] for step in sorted(self._perplexities)]
        return 0 < patience < len(found) and min(found[:-patience]) <= min(found[-patience:])

    def take_best(self) -> dict[str, Any]:
        """Out of patience: back to the weights of the best checkpoint; returns the line of its evaluation."""
        best, step, limit = self.run.best, self.run.best_step, self.trainer.config.evaluation_sentences
        # There were evaluations, so there are these.
        assert best is not None and step is not None
        assert self.held_out is not None
        load_weights(self.trainer, weights_of(read_checkpoint(best / "model")))
        self.watch.say(
            f"ended at step {self.trainer.step_number}: no lower perplexity in {self.trainer.config.patience} "
            f"evaluations in a row. The finished model is that of step {step}."
        )
        return self._recorded[self.held_out.name, step, self.held_out.count(limit)]

    def _perplexities_recorded(self) -> dict[int, float]:
        """By step, from that of the best checkpoint on; none without it, since no model can be gone back to.

        The evaluation at a run's end is not among them: whatever it finds, its weights are not kept as the best.
        """
        best = self.run.ranks.on_first(lambda: self.run.best_step)
        every = self.trainer.config.evaluate_every
        if self.held_out is None or best is None or not every:
            return {}
        count = self.held_out.count(self.trainer.config.evaluation_sentences)
        found = {
            step: line["mean_perplexity"]
            for (name, step, sentences), line in self._recorded.items()
            if name == self.held_out.name and sentences == count and (step == best or step > best and not step % every)
        }
        return found if best in found else {}

    def _report_start(self) -> None:
        trainer = self.trainer
        started = f"resumed at step {trainer.step_number}" if trainer.step_number else "started"
        if trainer.ranks.size > 1:
            started += f" by {trainer.ranks.size} processes"
        tokens = trainer.tokens_read + (trainer.last_step - trainer.step_number) * trainer.tokens_per_step
        self.watch.say(
            f"{started}: {trainer.last_step:,} steps of {trainer.tokens_per_step:,} tokens per direction, "
            f"{tokens / trainer.tokens_per_epoch:.2f} epochs of {trainer.tokens_per_epoch:,} tokens"
        )


def facts_of(trainer: Trainer, figures: Mapping[str, Any]) -> dict[str, str]:
    """The training facts in the finished model's metadata; `figures` of the validation text, or none, and where they
    are of an earlier step, its place.

    `text_tokens`: tokens of the training text; `tokens_read`: predictions of each direction, sentence boundaries
    included, over all epochs.
    """
    facts = {
        "text_tokens": str(trainer.data.num_tokens("train")),
        "tokens_read": str(figures.get("tokens_read", trainer.tokens_read)),
        "epochs": f"{figures.get('epoch', trainer.epoch):.3f}",
    }
    return facts | {f"valid_{key}": f"{value:.4g}" for key, value in figures.items() if "perplex" in key}
