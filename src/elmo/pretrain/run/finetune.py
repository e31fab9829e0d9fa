"""Fine-tuning: a model's language modelling continued on another domain's text, and what that did to both domains.

Source: paper section 3.4 and its supplement A.1; docs/specification.md, 6.8. In addition to what `run_folder.py`
describes, the run folder has

    finetune.json       which model was continued, which old text is compared, and the settings
    perplexities.json   before and after, on the validation text of the new domain ("valid") and on the old text ("old")
"""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from elmo.corpus.shards import TrainingData
from elmo.disk.json_file import read_record
from elmo.errors import ConfigError
from elmo.model.lm_head import LMHead
from elmo.pretrain.ranks.distributed import Ranks
from elmo.pretrain.run.held_out import HeldOut, text_file, validation
from elmo.pretrain.run.loop import Loop, Trained, facts_of
from elmo.pretrain.run.run_folder import FINETUNING_FILE, RunFolder
from elmo.pretrain.run.saved_training import weights_of
from elmo.pretrain.settings.finetune_config import FinetuneConfig
from elmo.pretrain.step.trainer import Trainer
from elmo.pretrain.step.trainer_state import load_weights
from elmo.text.files.text_file import check_is_text_file
from elmo.weights import formats, hub
from elmo.weights.checkpoint import Checkpoint, content_hash
from elmo.weights.native.names import VOCABULARY_FILE

RESULT_FILE = "perplexities.json"


@dataclass
class Finetuning:
    """What is peculiar to the training that continues a model."""

    data: TrainingData
    config: FinetuneConfig | None
    model: hub.Model
    """To be continued; a run that is resumed has its own, and its own config and old text."""
    old_text: Path | None
    facts: dict[str, Any] = field(default_factory=dict)
    """The content of finetune.json."""
    texts: dict[str, HeldOut] = field(default_factory=dict)
    """What is compared before and after: the data's validation text ("valid"), and the old domain's ("old")."""

    def begun(self, ranks: Ranks) -> Trainer:
        """A trainer before its first step, with the model's weights."""
        config = self.config or FinetuneConfig()
        files = hub.resolve(self.model)
        checkpoint = formats.read(files)
        trainer = _trainer_of(checkpoint, self.data, config, files, ranks)
        old = None if self.old_text is None else str(Path(self.old_text).absolute())
        if old is not None:
            check_is_text_file(old)
        self.facts = {
            "model": str(files),
            "model_hash": content_hash(checkpoint),
            "metadata": checkpoint.metadata,
            "old_text": old,
            "settings": asdict(config),
        }
        self.texts = self._held_out(old)
        return trainer

    def resumed(self, run: RunFolder) -> Trainer:
        """A trainer as it was at the newest checkpoint."""
        self.facts = _facts(run)
        run.require_same_data(self.data.report)
        self.texts = self._held_out(self.facts["old_text"])
        trainer = Trainer(run.config(), self.data, ranks=run.ranks)
        run.restore(trainer)
        return trainer

    def noted(self, run: RunFolder, trainer: Trainer, *, is_new: bool) -> dict[str, tuple[Any, Any]]:
        """Writes what the run needs to be continued; no setting changes."""
        if is_new:
            run.write_json(FINETUNING_FILE, self.facts)
            run.save(trainer, trainer.config.keep_checkpoints)  # from here on the run needs the model no more
        return {}

    def trained(self, loop: Loop) -> Trained:
        """All steps, the finished model, and perplexities before and after."""
        run = loop.run
        limit = FinetuneConfig.from_dict(self.facts["settings"], str(run.path / FINETUNING_FILE)).comparison_sentences
        result = run.ranks.on_first(lambda: _read(run.path / RESULT_FILE))
        if "before" not in result:
            result = {"before": {name: loop.evaluate(text, limit) for name, text in self.texts.items()}}
            run.write_json(RESULT_FILE, result)
        loop.train()
        result["after"] = {name: loop.evaluate(text, limit) for name, text in self.texts.items()}
        run.write_json(RESULT_FILE, result)
        # The original's perplexities are not this model's.
        kept = {name: value for name, value in self.facts["metadata"].items() if "perplexity" not in name}
        metadata = kept | {"finetuned_from": self.facts["model"]}
        metadata |= facts_of(loop.trainer, result["after"].get("valid", {}))
        return loop.finished(metadata | _comparison(result), before=result["before"], after=result["after"])

    def _held_out(self, old_text: str | None) -> dict[str, HeldOut]:
        valid = validation(self.data)
        found = {} if valid is None else {"valid": valid}
        if old_text is not None:
            found["old"] = text_file("old", Path(old_text), self.data.vocabulary.words)
        return found


def _trainer_of(
    checkpoint: Checkpoint, data: TrainingData, config: FinetuneConfig, files: hub.Files, ranks: Ranks
) -> Trainer:
    """A trainer before its first step, with the model's weights."""
    head = LMHead.from_checkpoint(checkpoint, str(files))  # refuses a model without softmax
    _require_fitting(data, checkpoint, files)
    clusters = [(len(cluster.weight), cluster.weight.shape[1]) for cluster in head.adaptive_weights().clusters]
    words = checkpoint.tensors.get("token_encoder.word_embedding")
    tied = (
        words is not None and not checkpoint.config.has_characters and np.array_equal(words[1:], head.weight.detach())
    )
    recipe = config.pretraining(checkpoint.config, len(data.vocabulary), clusters, tied=tied)
    trainer = Trainer(recipe, data, ranks=ranks)
    if trainer.bilm.token_map != checkpoint.token_map:
        raise ConfigError(
            f"{files}: the model's characters or words have other ids than those of {data.folder}. Fine-tune a model "
            "that reads bytes, or pretrain one on your text."
        )
    load_weights(trainer, weights_of(checkpoint))
    return trainer


def _comparison(result: dict[str, dict[str, dict[str, float]]]) -> dict[str, str]:
    return {
        f"{name}_mean_perplexity{suffix}": f"{values['mean_perplexity']:.4g}"
        for moment, suffix in (("before", "_before"), ("after", ""))
        for name, values in result[moment].items()
    }


def _require_fitting(data: TrainingData, checkpoint: Checkpoint, files: hub.Files) -> None:
    limit = checkpoint.config.max_characters_per_token
    if list(data.vocabulary.words) == checkpoint.vocabulary and data.max_characters_per_token == limit:
        return
    folder = files[1].parent if isinstance(files, tuple) else files if files.is_dir() else files.parent
    command = f"elmo prepare TEXT --vocabulary {folder / VOCABULARY_FILE} --max-characters-per-token {limit} -o DATA"
    if not (folder / VOCABULARY_FILE).is_file():
        command = f"elmo convert {files} MODEL --to native; {command.replace(str(folder), 'MODEL')}"
    raise ConfigError(
        f"{data.folder}: has other words than the softmax of {files}, or other than {limit} characters of each. "
        f"Prepare the text for this model: {command}"
    )


def _facts(run: RunFolder) -> dict[str, Any]:
    facts = _read(run.path / FINETUNING_FILE)
    if not facts or run.latest is None:
        raise ConfigError(
            f"{run.path}: has no {FINETUNING_FILE} or no checkpoint: nothing of 'elmo finetune'. Name another folder."
        )
    return facts


def _read(path: Path) -> dict[str, Any]:
    return read_record(path) if path.is_file() else {}
