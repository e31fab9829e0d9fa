"""Describes a model: a checkpoint's figures, for people and `elmo inspect --json`."""

from collections import Counter
from dataclasses import asdict
from math import prod
from typing import Any

from elmo.config import BiLMConfig
from elmo.weights.catalogue import published_name
from elmo.weights.checkpoint import Checkpoint, content_hash
from elmo.weights.shapes import network_shapes

_WITH_PADDING_ROW = ("character_embedding", "word_embedding")


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
