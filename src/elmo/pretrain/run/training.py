"""The one entrance to a training: a run that its folder has is continued, and otherwise begun."""

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elmo.corpus.shards import TrainingData
from elmo.pretrain.ranks.distributed import Ranks
from elmo.pretrain.run.finetune import Finetuning
from elmo.pretrain.run.held_out import validation
from elmo.pretrain.run.loop import Loop, Trained, beginning, facts_of
from elmo.pretrain.run.run_folder import FINETUNING_FILE, RunFolder
from elmo.pretrain.run.watch import LogTo, Watch, curve_writer
from elmo.pretrain.settings.config import PretrainConfig
from elmo.pretrain.settings.finetune_config import FinetuneConfig
from elmo.pretrain.step.trainer import Trainer
from elmo.process.progress.report import Progress, following
from elmo.process.stop_flag import stop_flag
from elmo.process.torch_settings import training_torch
from elmo.weights import hub


@training_torch()
def train(
    data: TrainingData,
    path: Path,
    config: PretrainConfig | FinetuneConfig | None = None,
    *,
    model: hub.Model = None,
    old_text: Path | None = None,
    ranks: Ranks | None = None,
    progress: Progress | bool = False,
    log_to: LogTo = "files",
) -> Trained:
    """Train to the last step, from the newest checkpoint of the run in `path` if it has one; the finished model.

    `config`: a PretrainConfig trains a biLM from the beginning. A FinetuneConfig continues `model`, which is named as
    for `BiLM.from_pretrained` and needs its softmax, and the data its vocabulary; `old_text`, a held-out text of the
    domain that the model came from, shows what it forgets. None: the run that is there, by its own settings.
    A pretraining that is continued takes another PretrainConfig as its recipe from there on; architecture, tie_softmax,
    batch_size, optimizer and seed must stay as they are, and so must the texts that `data` was prepared from and their
    order. A fine-tuning is continued with its own model, old text and settings. Bit for bit with as many ranks as
    before; with another number up to rounding, and no token is read twice or left out.

    `ranks`: this process's place among those of the run, as `distributed.joined` gives it; None: the only one, on a
    CPU. `progress`: receives the steps of the training, the sentences of each evaluation and, as lines, their results;
    True: bars on stderr. `log_to="tensorboard"`: curves too.
    Raises ConfigError, with nothing written, for settings that don't fit the data or the model, and for
    None where there is no run; OutputError if `path` has other files than a run's; Interrupted when stopped by SIGTERM
    or Ctrl-C, with everything saved; TrainingDiverged when the loss is not finite; PeerLost when another rank is gone.
    """
    ranks = ranks or Ranks()
    if isinstance(config, PretrainConfig):
        ranks.rows(config.batch_size)  # enough rows?
    run = RunFolder(path, ranks)
    with stop_flag() as flag, following(progress) as reported, ExitStack() as stack:
        if is_begun := ranks.on_first(lambda: run.is_begun):
            stack.enter_context(run.held())
        elif config is None:
            run.require_begun()
        kind: Finetuning | Pretraining
        if isinstance(config, PretrainConfig):
            kind = Pretraining(data, config)
        elif config is not None or ranks.on_first(lambda: (path / FINETUNING_FILE).is_file()):
            kind = Finetuning(data, config, model, old_text)
        else:
            kind = Pretraining(data, None)
        with beginning(ranks, flag):
            if not is_begun:
                run.require_free()
            curve_writer(log_to)  # installed?
            trainer = kind.resumed(run) if is_begun else kind.begun(ranks)
        if not is_begun:
            run.begin(trainer.config, {"data": data.report})
            stack.enter_context(run.held())
        changes = kind.noted(run, trainer, is_new=not is_begun)
        with Watch(run, trainer, progress=reported, log_to=log_to) as watch:
            if changes:
                watch.settings_changed(changes)
            return kind.trained(Loop(run, trainer, watch, flag, validation(data)))


@dataclass
class Pretraining:
    """What is peculiar to the training of a new biLM."""

    data: TrainingData
    config: PretrainConfig | None

    def begun(self, ranks: Ranks) -> Trainer:
        """A trainer before its first step."""
        return Trainer(self.config or PretrainConfig(), self.data, ranks=ranks)

    def resumed(self, run: RunFolder) -> Trainer:
        """A trainer as it was at the newest checkpoint."""
        run.require_pretraining()
        run.require_same_data(self.data.report)
        trainer = Trainer(self.config or run.config(), self.data, ranks=run.ranks)
        run.restore(trainer)
        return trainer

    def noted(self, run: RunFolder, trainer: Trainer, *, is_new: bool) -> dict[str, tuple[Any, Any]]:
        """Writes what the run needs to be continued; the settings that changed, each as (before, now)."""
        return {} if is_new or self.config is None else run.change_config(self.config, trainer.step_number)

    def trained(self, loop: Loop) -> Trained:
        """All steps, and the finished model."""
        loop.train()
        figures = loop.take_best() if loop.out_of_patience else loop.evaluate_whole()
        return loop.finished(facts_of(loop.trainer, figures))
