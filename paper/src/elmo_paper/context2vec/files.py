"""The files of context2vec (Melamud et al. 2016), as its own programs read and write them.

    NAME.params    lines of key TAB value: model_file, words_file, unit, deep (yes or no), ...; # begins a comment
    model_file     an .npz of float32 arrays, whatever its name
    words_file     a line "count dim", then lines "word v1 .. v_dim": the words, in the order of the rows

Rows 0 to 2 are the unknown word, the beginning and the end of a sentence. An LSTM has one bias, and the rows of its
arrays are interleaved by cell: candidate, input, forget, output of the first cell, then those of the second.

Source: docs/specification-tasks.md, 9.2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from elmo.disk.arrays import ArraysError, read_npz
from elmo.disk.bounded import open_regular, read_bytes, readable, shown
from elmo.errors import WeightFileError
from elmo.shapes import Float
from elmo.weights.shapes import Shape
from elmo.weights.soundness import require_finite

SPECIAL_WORDS = ("<UNK>", "<BOS>", "<EOS>")
TARGETS = "targets.weight"

_LSTMS = {"l2r_1": "left_lstm", "r2l_1": "right_lstm"}
_LSTM_ARRAYS = {"upward/W": "weight_ih_l0", "lateral/W": "weight_hh_l0", "upward/b": "bias_ih_l0"}
_UNUSED_BIAS = "bias_hh_l0"
_ROWS = {"l2r_embed/W": "left_embedding.weight", "r2l_embed/W": "right_embedding.weight", "loss_func/W": TARGETS}
_DEEP = {"l3": "hidden", "l4": "output"}
_SHALLOW = {"lp_l2r": "left_output", "lp_r2l": "right_output"}
# Interleaved: candidate, input, forget, output. PyTorch's blocks: input, forget, candidate, output.
_TO_TORCH: tuple[int, ...] = (1, 2, 0, 3)

PARAMS_FILE = "context2vec.params"
_PARAMS_BYTES = 1 << 16
# The words with their vectors as text: a million words of 600 dimensions.
_WORDS_BYTES = 8 << 30
_LONGEST_LINE = 1 << 20
_MOST_UNITS = 10_000
_GET = "Get the model again, or train one: elmo-paper context2vec TEXT -o FOLDER"
_MODEL_FILE, _WORDS_FILE = "context2vec.npz", "context2vec.targets"
FILES = frozenset({PARAMS_FILE, _MODEL_FILE, _WORDS_FILE})


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
        for name in _SHALLOW:
            found |= {f"{name}/W": (unit, cells), f"{name}/b": (unit,)}
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
    """The inverse of `to_torch`."""
    found = {}
    for name in shapes(sizes):
        tensor = tensors[_torch_name(name)]
        found[name] = _interleaved(tensor) if _is_of_lstm(name) else tensor
    return found


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


@dataclass(frozen=True)
class Context2VecModel:
    """A model as data."""

    words: tuple[str, ...]
    """By row; the first three are `SPECIAL_WORDS`."""
    sizes: Sizes
    tensors: dict[str, np.ndarray]
    """By the names of `Context2Vec.state_dict()`."""


def read(path: Path | str) -> Context2VecModel:
    """A model by its NAME.params, or by a folder with one such file, as `elmo-paper context2vec` makes it.

    Raises WeightFileError, naming the file, if one is missing, damaged, or doesn't fit the others.
    """
    params = _params_file(Path(path))
    values = _params(params)
    unit = values.get("unit", "")
    if not unit.isdecimal() or not 1 <= int(unit[:9]) <= _MOST_UNITS:
        raise _wrong(params, f"unit must be a number from 1 to {_MOST_UNITS:,} (got {shown(unit)})")
    if values.get("deep") not in ("yes", "no"):
        raise _wrong(params, f"deep must be yes or no (got {shown(values.get('deep'))})")
    words = _words(_beside(params, values, "words_file"))
    sizes = Sizes(len(words), int(unit), values["deep"] == "yes")
    model_file = _beside(params, values, "model_file")
    return Context2VecModel(words, sizes, to_torch(_arrays(model_file, shapes(sizes))))


def _params_file(path: Path) -> Path:
    if not path.is_dir():
        return path
    found = sorted(path.glob("*.params"))
    if len(found) > 1:
        raise WeightFileError(f"{path}: holds {len(found)} .params files. Name one of them, such as {found[0].name}.")
    return found[0] if found else path / PARAMS_FILE


def _params(path: Path) -> dict[str, str]:
    try:
        with readable(path, WeightFileError, _GET):
            lines = read_bytes(path, limit=_PARAMS_BYTES).decode("utf-8").splitlines()
    except UnicodeDecodeError:
        raise _wrong(path, "is not UTF-8 text") from None
    pairs = (line.partition("\t") for line in lines if line.strip() and not line.startswith("#"))
    return {key.strip(): value.strip() for key, _, value in pairs}


def _beside(params: Path, values: dict[str, str], key: str) -> Path:
    """The file that a key names, beside the .params file: a path to elsewhere could name any file of this machine."""
    name = values.get(key, "")
    if not name or Path(name).name != name or name in (".", "..") or "\0" in name:
        raise _wrong(params, f"{key} must be the name of a file in the same folder (got {shown(name)})")
    return params.parent / name


def _words(path: Path) -> tuple[str, ...]:
    """The words of the lines; their vectors are in the model's targets too."""
    with readable(path, WeightFileError, _GET):
        try:
            with open_regular(path) as file:
                count = int(file.readline(100).split()[0])
                words = []
                while line := file.readline(_LONGEST_LINE):
                    words.append(line.partition(b" ")[0].decode("utf-8"))
                    if len(words) > count or file.tell() > _WORDS_BYTES:
                        break
        except (ValueError, IndexError):
            raise _wrong(path, "is not a text of words and vectors that begins with their count") from None
    if len(words) != count:
        raise _wrong(path, f"promises {count:,} words, but has {'more' if len(words) > count else len(words)}")
    if tuple(words[:3]) != SPECIAL_WORDS or len(set(words)) < count:
        raise _wrong(path, f"must begin with {', '.join(SPECIAL_WORDS)} and name every word once")
    return tuple(words)


def _arrays(path: Path, expected: dict[str, Shape]) -> dict[str, np.ndarray]:
    try:
        with readable(path, WeightFileError, _GET), open_regular(path) as file:
            arrays = read_npz(file, expected)
    except ArraysError as error:
        raise _wrong(path, f"{error}, so it is not an .npz of a context2vec model of these sizes") from None
    require_finite(arrays, str(path), "array")
    return arrays


def _wrong(path: Path, what: str) -> WeightFileError:
    return WeightFileError(f"{path}: {what}. {_GET}")


def write(
    folder: Path, words: Sequence[str], sizes: Sizes, tensors: Mapping[str, np.ndarray], comments: Sequence[str] = ()
) -> None:
    """The three files. `tensors`: by the names of `Context2Vec.state_dict()`. `comments`: lines for the .params."""
    with (folder / _MODEL_FILE).open("wb") as file:
        arrays: Any = from_torch(tensors, sizes)
        np.savez(file, **arrays)
    with (folder / _WORDS_FILE).open("w", encoding="utf-8") as file:
        file.write(f"{sizes.num_words} {2 * sizes.unit}\n")
        for word, vector in zip(words, tensors[TARGETS], strict=True):
            file.write(f"{word} {' '.join(f'{value:.6f}' for value in vector)}\n")
    values = {"model_file": _MODEL_FILE, "words_file": _WORDS_FILE, "unit": sizes.unit}
    values |= {"deep": "yes" if sizes.is_deep else "no", "drop_ratio": 0.0}
    lines = [f"{key}\t{value}" for key, value in values.items()] + [f"#\t{comment}" for comment in comments]
    (folder / PARAMS_FILE).write_text("\n".join(lines) + "\n", encoding="utf-8")
