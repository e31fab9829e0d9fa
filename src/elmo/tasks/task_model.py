"""Task models as folders that load anywhere.

config.json          task, settings, vocabulary (labels, characters), which biLM by name and hash
model.safetensors    what was learned, without the biLM
static.safetensors   static_words.json   the static vectors, if there are any
bilm/                the biLM, a model folder like any other: if it was trained with the task, or if asked for
"""

import json
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from elmo.disk.atomic import new_folder
from elmo.disk.json_file import read_json, write_json
from elmo.embed.embedder import Embedder
from elmo.errors import WeightFileError
from elmo.model.bilm import BiLM
from elmo.process.device import chosen_device
from elmo.static.vectors import StaticVectors
from elmo.tasks.settings import to_table, with_table
from elmo.tasks.task import Task, default_settings, find
from elmo.tasks.tokens.frozen_layers import FrozenLayers
from elmo.tasks.tokens.representation import TokenRepresentation, load_learned_state
from elmo.weights import hub
from elmo.weights.native.tensor_file import read_tensors, write_tensors

FORMAT_VERSION = 1

_CONFIG, _WEIGHTS, _STATIC, _WORDS, _BILM = (
    "config.json",
    "model.safetensors",
    "static.safetensors",
    "static_words.json",
    "bilm",
)
_PARTS = frozenset({_CONFIG, _WEIGHTS, _STATIC, _WORDS, _BILM})
_KEYS = ("format_version", "task", "settings", "vocabulary", "bilm", "num_trained_words", "metadata")
_MAX_CONFIG_BYTES = 1 << 26
_MAX_WORDS_BYTES = 1 << 30


@dataclass(frozen=True)
class SavedTaskModel:
    """A task's model and all that is needed to use it."""

    task: Task
    settings: Any
    vocabulary: dict[str, Any]
    model: Any
    """A `TaskModel`."""
    metadata: dict[str, Any] = field(default_factory=dict)
    """Facts of its training."""
    has_own_bilm: bool = False
    """Whether its biLM came with it, as it does when it was trained with the task."""


def save(saved: SavedTaskModel, folder: Path, *, include_bilm: bool = False, force: bool = False) -> None:
    """Writes the model folder; it appears whole or not at all."""
    tokens = saved.model.tokens
    tensors = {name: tensor.detach().cpu().numpy() for name, tensor in _own_state(saved.model).items()}
    static = None if tokens.static is None else tokens.static.vectors()
    values = (
        FORMAT_VERSION,
        saved.task.name,
        to_table(saved.settings),
        saved.vocabulary,
        _bilm_facts(tokens),
        0 if tokens.static is None else len(tokens.static.trained) - 1,
        saved.metadata,
    )
    size = sum(tensor.nbytes for tensor in tensors.values()) + (0 if static is None else static.vectors.nbytes)
    with new_folder(folder, size=size, force=force, replaceable=_PARTS) as unfinished:
        write_json(unfinished / _CONFIG, dict(zip(_KEYS, values, strict=True)))
        write_tensors(unfinished / _WEIGHTS, tensors)
        if static is not None:
            write_tensors(unfinished / _STATIC, {"vectors": static.vectors})
            (unfinished / _WORDS).write_text(json.dumps(static.words), encoding="ascii")
        if tokens.elmo is not None and (include_bilm or saved.has_own_bilm or tokens.settings.train_bilm):
            tokens.elmo.bilm.save_pretrained(unfinished / _BILM)


def load(
    folder: Path | str, *, model: hub.Model = None, device: str = "auto", dtype: str = "float32"
) -> SavedTaskModel:
    """Reads a model folder, or a run folder's best model.

    `model`: where the biLM is, if the place noted in the folder isn't true here; its weights must be the same.
    `dtype`: what the factors of the biLM's products are rounded to, see `Embedder`.
    Raises WeightFileError for what is missing or damaged, or another biLM than the one it was trained with.
    """
    folder = _model_folder(Path(folder))
    config = _read_config(folder / _CONFIG)
    task = find(config["task"])
    settings = with_table(default_settings(config["task"]), config["settings"], str(folder / _CONFIG))
    # A biLM that was trained with the task is now one like any other, that isn't trained any more.
    settings = replace(settings, tokens=replace(settings.tokens, train_bilm=False))
    frozen = _frozen_bilm(folder, config["bilm"], model, dtype)
    static = _static_vectors(folder) if (folder / _WORDS).is_file() else None
    num_trained = config["num_trained_words"]
    built = settings.tokens if num_trained == 0 else replace(settings.tokens, train_static=True)
    train_words = [] if static is None else static.words[:num_trained]
    tokens = TokenRepresentation(built, frozen=frozen, static=static, train_words=train_words)
    network = task.build(settings, config["vocabulary"], tokens)
    own = {name: tuple(tensor.shape) for name, tensor in _own_state(network).items()}
    tensors = read_tensors(folder / _WEIGHTS, lambda _: own.items(), asked_by=_CONFIG)
    load_learned_state(network, {name: torch.from_numpy(array) for name, array in tensors.items()})
    network.to(chosen_device(device)).eval()
    return SavedTaskModel(task, settings, config["vocabulary"], network, config["metadata"], (folder / _BILM).is_dir())


def bilm_name(model: str) -> str:
    """What a model folder notes of where the biLM is: a name or a hub id as they are, a path as an absolute one."""
    name = model or os.environ.get(hub.MODEL_VARIABLE) or hub.DEFAULT_MODEL
    found = hub.resolve(name)
    return str(Path(name).expanduser().resolve()) if found == Path(name).expanduser() else name


def _own_state(model: nn.Module) -> dict[str, torch.Tensor]:
    """What model.safetensors holds."""
    return {name: tensor for name, tensor in model.state_dict().items() if "tokens.elmo.bilm." not in name}


def _bilm_facts(tokens: TokenRepresentation) -> dict[str, str] | None:
    if tokens.elmo is None:
        return None
    model_hash = Embedder(tokens.elmo.bilm).model_hash
    return {"model": bilm_name(tokens.settings.model), "hash": model_hash}


def _frozen_bilm(folder: Path, facts: dict[str, str] | None, model: hub.Model, dtype: str) -> FrozenLayers | None:
    if facts is None:
        return None
    own = folder / _BILM
    place: Any = model or (own if own.is_dir() else facts["model"])
    try:
        found = FrozenLayers(BiLM.from_pretrained(place), compute=dtype)
    except WeightFileError as error:
        raise WeightFileError(
            f"{error} The task model in {folder} needs this biLM; say where it is with --model."
        ) from None
    if found.model_hash != facts["hash"]:
        raise WeightFileError(
            f"{place}: has the hash {found.model_hash[:16]}, but the task model in {folder} was trained with the biLM "
            f"{facts['model']!r} of hash {facts['hash'][:16]}: its layers mean something else. Say where that one is "
            "with --model."
        )
    return found


def _static_vectors(folder: Path) -> StaticVectors:
    words = json.loads((folder / _WORDS).read_text(encoding="ascii"))
    vectors = read_tensors(folder / _STATIC, lambda found: found.items(), asked_by=_WORDS)["vectors"]
    if len(words) != len(vectors):
        raise WeightFileError(
            f"{folder / _WORDS}: has {len(words)} words, {_STATIC} has {len(vectors)} vectors: they belong to "
            "different models. Get the model again."
        )
    return StaticVectors(tuple(words), vectors)


def _model_folder(folder: Path) -> Path:
    """`folder` itself, or the model in a run folder."""
    inner = folder / "model"
    if (inner / _CONFIG).is_file():
        return inner
    if not (folder / _CONFIG).is_file():
        what = "an unfinished run" if (folder / "run.json").is_file() else "no task model: config.json is missing"
        raise WeightFileError(
            f"{folder}: is {what}. Pass the folder of a run of 'elmo task train' that has ended, or a model in it."
        )
    return folder


def _read_config(path: Path) -> dict[str, Any]:
    config = read_json(path, limit=_MAX_CONFIG_BYTES)
    if config.get("format_version") != FORMAT_VERSION or set(config) != set(_KEYS):
        raise WeightFileError(
            f"{path}: is no config of a task model of format {FORMAT_VERSION} (its keys are {', '.join(config)}): "
            "another version of elmo wrote it, or it is something else. Train the model again, or upgrade pyelmo."
        )
    return config
