"""Output: the arrays of a call in the type that was asked for: numpy arrays, torch tensors or a pandas table."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from elmo.process.extra_library import extra_library
from elmo.shapes import Float, Float32, Shaped
from elmo.text.word_list import has_surrogate

if TYPE_CHECKING:
    import pandas

OutputType = Literal["numpy", "torch", "pandas"]

_FEWEST_DIGITS, _MOST_DIGITS = 6, 9
# Powers of ten are exact in float64 up to this one.
_LARGEST_POWER = 22


def require_pandas(purpose: str) -> Any:
    """The module; MissingExtraError if it is not installed."""
    return extra_library("pandas", "data", purpose)


def as_output(
    arrays: list[Float[np.ndarray, "... dim"]],
    tokens: Sequence[Sequence[str]],
    output: OutputType,
    *,
    is_pooled: bool,
    empty: Float[np.ndarray, "0 *layers dim"],
) -> Any:
    """The arrays of sentences as `Embedder.embed` returns them.

    `tokens`: (sentences,) of each sentence; `is_pooled`: whether an array is one vector (in each layer) and not one
    for each token; `empty`: what is returned for no pooled sentences.
    """
    if output == "pandas":
        return table_of_sentences(arrays, tokens) if is_pooled else table_of_tokens(arrays, tokens)
    if output == "numpy":
        return (np.stack(arrays) if arrays else empty) if is_pooled else arrays
    # Only who asks for tensors needs torch here.
    import torch

    if is_pooled:
        return torch.from_numpy(np.stack(arrays) if arrays else empty)
    return [torch.from_numpy(array) for array in arrays]


def table_of_sentences(
    arrays: Sequence[Float[np.ndarray, "*layers dim"]], tokens: Sequence[Sequence[str]]
) -> "pandas.DataFrame":
    """A row for each sentence: `sentence` (from 0), `tokens` (list of str), `vector` (array)."""
    import pandas

    columns = {"sentence": np.arange(len(arrays)), "tokens": objects(map(list, tokens)), "vector": objects(arrays)}
    return pandas.DataFrame(columns)


def table_of_tokens(
    arrays: Sequence[Float[np.ndarray, "*layers tokens dim"]], tokens: Sequence[Sequence[str]]
) -> "pandas.DataFrame":
    """A row for each token: `sentence` and `position` in it (both from 0), `token`, `vector` (array)."""
    import pandas

    lengths = [len(row) for row in tokens]
    return pandas.DataFrame(
        {
            "sentence": np.repeat(np.arange(len(lengths)), lengths),
            "position": np.concatenate([np.arange(length) for length in lengths] or [np.arange(0)]),
            "token": column_of_words(token for row in tokens for token in row),
            "vector": objects(vector for array in arrays for vector in by_token(array)),
        }
    )


def column_of_words(words: Iterable[str]) -> Any:
    """A column of texts, of objects if there is half of a surrogate pair, which pandas' own type can't hold."""
    import pandas

    found = objects(words)
    return pandas.Series(found, dtype=object) if any(map(has_surrogate, found)) else found


def by_token(array: Float[np.ndarray, "*layers tokens dim"]) -> Float[np.ndarray, "tokens *layers dim"]:
    """The tokens' axis first."""
    return array.swapaxes(0, 1) if array.ndim == 3 else array


def objects(values: Any) -> Shaped[np.ndarray, " values"]:
    """An array of objects, whatever their own shapes."""
    listed = list(values)
    found = np.empty(len(listed), dtype=object)
    for place, value in enumerate(listed):
        found[place] = value
    return found


def shortest(values: Float32[np.ndarray, "*axes"]) -> Float[np.ndarray, "*axes"]:
    """For each value above about 1e-14 the float64 with the fewest decimal digits that is the same float32.

    As a Python float a float32 is printed with up to 17 digits: 0.1 becomes 0.10000000149011612.
    """
    exact = values.astype(np.float64)
    found = exact.copy()
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        magnitude = np.floor(np.log10(np.abs(exact)))
        open_ = np.isfinite(magnitude)
        for digits in range(_FEWEST_DIGITS, _MOST_DIGITS + 1):
            power = digits - 1 - magnitude
            open_ &= np.abs(np.where(open_, power, 0)) <= _LARGEST_POWER
            scale = np.power(10.0, np.abs(np.where(open_, power, 0)))
            rounded = np.where(power >= 0, np.rint(exact * scale) / scale, np.rint(exact / scale) * scale)
            is_same = open_ & (rounded.astype(np.float32) == values)
            found[is_same] = rounded[is_same]
            open_ &= ~is_same
    return found
