"""Checkpoint: a model as data, whatever format it came from. Used everywhere in the package."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from elmo.config import BiLMConfig
from elmo.disk.bounded import file_hash, readable
from elmo.errors import WeightFileError
from elmo.shapes import Float
from elmo.text.token_map import TokenMap
from elmo.weights.catalogue import published_hash
from elmo.weights.fingerprint import combine, digest, text_hash


@dataclass(frozen=True)
class SourceFile:
    """A file that a checkpoint was read from."""

    path: Path
    sha256: str
    """Of its bytes, hexadecimal."""


@dataclass(frozen=True)
class Checkpoint:
    """One model, read from any format."""

    config: BiLMConfig
    tensors: Mapping[str, Float[np.ndarray, "..."]]
    """Every tensor of the network by its name in `BiLM.state_dict()`, float32."""
    token_map: TokenMap
    vocabulary: list[str] | None = None
    """The words the language model predicts, in the order of the softmax rows."""
    softmax: dict[str, Float[np.ndarray, "..."]] | None = None
    """`weight` (vocabulary, projection_size) and `bias` (vocabulary,), shared by both directions.

    An adaptive softmax: these have a row for each frequent word and then for each cluster, and the softmax within
    cluster i is `clusters.{i}.projection` (width, projection_size), `.weight` (words, width) and `.bias` (words,).
    """
    warm_state: dict[str, Float[np.ndarray, "layers width"]] | None = None
    """The state that `state="warm"` starts from."""
    source_format: str = "native"
    """native | allennlp | tensorflow | many_langs"""
    source_hash: str = ""
    """SHA-256 over the SHA-256 of each source file."""
    metadata: dict[str, str] = field(default_factory=dict)
    """Free text for people: training data, perplexity, licence."""
    source_files: tuple[SourceFile, ...] = ()
    """The files of a foreign format; empty for our own, whose files carry the hashes of their content."""


def read_hashed(files: Sequence[Path], read: Callable[[], Checkpoint]) -> Checkpoint:
    """What `read` returns, with the SHA-256 of the model's files, which are hashed in a thread meanwhile.

    Raises WeightFileError if a file can't be read, or if it has the name of a published file whose hash the catalogue
    knows, but another hash. An error of `read` comes first.
    """
    with ThreadPoolExecutor(1) as thread:
        hashing = thread.submit(_source_files, files)
        checkpoint = read()
        found = hashing.result()
    for file in found:
        if (published := published_hash(file.path.name)) not in (None, file.sha256):
            raise WeightFileError(
                f"{file.path}: has the SHA-256 {file.sha256}, but the published file of that name has {published}. Get "
                "it again; if it is a model of your own, give it another name."
            )
    combined = hashlib.sha256("".join(f"{file.sha256}\n" for file in found).encode("ascii")).hexdigest()
    return replace(checkpoint, source_hash=combined, source_files=found)


def _source_files(files: Sequence[Path]) -> tuple[SourceFile, ...]:
    found = []
    for path in files:
        with readable(path, WeightFileError, "Check the file and its permissions."):
            found.append(SourceFile(path, file_hash(path)))
    return tuple(found)


def required_softmax(
    checkpoint: Checkpoint, name: str = "this model"
) -> tuple[dict[str, Float[np.ndarray, "..."]], list[str]]:
    """Softmax and vocabulary. Raises WeightFileError where they are missing; many published models came without."""
    if checkpoint.softmax is None or checkpoint.vocabulary is None:
        raise without_softmax(name)
    return checkpoint.softmax, checkpoint.vocabulary


def without_softmax(name: str) -> WeightFileError:
    """The error of a model that can't predict words, to be raised."""
    return WeightFileError(
        f"{name} has no softmax over a vocabulary, so it can't predict words. Put vocab.txt and softmax.safetensors "
        "(AllenNLP's format: softmax.hdf5) beside it and name the folder, or use a model of 'elmo pretrain'."
    )


def content_hash(checkpoint: Checkpoint) -> str:
    """SHA-256 (hexadecimal) over what the vectors follow from; equal for equal models of any format.

    That is the network's tensors (names, shapes, bytes), and whatever no tensor shows and isn't as in the published
    models: settings, and the token map of a model that reads more than bytes.
    """
    digests = {name: digest(tensor) for name, tensor in checkpoint.tensors.items()}
    if unseen := _unseen(checkpoint):
        digests["unseen"] = text_hash(json.dumps(unseen, sort_keys=True))
    return combine(digests)


def _unseen(checkpoint: Checkpoint) -> dict[str, Any]:
    config, published = checkpoint.config, BiLMConfig()
    settings = {
        "activation": config.has_characters,
        "max_characters_per_token": config.has_characters,
        "cell_clip": True,
        "projection_clip": config.has_lstm_projection,
        "skip_connections": config.num_layers > 1,
        "forget_bias": True,
    }
    found = {name: getattr(config, name) for name, has_effect in settings.items() if has_effect}
    found = {name: value for name, value in found.items() if value != getattr(published, name)}
    return found if config.characters == "bytes" and not config.has_words else found | checkpoint.token_map.to_dict()
