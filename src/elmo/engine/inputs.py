"""What callers hand to the engine, checked where it enters: tensors, ids, vectors, lengths and states.

Each check names what is wrong and what the model takes. None looks at the values of vectors: what isn't a number stays
one in its row.
"""

from collections.abc import Mapping

import numpy as np

from elmo.config import BiLMConfig
from elmo.engine.weight_store import Weight
from elmo.errors import ConfigError
from elmo.shapes import Float, Int, Shaped
from elmo.weights.shapes import network_shapes, require_agreement


def require_tensors(config: BiLMConfig, tensors: Mapping[str, Weight]) -> None:
    """Raises WeightFileError unless these are the tensors of such a model, ConfigError unless all are float32 or all
    float64."""
    found = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    require_agreement(found, network_shapes(config), file="the tensors", asked_by="the config", kind="tensor")
    types = sorted({str(tensor.dtype) for tensor in tensors.values()})
    if types not in (["float32"], ["float64"]):
        raise ConfigError(
            f"the tensors are {' and '.join(types)}, but an engine computes in one type, float32 or float64. Convert "
            "them with .astype(np.float32)."
        )


def require_ids(
    config: BiLMConfig,
    characters: Int[np.ndarray, "types characters"] | None,
    words: Int[np.ndarray, " types"] | None,
) -> None:
    """Raises ConfigError unless these are ids of tokens that the model reads: of characters, words or both."""
    rows = [len(ids) for ids in (characters, words) if ids is not None][:1]
    needed = (
        ("character", characters, [*rows, config.max_characters_per_token], config.num_characters),
        ("word", words, rows, config.num_words),
    )
    for (what, ids, shape, known), is_read in zip(needed, (config.has_characters, config.has_words), strict=True):
        is_array = isinstance(ids, np.ndarray) and ids.dtype.kind in "iu" and [*ids.shape] == shape
        if is_read and not (is_array and ids is not None and 0 <= ids.min(initial=0) <= ids.max(initial=0) < known):
            raise ConfigError(
                f"the {what} ids are {_shown(ids)}, but this model takes integers of shape {tuple(shape)} from 0 to "
                f"{known - 1}. Make the ids with the model's own TokenMap."
            )


def checked_rows(
    config: BiLMConfig,
    directions: int,
    dtype: np.dtype,
    vectors: Float[np.ndarray, "*positions projection"],
    lengths: Int[np.ndarray, " batch"],
    state: tuple[Shaped[np.ndarray, "..."], ...],
    *,
    packed: bool = False,
) -> Int[np.ndarray, " batch"]:
    """The lengths as int64, if they, the vectors and the state belong to the same rows; else raises ConfigError.

    `packed`: the vectors of all rows are joined, one row after the other.
    """
    counts = lengths.tolist()  # for a few rows faster than numpy
    axes = vectors.shape[: 1 if packed else 2]
    sizes = (config.projection_size, config.cell_size)
    needed = [(*axes, sizes[0]), *((config.num_layers, len(lengths), directions * size) for size in sizes)]
    fits = [(array.dtype, array.shape) for array in (vectors, *state)] == [(dtype, shape) for shape in needed]
    fits = fits and lengths.dtype.kind in "iu" and lengths.shape == (lengths.shape[:1] if packed else axes[:1])
    fits = fits and 0 <= min(counts, default=0) <= max(counts, default=0) <= axes[-1]
    if not fits or (packed and sum(counts) != axes[0]):
        given = ", ".join(map(_shown, (vectors, *state)))
        raise ConfigError(
            f"the lengths {counts!r:.200} count the vectors of each row, boundaries included; for them this model "
            f"takes vectors and a state of {dtype} and the shapes {needed} (got {given}). Pass its own token vectors, "
            "and a State that a call before has returned for the same rows, or None."
        )
    return lengths.astype(np.int64, copy=False)


def _shown(array: object) -> str:
    return f"{getattr(array, 'dtype', type(array).__name__)} of shape {getattr(array, 'shape', ())}"
