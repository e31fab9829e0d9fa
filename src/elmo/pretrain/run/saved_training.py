"""The files of one checkpoint: a trainer's weights, its other tensors, and how far it has come."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from safetensors.torch import load_file, save_file

from elmo.config import BiLMConfig
from elmo.disk.atomic import new_folder
from elmo.disk.json_file import read_json
from elmo.disk.sums import SUMS_FILE, what_changed, write_sums
from elmo.errors import ConfigError, WeightFileError
from elmo.pretrain.settings.config import PretrainConfig
from elmo.pretrain.step.stream import RunPosition
from elmo.pretrain.step.trainer import Trainer
from elmo.pretrain.step.trainer_state import restore
from elmo.weights.checkpoint import Checkpoint
from elmo.weights.native.read import read as read_checkpoint
from elmo.weights.native.tensor_file import disk_errors
from elmo.weights.native.write import write as write_checkpoint

_MODEL, _TENSORS, _PROGRESS = "model", "training.safetensors", "progress.json"
_PARTS = frozenset({_MODEL, _TENSORS, _PROGRESS, SUMS_FILE})
# Beside the network: the softmax's weights, the order of the text, the states of its rows and of the optimizer.
_FIXED = ("tie_softmax", "seed", "batch_size", "optimizer")
_PROGRESS_BYTES = 1 << 28  # some 30 bytes per row and direction


def write_training(
    folder: Path, trainer: Trainer, gathered: dict[str, Float[torch.Tensor, "..."]], position: RunPosition
) -> None:
    """Writes a checkpoint atomically. `gathered`: `tensors_of`, to which every rank contributes."""
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in gathered.items()}
    weights = sum(parameter.nbytes for parameter in trainer.named_parameters.values())
    size = weights + sum(tensor.nbytes for tensor in tensors.values())
    with new_folder(folder, size=size, force=True, replaceable=_PARTS) as unfinished:
        write_checkpoint(model_of(trainer), unfinished / _MODEL)
        with disk_errors():
            save_file(tensors, unfinished / _TENSORS)
        (unfinished / _PROGRESS).write_text(json.dumps(position.to_dict()), encoding="utf-8")
        # The model's texts may be edited; its tensors belong to this step and no other.
        of_model = [path.relative_to(unfinished).as_posix() for path in (unfinished / _MODEL).glob("*.safetensors")]
        write_sums(unfinished, [_TENSORS, _PROGRESS, *sorted(of_model)])


def restore_from(folder: Path, trainer: Trainer, recipe: PretrainConfig) -> None:
    """Bring a fresh trainer to where a checkpoint was taken.

    `recipe`: the one it was trained by until then. Raises WeightFileError if the checkpoint is damaged or another
    run's, ConfigError for settings that it can't be continued with.
    """
    if changed := what_changed(folder, needs_sums=True):
        raise WeightFileError(
            f"{folder}: the checkpoint is damaged ({changed}). Remove it; --resume continues from the one before it."
        )
    model = read_checkpoint(folder / _MODEL)
    before = _fixed(model.config, recipe, model.vocabulary)
    for name, value in _fixed(trainer.bilm.config, trainer.config, trainer.head.vocabulary).items():
        if value != before[name]:
            raise ConfigError(
                f"{name} is {value!r:.60}, but the checkpoint {folder} was trained with {before[name]!r:.60}. Resume "
                "with that value, or start a new run."
            )
    # Both files are as they were written: they have their sums.
    position = RunPosition.from_dict(read_json(folder / _PROGRESS, limit=_PROGRESS_BYTES))
    restore(trainer, weights_of(model), load_file(folder / _TENSORS), position)


def _fixed(network: BiLMConfig, recipe: PretrainConfig, words: Sequence[str] | None) -> dict[str, Any]:
    """What a run can't change."""
    return {**asdict(network), "vocabulary": words, **{name: getattr(recipe, name) for name in _FIXED}}


def weights_of(model: Checkpoint) -> dict[str, Float[torch.Tensor, "..."]]:
    """A model's network and softmax under the names that a trainer gives them."""
    named = {f"bilm.{name}": array for name, array in model.tensors.items()}
    named |= {f"head.{name}": array for name, array in (model.softmax or {}).items()}
    return {name: torch.from_numpy(array) for name, array in named.items()}


def model_of(trainer: Trainer, metadata: dict[str, str] | None = None) -> Checkpoint:
    """The trainer's weights as a model."""
    softmax = {name: tensor.detach().cpu().numpy() for name, tensor in trainer.head.state_dict().items()}
    return trainer.bilm.to_checkpoint(vocabulary=trainer.head.vocabulary, softmax=softmax, metadata=metadata)
