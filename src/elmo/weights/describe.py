"""Describes a model: a checkpoint's figures, for people and `elmo inspect --json`; an outline without its weights."""

import os
from collections import Counter
from dataclasses import asdict, dataclass
from math import prod
from pathlib import Path
from typing import Any

from elmo.config import BiLMConfig
from elmo.errors import WeightFileError
from elmo.weights import formats, hub
from elmo.weights.allennlp.options import read_options
from elmo.weights.catalogue import published_name
from elmo.weights.checkpoint import Checkpoint, content_hash
from elmo.weights.native.facts import architecture_of, read_facts
from elmo.weights.native.names import CONFIG_FILE, SOFTMAX_FILE, VOCABULARY_FILE, model_folder
from elmo.weights.published.sources import is_published
from elmo.weights.shapes import network_shapes

_WITH_PADDING_ROW = ("character_embedding", "word_embedding")


@dataclass(frozen=True)
class Outline:
    """What a model's small files state about it."""

    num_layers: int | None
    """Layers of the vectors, the token layer included; None: that shows only when the model is loaded."""
    has_softmax: bool | None
    """Whether it can predict words; None as above."""


_UNKNOWN = Outline(None, None)


def outline(model: hub.Model = None) -> Outline:
    """What is known about a model without reading its weights or asking the network; `model` as for `hub.resolve`.

    Raises WeightFileError if there is no such model, or its config is damaged; ConfigError for another type.
    Nothing is known about a model that is not downloaded yet.
    """
    try:
        files = hub.resolve(model, download=False)
    except WeightFileError:
        if isinstance(model, str) and (is_published(model) or hub.HUB_ID.fullmatch(model)):
            return _UNKNOWN
        raise
    if isinstance(files, tuple):
        return Outline(_layers_of_options(files[0]), None)
    found = formats.recognize(files)
    if found == "native":
        return _native_outline(model_folder(files) or files.parent)
    return Outline(_layers_of_options(formats.options_file(files)), None) if found == "allennlp" else _UNKNOWN


def _native_outline(folder: Path) -> Outline:
    config = architecture_of(read_facts(folder / CONFIG_FILE)["architecture"], folder / CONFIG_FILE)
    predicts = os.path.lexists(folder / SOFTMAX_FILE) and os.path.lexists(folder / VOCABULARY_FILE)
    return Outline(config.num_layers + 1, predicts)


def _layers_of_options(options: Path) -> int | None:
    """None if the options are non-standard; loading the weights reports the error."""
    layers = read_options(options)["lstm"].get("n_layers")
    return layers + 1 if type(layers) is int else None


def describe(checkpoint: Checkpoint) -> dict[str, Any]:
    """Format, sizes, parameters, hashes and what else is there, as plain values for JSON."""
    config = checkpoint.config
    parameters = count_parameters(config)
    softmax = sum(tensor.size for tensor in (checkpoint.softmax or {}).values())
    return {
        "format": checkpoint.source_format,
        "reads": _inputs(config),
        "architecture": asdict(config),
        "layers": config.num_layers,
        "directions": list(config.directions),
        "output_dim": config.output_dim,
        "filters": [list(pair) for pair in config.filters] if config.has_characters else [],
        "cell_clip": config.cell_clip,
        "projection_clip": config.projection_clip,
        "parameters": {"total": sum(parameters.values()), "parts": parameters, "softmax": softmax},
        "content_hash": content_hash(checkpoint),
        "source_hash": checkpoint.source_hash,
        "source_files": [
            {"path": str(file.path), "sha256": file.sha256, "published_as": published_name(file.sha256)}
            for file in checkpoint.source_files
        ],
        "vocabulary_size": None if checkpoint.vocabulary is None else len(checkpoint.vocabulary),
        "has_softmax": checkpoint.softmax is not None,
        "has_warm_state": checkpoint.warm_state is not None,
        "metadata": dict(checkpoint.metadata),
    }


def count_parameters(config: BiLMConfig) -> dict[str, int]:
    """Trained parameters of each part of the network, without the softmax and without the zero rows of id 0."""
    counts: Counter[str] = Counter()
    for name, shape in network_shapes(config):
        part = name.removeprefix("token_encoder.").partition(".")[0].replace("projection", "token_projection")
        counts[part] += prod(shape) - (shape[1] if part in _WITH_PADDING_ROW else 0)
    return dict(counts)


def _inputs(config: BiLMConfig) -> list[str]:
    characters = {"bytes": ["bytes"], "dictionary": ["characters"], "none": []}[config.characters]
    return [*characters, *(["words"] if config.has_words else [])]
