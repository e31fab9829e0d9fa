"""What callers hand to the engine, checked where it enters: tensors, ids, vectors, lengths and states.

Each check names what is wrong and what the model takes. None looks at the values of vectors: what isn't a number stays
one in its row.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from elmo.config import BiLMConfig
from elmo.engine.stacks import Stack
from elmo.engine.weight_store import Sizes, Weight
from elmo.errors import ConfigError
from elmo.shapes import Float, Int, Shaped
from elmo.weights.shapes import network_shapes


def require_tensors(config: BiLMConfig, tensors: Mapping[str, Weight]) -> None:
    """Raises ConfigError unless these are the tensors of such a model, all float32 or all float64."""
    missing = set(tensors)
    for name, shape in network_shapes(config):
        found = tuple(tensors[name].shape) if name in tensors else None
        if found != shape:
            has = "is missing" if found is None else f"has the shape {found}"
            raise ConfigError(
                f"the tensor {name!r} {has}, but the config asks for the shape {shape}: they belong to different "
                "models. Pass the tensors and the config of one model."
            )
        missing.discard(name)
    if missing:
        raise ConfigError(
            f"the tensor {min(missing)!r} is not part of the model that the config describes ({len(missing)} such "
            "tensors): they belong to different models. Pass the tensors and the config of one model."
        )
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
        _require_ids("character", characters, (None, config.max_characters_per_token), config.num_characters)
    if config.has_words:
        rows = None if characters is None or not config.has_characters else len(characters)
        _require_ids("word", words, (rows,), config.num_words)


def _require_ids(what: str, ids: object, shape: tuple[int | None, ...], known: int) -> None:
    remedy = "Make the ids with the model's own TokenMap."
    _require_integers(f"{what} ids", ids, remedy)
    assert isinstance(ids, np.ndarray)
    if len(ids.shape) != len(shape) or any(
        wanted not in (None, size) for wanted, size in zip(shape, ids.shape, strict=True)
    ):
        wanted = ", ".join("tokens" if size is None else str(size) for size in shape)
        raise ConfigError(
            f"the {what} ids have the shape {ids.shape}, but this model reads ({wanted}{',' * (len(shape) == 1)}). "
            f"{remedy}"
        )
    for wrong in (ids.min(initial=0), ids.max(initial=0)):
        if not 0 <= wrong < known:
            raise ConfigError(f"there is the {what} id {wrong}, but this model knows 0 to {known - 1}. {remedy}")


def checked_rows(
    stacks: Sequence[Stack],
    vectors: Float[np.ndarray, "*positions projection"],
    lengths: Int[np.ndarray, " batch"],
    state: tuple[Shaped[np.ndarray, "..."], ...],
    *,
    packed: bool = False,
) -> Int[np.ndarray, " batch"]:
    """The lengths as int64, if they, the vectors and the state belong to the same rows; else raises ConfigError.

    `packed`: the vectors of all rows are joined, one row after the other.
    """
    layers = stacks[0].layers
    sizes = layers[0].sizes
    _require_array("vectors", vectors, sizes.dtype)
    axes = ("tokens",) if packed else ("batch", "tokens")
    if vectors.shape[len(axes) :] != (sizes.dim,):
        raise ConfigError(
            f"the vectors have the shape {vectors.shape}, but this model reads ({', '.join(axes)}, {sizes.dim}). "
            "Pass its own token vectors."
        )
    _require_integers("lengths", lengths, "Count each row's tokens, as int64.")
    rows = None if packed else len(vectors)
    if lengths.ndim != 1 or rows not in (None, len(lengths)):
        raise ConfigError(
            f"the lengths have the shape {lengths.shape}, but there must be one for each row"
            f"{'' if packed else f' of the {rows}'}. Pass an array of shape (batch,)."
        )
    lengths = lengths.astype(np.int64, copy=False)
    tokens = len(vectors) if packed else vectors.shape[1]
    counts = lengths.tolist()  # for a few rows faster than numpy
    if counts and not 0 <= min(counts) <= max(counts) <= tokens:
        wrong = min(counts) if min(counts) < 0 else max(counts)
        raise ConfigError(
            f"there is a row of length {wrong}, but the rows have 0 to {tokens} tokens here. A length counts the "
            "vectors of its row, boundaries included if they are among them."
        )
    if packed and (total := sum(counts)) != tokens:
        raise ConfigError(
            f"the lengths add up to {total}, but there are {tokens} vectors. Pass as many vectors as the rows have "
            "tokens, one row after the other."
        )
    _require_state(sizes, state, len(layers), len(lengths), len(stacks))
    return lengths


def _require_state(
    sizes: Sizes, state: tuple[Shaped[np.ndarray, "..."], ...], layers: int, batch: int, directions: int
) -> None:
    if not isinstance(state, tuple) or len(state) != 2:
        raise ConfigError(
            f"the state is a {type(state).__name__}, but a state has two arrays, hidden and cell. Pass the State that "
            "a call before has returned, or None for zeros."
        )
    for name, array, size in zip(("hidden", "cell"), state, (sizes.projection, sizes.cell), strict=True):
        _require_array(f"the state's {name} array", array, sizes.dtype)
        if array.shape != (layers, batch, directions * size):
            raise ConfigError(
                f"the state's {name} array has the shape {array.shape}, but these rows of this model need "
                f"{(layers, batch, directions * size)}: (layers, batch, directions * {size}). Pass the state of the "
                "same rows of the same model, hidden first."
            )


def _require_array(name: str, array: object, dtype: np.dtype) -> None:
    if not isinstance(array, np.ndarray) or array.dtype != dtype:
        raise ConfigError(
            f"{name}: {_type_of(array)}, but this engine computes in {dtype}. Pass a numpy array of {dtype}, as its "
            "own functions return."
        )


def _require_integers(name: str, array: object, remedy: str) -> None:
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "iu":
        raise ConfigError(f"{name}: {_type_of(array)}, but they must be a numpy array of integers. {remedy}")


def _type_of(array: object) -> str:
    """What a caller has passed, as it is named in an error."""
    return f"{type(array).__name__} of {dtype}" if (dtype := getattr(array, "dtype", None)) else type(array).__name__
