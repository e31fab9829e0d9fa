"""Output: the arrays of a call in the type that was asked for: numpy arrays, torch tensors or a pandas table."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from elmo.errors import ConfigError, MissingExtraError
from elmo.shapes import Float, Shaped

if TYPE_CHECKING:
    import pandas

OutputType = Literal["numpy", "torch", "pandas"]


def checked_output(output: object) -> OutputType:
    """`output`, if it can be made here: ConfigError for another name, MissingExtraError without pandas."""
    if output not in get_args(OutputType):
        raise ConfigError(f"output is {output!r}, but must be one of: {', '.join(get_args(OutputType))}.")
    if output == "pandas":
        require_pandas("output='pandas'")
    return output  # type: ignore[return-value]


def require_pandas(purpose: str) -> Any:
    """The module; MissingExtraError if it is not installed."""
    try:
        import pandas
    except ModuleNotFoundError as error:
        if error.name != "pandas":  # it is there, but something it needs is not
            raise
        raise MissingExtraError("pandas", "data", purpose) from None
    return pandas


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
            "token": objects(token for row in tokens for token in row),
            "vector": objects(vector for array in arrays for vector in by_token(array)),
        }
    )


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
