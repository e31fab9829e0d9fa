"""Soundness: the parts of a checkpoint fit its config and each other, and every value is finite."""

from collections.abc import Iterable, Mapping

import numpy as np

from elmo.config import BiLMConfig
from elmo.errors import WeightFileError
from elmo.shapes import Float, Shaped
from elmo.text.characters import CharacterMap
from elmo.text.token_map import TokenMap
from elmo.weights.checkpoint import Checkpoint
from elmo.weights.native.narrow import Held, Narrow, NarrowTensors
from elmo.weights.shapes import (
    network_shapes,
    require_agreement,
    softmax_shapes,
    softmax_words,
    state_shapes,
)

_CONFIG = "config.json"


def require_sound(checkpoint: Checkpoint, source: str = "the checkpoint") -> None:
    """Raises WeightFileError unless names, shapes, types and values of all parts fit the config and each other."""
    config = checkpoint.config
    network: Mapping[str, Held] = checkpoint.tensors
    if isinstance(network, NarrowTensors):
        network = network.held
    parts = [("tensors", network), ("softmax", checkpoint.softmax), ("warm state", checkpoint.warm_state)]
    for what, tensors in parts:
        for name, tensor in (tensors or {}).items():
            # Narrower tensors were checked when they were read.
            if not isinstance(tensor, Narrow):
                _require_float32(tensor, name, what, source)
                require_finite({name: tensor}, source, "tensor")
    found = {name: tensor.shape for name, tensor in network.items()}
    require_agreement(found, network_shapes(config), file=source, asked_by=_CONFIG, kind="tensor")
    for name in ("character_embedding", "word_embedding"):
        tensor = checkpoint.tensors.get(f"token_encoder.{name}")
        if tensor is not None and tensor[0].any():
            raise WeightFileError(
                f"{source}: row 0 of 'token_encoder.{name}' is not zero, but id 0 is padding. "
                "Set the row to zero: nothing else in the model changes."
            )
    _require_sound_softmax(checkpoint, source)
    if checkpoint.warm_state is not None:
        found = {name: tensor.shape for name, tensor in checkpoint.warm_state.items()}
        require_agreement(found, state_shapes(config), file=f"{source}, warm state", asked_by=_CONFIG, kind="tensor")
    _require_fitting_map(checkpoint.token_map, config, source)


def _require_float32(tensor: object, name: str, what: str, source: str) -> None:
    if not isinstance(tensor, np.ndarray) or tensor.dtype != np.float32:
        raise WeightFileError(
            f"{source}: {name!r} of its {what} is {getattr(tensor, 'dtype', type(tensor).__name__)}, but must "
            "be a float32 array. Convert it with .astype('float32')."
        )


def finite_float32(
    values: Shaped[np.ndarray, "*shape"], name: str, file: str, kind: str
) -> Float[np.ndarray, "*shape"]:
    """A tensor of a file as float32. WeightFileError for a NaN, an infinity, or a value too large for the type."""
    with np.errstate(over="ignore"):
        found = np.asarray(values, dtype=np.float32)
    require_finite({name: found}, file, kind)
    return found


def require_finite(tensors: Mapping[str, Float[np.ndarray, "..."]], file: str, kind: str) -> None:
    """Raises WeightFileError that names the first tensor with a NaN or an infinity."""
    for name, tensor in tensors.items():
        if not np.isfinite(tensor).all():
            place = tuple(int(index[0]) for index in np.nonzero(~np.isfinite(tensor)))
            raise WeightFileError(
                f"{file}: {kind} {name!r} has the value {tensor[place]} at {place}: the training diverged or the file "
                "is damaged. Get the file again, or go back to an earlier checkpoint."
            )


def _require_sound_softmax(checkpoint: Checkpoint, source: str) -> None:
    if checkpoint.softmax is None:
        return
    found = {name: tensor.shape for name, tensor in checkpoint.softmax.items()}
    shapes = softmax_shapes(found, checkpoint.config)
    require_agreement(found, shapes, file=f"{source}, softmax", asked_by=_CONFIG, kind="tensor")
    words, rows = checkpoint.vocabulary, softmax_words(found)
    if words is not None and len(words) != rows:
        raise WeightFileError(
            f"{source}: the softmax has {rows} rows, but the vocabulary has {len(words)} words: they belong to "
            "different models. Pass the vocabulary the softmax was trained with."
        )


def _require_fitting_map(token_map: TokenMap, config: BiLMConfig, source: str) -> None:
    characters, words = token_map.characters, token_map.words
    problem = None
    if (characters is not None) != config.has_characters or (words is not None) != config.has_words:
        problem = "the token map and the config don't agree on whether the model reads characters and words"
    elif characters is not None and characters.max_characters_per_token != config.max_characters_per_token:
        problem = f"the token map makes {characters.max_characters_per_token} characters per token"
    elif characters is not None and (characters.dictionary is None) != (config.characters == "bytes"):
        problem = f"the config says characters={config.characters!r}, the token map does not"
    elif characters is not None and not _ids_fit(_character_ids(characters), config.num_characters):
        problem = f"the character map has ids outside 1 to {config.num_characters - 1}"
    elif words is not None and not _ids_fit(words.words.values(), config.num_words):
        problem = f"the word list has ids outside 1 to {config.num_words - 1}"
    if problem:
        raise WeightFileError(f"{source}: {problem}: its parts belong to different models. Get the model again.")


def _character_ids(characters: CharacterMap) -> list[int]:
    marks = (characters.begin_sentence, characters.end_sentence, characters.begin_word, characters.end_word)
    unknown = [] if characters.dictionary is None else [characters.unknown, *characters.dictionary.values()]
    return [*marks, characters.padding, characters.num_characters - 1, *unknown]


def _ids_fit(ids: Iterable[object], rows: int) -> bool:
    return all(type(number) is int and 1 <= number < rows for number in ids)
