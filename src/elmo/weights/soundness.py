"""Soundness: the parts of a checkpoint fit its config and each other, and every value is finite."""

from collections.abc import Iterable, Mapping

import numpy as np

from elmo.config import BiLMConfig
from elmo.errors import WeightFileError
from elmo.shapes import Float, Shaped
from elmo.text.characters import CharacterMap
from elmo.text.token_map import TokenMap
from elmo.weights.checkpoint import Checkpoint
from elmo.weights.shapes import Shape, network_shapes, require_agreement, softmax_shapes, softmax_words, state_shapes

_CONFIG = "config.json"


def require_sound(checkpoint: Checkpoint, source: str = "the checkpoint") -> None:
    """Raises WeightFileError unless names, shapes and values of all parts fit the config and each other."""
    config = checkpoint.config
    softmax = {name: tensor.shape for name, tensor in (checkpoint.softmax or {}).items()}
    parts = [
        ("", checkpoint.tensors, network_shapes(config)),
        (", softmax", checkpoint.softmax, softmax_shapes(softmax, config)),
        (", warm state", checkpoint.warm_state, state_shapes(config)),
    ]
    for what, tensors, expected in parts:
        if tensors is not None:
            shapes: dict[str, Shape] = {name: tensor.shape for name, tensor in tensors.items()}
            require_agreement(shapes, expected, file=f"{source}{what}", asked_by=_CONFIG, kind="tensor")
            require_finite(tensors, source, "tensor")
    require_consistent(checkpoint, source)


def require_consistent(checkpoint: Checkpoint, source: str) -> None:
    """Raises WeightFileError unless parts of sound tensors are of one model: what no part shows by itself."""
    for name in ("character_embedding", "word_embedding"):
        tensor = checkpoint.tensors.get(f"token_encoder.{name}")
        if tensor is not None and tensor[0].any():
            raise WeightFileError(
                f"{source}: row 0 of 'token_encoder.{name}' is not zero, but id 0 is padding. "
                "Set the row to zero: nothing else in the model changes."
            )
    words, softmax = checkpoint.vocabulary, checkpoint.softmax
    rows = None if softmax is None else softmax_words({name: tensor.shape for name, tensor in softmax.items()})
    if words is not None and rows not in (None, len(words)):
        raise WeightFileError(
            f"{source}: the softmax has {rows} rows, but the vocabulary has {len(words)} words. Pass its own."
        )
    if not _fits(checkpoint.token_map, checkpoint.config):
        raise WeightFileError(f"{source}: its token map and its config are of different models. Get the model again.")


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
                f"{file}: {kind} {name!r} has the value {tensor[place]} at {place}. Get the file again, or go back to "
                "an earlier checkpoint."
            )


def _fits(token_map: TokenMap, config: BiLMConfig) -> bool:
    characters, words = token_map.characters, token_map.words
    if (characters is not None) != config.has_characters or (words is not None) != config.has_words:
        return False
    return (words is None or _ids_fit(words.words.values(), config.num_words)) and (
        characters is None
        or (characters.dictionary is None) == (config.characters == "bytes")
        and characters.max_characters_per_token == config.max_characters_per_token
        and _ids_fit(_character_ids(characters), config.num_characters)
    )


def _character_ids(characters: CharacterMap) -> list[int]:
    marks = (characters.begin_sentence, characters.end_sentence, characters.begin_word, characters.end_word)
    unknown = [] if characters.dictionary is None else [characters.unknown, *characters.dictionary.values()]
    return [*marks, characters.padding, characters.num_characters - 1, *unknown]


def _ids_fit(ids: Iterable[object], rows: int) -> bool:
    return all(type(number) is int and 1 <= number < rows for number in ids)
