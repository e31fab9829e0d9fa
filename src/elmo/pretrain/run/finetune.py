"""Fine-tuning: a model's language modelling continued on another domain's text, and what that did to both domains.

Source: paper section 3.4 and its supplement A.1; docs/specification.md, 6.8. In addition to what `run_folder.py`
describes, the run folder has

    finetune.json       which model was continued, which old text is compared, and the settings
    perplexities.json   before and after, on the validation text of the new domain ("valid") and on the old text ("old")
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from elmo.corpus.shards import TrainingData
from elmo.disk.bounded import file_hash
from elmo.disk.json_file import read_record
from elmo.errors import ConfigError, TextError
from elmo.model.lm_head import LMHead
from elmo.pretrain.ranks.distributed import Ranks
from elmo.pretrain.run.held_out import HeldOut, text_file, validation
from elmo.pretrain.run.loop import Loop, beginning, facts_of
from elmo.pretrain.run.run_folder import FINETUNING_FILE, RunFolder
from elmo.pretrain.run.saved_training import weights_of
from elmo.pretrain.run.watch import LogTo, Watch, curve_writer
from elmo.pretrain.settings.finetune_config import FinetuneConfig
from elmo.pretrain.settings.memory import require_memory
from elmo.pretrain.step.trainer import Trainer
from elmo.pretrain.step.trainer_state import load_weights
from elmo.process.progress.report import Progress, following
from elmo.process.stop_flag import stop_flag
from elmo.process.torch_settings import training_torch
from elmo.weights import formats, hub
from elmo.weights.checkpoint import Checkpoint, content_hash
from elmo.weights.native.names import VOCABULARY_FILE

RESULT_FILE = "perplexities.json"


@dataclass(frozen=True)
class Finetuned:
    """A finished fine-tuning."""

    model: Path
    """The new model's folder."""
    before: dict[str, dict[str, float]]
    """`Perplexity.to_dict` of the original model, by the text's name: "valid", "old"."""
    after: dict[str, dict[str, float]]
    """The same for the new model."""


@training_torch()
def finetune(
    model: hub.Model,
    data: TrainingData,
    path: Path,
    *,
    config: FinetuneConfig | None = None,
    old_text: Path | None = None,
    ranks: Ranks | None = None,
    progress: Progress | bool = False,
    log_to: LogTo = "files",
) -> Finetuned:
    """Continue training a model on prepared data; the run is left in `path`, the new model in `path`/model.

    `model`: as for `BiLM.from_pretrained`; it needs its softmax, and the data its vocabulary. `old_text`: a held-out
    text of the domain that the model came from, read as `elmo perplexity` does by default. `ranks`, `progress`: as for
    `pretrain`.
    Raises WeightFileError for a model without softmax, ConfigError if data, architecture or memory don't fit,
    OutputError if `path` is not empty, Interrupted when stopped, with everything saved.
    """
    config, ranks = config or FinetuneConfig(), ranks or Ranks()
    run = RunFolder(path, ranks)
    with stop_flag() as flag, following(progress) as reported:
        with beginning(ranks, flag):
            run.require_free()
            curve_writer(log_to)  # installed?
            files = hub.resolve(model)
            checkpoint = formats.read(files)
            trainer = _trainer_of(checkpoint, data, config, files, ranks)
            recipe = trainer.config
            texts = held_out_texts(data, old_text)
            facts = {"model": str(files), "model_hash": content_hash(checkpoint), "metadata": checkpoint.metadata}
            old = None if old_text is None else str(Path(old_text).absolute())
            facts |= {"old_text": old, "old_text_sha256": _hash_of(old)}
        run.begin(recipe, {"data": data.report})
        with run.held():
            run.write_json(FINETUNING_FILE, {**facts, "settings": asdict(config)})
            run.save(trainer, recipe.keep_checkpoints)  # from here on the run needs the model no more
            with Watch(run, trainer, progress=reported, log_to=log_to) as watch:
                return _train(Loop(run, trainer, watch, flag, texts.get("valid")), texts, config)


@training_torch()
def resume_finetuning(
    data: TrainingData,
    path: Path,
    *,
    ranks: Ranks | None = None,
    progress: Progress | bool = False,
    log_to: LogTo = "files",
) -> Finetuned:
    """Continue from the newest checkpoint, as `loop.resume` does, with the run's own settings and old text."""
    ranks = ranks or Ranks()
    run = RunFolder(path, ranks)
    with stop_flag() as flag, following(progress) as reported:
        run.require_begun()
        with run.held():
            with beginning(ranks, flag):
                facts = _facts(run)
                config = FinetuneConfig.from_dict(facts["settings"], str(path / FINETUNING_FILE))
                run.require_same_data(data.report)
                texts = held_out_texts(data, None if facts["old_text"] is None else Path(facts["old_text"]))
                _require_same_old_text(run, facts)
                trainer = Trainer(run.config(), data, ranks=ranks)
                run.restore(trainer)
            with Watch(run, trainer, progress=reported, log_to=log_to) as watch:
                return _train(Loop(run, trainer, watch, flag, texts.get("valid")), texts, config)


def _hash_of(text: str | None) -> str | None:
    try:
        return None if text is None else file_hash(Path(text))
    except OSError as error:
        raise TextError(
            f"{text}: the old text can't be read: {error.strerror or error}. It is read before and after the training, "
            "so pass a file, not a pipe."
        ) from None


def _require_same_old_text(run: RunFolder, facts: dict[str, Any]) -> None:
    """ConfigError if the old text is another one than when its perplexity before was measured."""
    noted, found = facts["old_text_sha256"], _hash_of(facts["old_text"])
    if noted != found:
        raise ConfigError(
            f"{facts['old_text']}: the old text has the SHA-256 {found}, but had {noted} when {run.path} was started: "
            "the perplexities before and after would be of two texts. Restore it, or start another run."
        )


def held_out_texts(data: TrainingData, old_text: Path | None) -> dict[str, HeldOut]:
    """What is compared before and after: the data's validation text ("valid"), and the old domain's ("old")."""
    valid = validation(data)
    found = {} if valid is None else {"valid": valid}
    return found if old_text is None else {**found, "old": text_file("old", old_text, data.vocabulary.words)}


def _train(loop: Loop, texts: dict[str, HeldOut], config: FinetuneConfig) -> Finetuned:
    run, trainer, limit = loop.run, loop.trainer, config.comparison_sentences
    result = run.ranks.on_first(lambda: _read(run.path / RESULT_FILE))
    if "before" not in result:
        result = {"before": {name: loop.evaluate(text, limit) for name, text in texts.items()}}
        run.write_json(RESULT_FILE, result)
    loop.train()
    result["after"] = {name: loop.evaluate(text, limit) for name, text in texts.items()}
    run.write_json(RESULT_FILE, result)
    facts = _read(run.path / FINETUNING_FILE)
    # The original's perplexities are not this model's.
    kept = {name: value for name, value in facts["metadata"].items() if "perplexity" not in name}
    metadata = kept | {"finetuned_from": facts["model"]} | facts_of(trainer, result["after"].get("valid", {}))
    model = run.finish(trainer, metadata | _comparison(result))
    loop.watch.say(f"finished at step {trainer.step_number}: {model}")
    return Finetuned(model, result["before"], result["after"])


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
    require_memory(recipe, data, ranks)
    trainer = Trainer(recipe, data, ranks=ranks)
    if trainer.bilm.token_map != checkpoint.token_map:
        raise ConfigError(
            f"{files}: the model has its own dictionary of characters or words, and training would make another one "
            f"from {data.folder}, with other ids. Fine-tune a model that reads bytes, or pretrain one on your text."
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
    if data.max_characters_per_token != limit:
        what = f"keeps {data.max_characters_per_token} characters of a token, but the model {files} reads {limit}"
    else:
        what = (
            f"has another vocabulary ({len(data.vocabulary)} words) than the model {files} "
            f"({len(checkpoint.vocabulary or ())} words), whose softmax predicts its own words only"
        )
    raise ConfigError(f"{data.folder}: {what}. Prepare the text for this model: {command}")


def _facts(run: RunFolder) -> dict[str, Any]:
    facts = _read(run.path / FINETUNING_FILE)
    if not facts:
        raise ConfigError(
            f"{run.path}: has no {FINETUNING_FILE}, so it is not a run of 'elmo finetune'. Try: elmo pretrain --resume"
        )
    if run.latest is None:
        raise ConfigError(
            f"{run.path}: the run was stopped before its first checkpoint. Remove the folder and start it again."
        )
    return facts


def _read(path: Path) -> dict[str, Any]:
    return read_record(path) if path.is_file() else {}
