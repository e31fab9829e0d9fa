"""What callers hand to the engine, checked where it enters: tensors, ids, vectors, lengths and states.

Each check names what is wrong and what the model takes. None looks at the values of vectors: what isn't a number stays
one in its row.
"""

from collections.abc import Mapping, Sequence

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
    if config.has_characters:
        _require_ids("character", characters, ("tokens", config.max_characters_per_token), config.num_characters)
    if config.has_words:
        rows = "tokens" if characters is None or not config.has_characters else len(characters)
        _require_ids("word", words, (rows,), config.num_words)


def _require_ids(what: str, ids: object, shape: Sequence[int | str], known: int) -> None:
    remedy = "Make the ids with the model's own TokenMap."
    _require_array(f"the {what} ids", ids, None, shape, remedy)
    assert isinstance(ids, np.ndarray)
    for wrong in (ids.min(initial=0), ids.max(initial=0)):
        if not 0 <= wrong < known:
            raise ConfigError(f"there is the {what} id {wrong}, but this model knows 0 to {known - 1}. {remedy}")


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
    axes = ("tokens",) if packed else ("batch", "tokens")
    remedy = "Pass the model's own token vectors."
    _require_array("the vectors", vectors, dtype, (*axes, config.projection_size), remedy)
    _require_array(
        "the lengths", lengths, None, ("batch" if packed else len(vectors),), "Count the tokens of each row, as int64."
    )
    lengths = lengths.astype(np.int64, copy=False)
    tokens = len(vectors) if packed else vectors.shape[1]
    counts = lengths.tolist()  # for a few rows faster than numpy
    fits = 0 <= min(counts, default=0) <= max(counts, default=0) <= tokens
    if not fits or (packed and sum(counts) != tokens):
        raise ConfigError(
            f"the lengths are {min(counts, default=0)} to {max(counts, default=0)} and add up to {sum(counts)}, but "
            f"there are {tokens} vectors{'' if packed else ' in a row'}. A length counts the vectors of its row, "
            "boundaries included if they are among them."
        )
    remedy = "Pass the State that a call before has returned, of the same rows and model, or None for zeros."
    for name, array, size in zip(("hidden", "cell"), state, (config.projection_size, config.cell_size), strict=True):
        shape = (config.num_layers, len(lengths), directions * size)
        _require_array(f"the state's {name} array", array, dtype, shape, remedy)
    return lengths


def _require_array(name: str, array: object, dtype: np.dtype | None, shape: Sequence[int | str], remedy: str) -> None:
    """Raises ConfigError for another type (None: integers) or shape, in which a word stands for any size."""
    found = getattr(array, "shape", ())
    if (
        not isinstance(array, np.ndarray)
        or (array.dtype.kind not in "iu" if dtype is None else array.dtype != dtype)
        or len(found) != len(shape)
        or any(isinstance(one, int) and one != size for one, size in zip(shape, found, strict=True))
    ):
        raise ConfigError(
            f"{name}: {type(array).__name__} of {getattr(array, 'dtype', 'no type')} and shape {found}, but this model "
            f"takes {dtype or 'integers'} of shape ({', '.join(map(str, shape))}). {remedy}"
        )
