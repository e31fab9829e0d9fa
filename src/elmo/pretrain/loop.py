"""The loop around the steps: logging, evaluating, saving, and stopping when asked."""

import math
from pathlib import Path
from typing import Any, NoReturn

import torch

from elmo.errors import ElmoError, Interrupted
from elmo.pretrain.config import PretrainConfig
from elmo.pretrain.divergence import stop_before
from elmo.pretrain.held_out import HeldOut, validation
from elmo.pretrain.perplexity import evaluate
from elmo.pretrain.run_folder import RunFolder
from elmo.pretrain.shards import TrainingData
from elmo.pretrain.stop_flag import StopFlag, StopRequested, stop_flag
from elmo.pretrain.trainer import StepResult, Trainer, TrainingDiverged
from elmo.pretrain.watch import LogTo, Watch

_PLACE_OF_LINE = ("step", "epoch", "evaluation")


def pretrain(
    config: PretrainConfig, data: TrainingData, path: Path, *, quiet: bool = False, log_to: LogTo = "files"
) -> Path:
    """Train from the beginning; the finished model's folder.

    `path`: the run folder to make, see `run_folder.py`. `quiet`: nothing on stderr. `log_to="tensorboard"`: curves too.
    Raises Interrupted when stopped by SIGTERM or Ctrl-C, with all saved; TrainingDiverged when the loss is no number.
    """
    with stop_flag() as flag:
        run = RunFolder.create(path, config, {"data": data.report})
        return _train(run, Trainer(config, data), flag, quiet, log_to)


def resume(
    data: TrainingData,
    path: Path,
    *,
    config: PretrainConfig | None = None,
    quiet: bool = False,
    log_to: LogTo = "files",
) -> Path:
    """Go on from the newest checkpoint, bit for bit; `config` replaces the recipe (the architecture must be equal)."""
    with stop_flag() as flag:
        run = RunFolder.existing(path)
        trainer = Trainer(config or run.config(), data)
        run.restore(trainer)
        return _train(run, trainer, flag, quiet, log_to)


def _train(run: RunFolder, trainer: Trainer, flag: StopFlag, quiet: bool, log_to: LogTo) -> Path:
    valid = validation(trainer.data)
    with Watch(run, trainer, quiet=quiet, log_to=log_to) as watch:
        loop = Loop(run, trainer, watch, flag, valid)
        loop.train()
        figures = loop.evaluate(valid) if valid is not None else {}
        model = run.finish(trainer, facts_of(trainer, figures))
        watch.say(f"finished at step {trainer.step_number}: {model}")
        return model


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
        lines = [line for line in run.metrics() if "evaluation" in line]
        self._recorded = {(line["evaluation"], line["step"], line["sentences"]): line for line in lines}
        self._lowest = self._lowest_recorded()

    def train(self) -> None:
        """All steps from where the trainer stands; a checkpoint is left at the end."""
        trainer, config = self.trainer, self.trainer.config
        self._tell_begin()
        self._evaluate_if_due()  # a run stopped in an evaluation comes back to it
        while trainer.step_number < trainer.last_step:
            self.watch.step(self._step())
            self._evaluate_if_due()
            if self.flag.signal is not None:
                self.stop()
            if trainer.step_number % config.save_every == 0:
                self.save()
        self.save()

    def evaluate(self, text: HeldOut, limit: int = 0) -> dict[str, float]:
        """`Perplexity.to_dict` on a held-out text (about `limit` of its sentences; 0: all), told and recorded.

        What metrics.jsonl has for this step already is taken from there.
        """
        key = (text.name, self.trainer.step_number, text.count(limit))
        if key not in self._recorded:
            self._recorded[key] = self._evaluate(text, limit)
        return {name: value for name, value in self._recorded[key].items() if name not in _PLACE_OF_LINE}

    def _evaluate(self, text: HeldOut, limit: int) -> dict[str, float]:
        bilm, head = self.trainer.bilm, self.trainer.head
        try:
            with self.watch.not_training(f"evaluating on {text.name}", text.count(limit)) as bar:
                found = evaluate(bilm, head, text.pick(limit), on_progress=bar.update, poll=self.flag.look)
        except StopRequested:
            self.stop()
        self.watch.evaluated(text.name, found)
        return found.to_dict()

    def save(self) -> None:
        """Leave a checkpoint."""
        with self.watch.not_training():
            self.run.save(self.trainer, self.trainer.config.keep_checkpoints)

    def stop(self) -> NoReturn:
        """Save, and leave with Interrupted."""
        self.save()
        message = (
            f"stopped at step {self.trainer.step_number} of {self.trainer.last_step} by signal {self.flag.signal}; "
            f"everything is saved in {self.run.path}. Go on with --resume."
        )
        self.run.log(message)
        raise Interrupted(message)

    def _step(self) -> StepResult | None:
        """One step; None: it found no numbers and was skipped."""
        trainer = self.trainer
        before = trainer.progress_state()
        try:
            result = trainer.step()
        except TrainingDiverged as error:
            if trainer.config.on_nan == "stop":
                raise self._logged(stop_before(self.run, trainer, before, error)) from None
            self._skip(error, before)
            return None
        # AdamW's fused update changes weights without telling their version, by which `ops/product` knows that a weight
        # must be laid out anew: without this an evaluation would see the weights of an evaluation before.
        torch.autograd.graph.increment_version(list(trainer.named_parameters.values()))
        self.num_skipped = 0
        return result

    def _skip(self, error: TrainingDiverged, before: dict[str, Any]) -> None:
        """Pass over a window: the step counts, the weights stay."""
        trainer = self.trainer
        if self.num_skipped + 1 > trainer.config.max_skipped_steps:
            raise self._logged(stop_before(self.run, trainer, before, error)) from None
        self.num_skipped += 1
        trainer.step_number += 1
        self.run.record(step=trainer.step_number, epoch=round(trainer.epoch, 5), skipped=str(error))
        self.watch.say(f"step {trainer.step_number}: skipped, {self.num_skipped} in a row. {error}")

    def _evaluate_if_due(self) -> None:
        trainer, config = self.trainer, self.trainer.config
        step = trainer.step_number
        if self.held_out is None or not config.evaluate_every or not step or step % config.evaluate_every:
            return
        found = self.evaluate(self.held_out, config.evaluation_sentences)["mean_perplexity"]
        if config.keep_best and found < self._lowest:
            with self.watch.not_training():
                self.run.save_best(trainer, config.keep_checkpoints)
        self._lowest = min(self._lowest, found)

    def _lowest_recorded(self) -> float:
        """The best of the evaluations before; the one at a run's end takes more sentences and is none of them."""
        if self.held_out is None:
            return math.inf
        count = self.held_out.count(self.trainer.config.evaluation_sentences)
        found = [
            line["mean_perplexity"]
            for (name, step, sentences), line in self._recorded.items()
            if name == self.held_out.name and step > 0 and sentences == count
        ]
        return min(found, default=math.inf)

    def _tell_begin(self) -> None:
        trainer = self.trainer
        begun = f"resumed at step {trainer.step_number}" if trainer.step_number else "begun"
        self.watch.say(
            f"{begun}: {trainer.last_step:,} steps of {trainer.tokens_per_step:,} tokens a direction, "
            f"{trainer.last_step * trainer.tokens_per_step / trainer.tokens_per_epoch:.2f} epochs of "
            f"{trainer.tokens_per_epoch:,}"
        )

    def _logged(self, error: ElmoError) -> ElmoError:
        self.run.log(str(error))
        return error


def facts_of(trainer: Trainer, figures: dict[str, float]) -> dict[str, str]:
    """What the finished model's metadata says of its training; `figures` of the validation text, or none."""
    facts = {"training_tokens": str(trainer.data.num_tokens("train")), "epochs": f"{trainer.epoch:.3f}"}
    return facts | {f"valid_{key}": f"{value:.4g}" for key, value in figures.items() if "perplex" in key}
