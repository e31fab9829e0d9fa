"""The layout of context2vec's files, and what distinguishes its tensors from PyTorch's.

    NAME.params    lines of key TAB value: model_file, words_file, unit, deep (yes or no), ...; # begins a comment
    model_file     an .npz of float32 arrays, whatever its name
    words_file     a line "count dim", then lines "word v1 .. v_dim": the words, in the order of the rows

Rows 0 to 2 are the unknown word, the beginning and the end of a sentence. An LSTM has one bias, and the rows of its
arrays are interleaved by cell: candidate, input, forget, output of the first cell, then those of the second.

Source: docs/specification-tasks.md, 9.2.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from elmo.shapes import Float
from elmo.weights.shapes import Shape

UNKNOWN, BEGINNING, END = "<UNK>", "<BOS>", "<EOS>"
SPECIAL_WORDS = (UNKNOWN, BEGINNING, END)
TARGETS = "targets.weight"

_LSTMS = {"l2r_1": "left_lstm", "r2l_1": "right_lstm"}
_LSTM_ARRAYS = {"upward/W": "weight_ih_l0", "lateral/W": "weight_hh_l0", "upward/b": "bias_ih_l0"}
_UNUSED_BIAS = "bias_hh_l0"
_ROWS = {"l2r_embed/W": "left_embedding.weight", "r2l_embed/W": "right_embedding.weight", "loss_func/W": TARGETS}
_DEEP = {"l3": "hidden", "l4": "output"}
_SHALLOW = {"lp_l2r": "left_output", "lp_r2l": "right_output"}
# Interleaved: candidate, input, forget, output. PyTorch's blocks: input, forget, candidate, output.
_TO_TORCH: tuple[int, ...] = (1, 2, 0, 3)


@dataclass(frozen=True)
class Sizes:
    """What the shapes follow from."""

    num_words: int
    unit: int
    """Dimensions of an embedding; cells and contexts have twice as many."""
    is_deep: bool
    """Whether the two directions meet in a hidden layer; otherwise each has a projection of its own."""


def shapes(sizes: Sizes) -> dict[str, Shape]:
    """Array of the .npz -> shape."""
    words, unit, cells = sizes.num_words, sizes.unit, 2 * sizes.unit
    found: dict[str, Shape] = {
        "l2r_embed/W": (words, unit),
        "r2l_embed/W": (words, unit),
        "loss_func/W": (words, cells),
    }
    for lstm in _LSTMS:
        found |= {f"{lstm}/upward/W": (4 * cells, unit), f"{lstm}/upward/b": (4 * cells,)}
        found |= {f"{lstm}/lateral/W": (4 * cells, cells)}
    if sizes.is_deep:
        found |= {"l3/W": (2 * cells, 2 * cells), "l3/b": (2 * cells,), "l4/W": (cells, 2 * cells), "l4/b": (cells,)}
    else:
        found |= {f"{name}/{array}": shape for name in _SHALLOW for array, shape in _half(unit, cells).items()}
    return found


def to_torch(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Arrays of the .npz -> tensors by their names in `Context2Vec.state_dict()`."""
    found = {}
    for name, array in arrays.items():
        found[_torch_name(name)] = _in_blocks(array) if _is_of_lstm(name) else array
    for lstm in _LSTMS.values():
        found[f"{lstm}.{_UNUSED_BIAS}"] = np.zeros_like(found[f"{lstm}.bias_ih_l0"])
    return found


def from_torch(tensors: Mapping[str, np.ndarray], sizes: Sizes) -> dict[str, np.ndarray]:
    """The way back."""
    found = {}
    for name in shapes(sizes):
        tensor = tensors[_torch_name(name)]
        found[name] = _interleaved(tensor) if _is_of_lstm(name) else tensor
    return found


def _half(unit: int, cells: int) -> dict[str, Shape]:
    return {"W": (unit, cells), "b": (unit,)}


def _torch_name(name: str) -> str:
    if name in _ROWS:
        return _ROWS[name]
    room, _, array = name.partition("/")
    if room in _LSTMS:
        return f"{_LSTMS[room]}.{_LSTM_ARRAYS[array]}"
    return f"{(_DEEP | _SHALLOW)[room]}.{'weight' if array == 'W' else 'bias'}"


def _is_of_lstm(name: str) -> bool:
    return name.partition("/")[0] in _LSTMS


def _in_blocks(rows: Float[np.ndarray, "gates ..."]) -> Float[np.ndarray, "gates ..."]:
    by_cell = rows.reshape(-1, 4, *rows.shape[1:])
    return np.concatenate([by_cell[:, gate] for gate in _TO_TORCH])


def _interleaved(rows: Float[np.ndarray, "gates ..."]) -> Float[np.ndarray, "gates ..."]:
    blocks = dict(zip(_TO_TORCH, np.split(rows, 4), strict=True))
    return np.stack([blocks[gate] for gate in range(4)], axis=1).reshape(rows.shape)
