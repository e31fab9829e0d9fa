"""Reading a model of context2vec: sizes and words first, so that no array is read that doesn't have their shape."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from elmo.disk.arrays import ArraysError, read_npz
from elmo.disk.bounded import open_regular, read_bytes, shown
from elmo.errors import WeightFileError
from elmo.weights.context2vec.layout import SPECIAL_WORDS, Sizes, shapes, to_torch
from elmo.weights.shapes import Shape
from elmo.weights.soundness import require_finite

PARAMS_FILE = "context2vec.params"
_PARAMS_BYTES = 1 << 16
# The words with their vectors as text: a million words of 600 dimensions.
_WORDS_BYTES = 8 << 30
_LONGEST_LINE = 1 << 20
_MOST_UNITS = 10_000


@dataclass(frozen=True)
class Context2VecModel:
    """A model as data."""

    words: tuple[str, ...]
    """By row; the first three are `SPECIAL_WORDS`."""
    sizes: Sizes
    tensors: dict[str, np.ndarray]
    """By the names of `Context2Vec.state_dict()`."""


def read(path: Path | str) -> Context2VecModel:
    """A model by its NAME.params, or by a folder with one such file, as `elmo context2vec` makes it.

    Raises WeightFileError, naming the file, if one is missing, damaged, or doesn't fit the others.
    """
    params = _params_file(Path(path))
    values = _params(params)
    unit = values.get("unit", "")
    if not unit.isdecimal() or not 1 <= int(unit[:9]) <= _MOST_UNITS:
        raise _wrong(params, f"unit is {shown(unit)}, but must be a number from 1 to {_MOST_UNITS:,}")
    if values.get("deep") not in ("yes", "no"):
        raise _wrong(params, f"deep is {shown(values.get('deep'))}, but must be yes or no")
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
        lines = read_bytes(path, limit=_PARAMS_BYTES).decode("utf-8").splitlines()
    except OSError as error:
        raise WeightFileError(
            f"{path}: can't be read: {error.strerror or error}. Name the .params file of a context2vec model, or a "
            "folder that 'elmo context2vec' made."
        ) from None
    except UnicodeDecodeError:
        raise _wrong(path, "is not UTF-8 text") from None
    pairs = (line.partition("\t") for line in lines if line.strip() and not line.startswith("#"))
    return {key.strip(): value.strip() for key, _, value in pairs}


def _beside(params: Path, values: dict[str, str], key: str) -> Path:
    """The file that a key names. It must lie beside the .params file: another's file could name any of ours."""
    name = values.get(key, "")
    if not name or Path(name).name != name or name in (".", ".."):
        raise _wrong(params, f"{key} is {shown(name)}, but must be the name of a file in the same folder")
    return params.parent / name


def _words(path: Path) -> tuple[str, ...]:
    """The words of the lines; their vectors are those of the model's targets."""
    try:
        with open_regular(path) as file:
            header = file.readline(100).split()
            count = int(header[0])
            words = []
            while line := file.readline(_LONGEST_LINE):
                words.append(line.partition(b" ")[0].decode("utf-8"))
                if len(words) > count or file.tell() > _WORDS_BYTES:
                    break
    except OSError as error:
        raise _wrong(path, f"can't be read: {error.strerror or error}") from None
    except (ValueError, IndexError):
        raise _wrong(path, "is not a text of words and vectors that begins with their count") from None
    if len(words) != count:
        raise _wrong(path, f"says that it has {count:,} words, but has {'more' if len(words) > count else len(words)}")
    if tuple(words[:3]) != SPECIAL_WORDS or len(set(words)) < count:
        raise _wrong(path, f"must begin with {', '.join(SPECIAL_WORDS)} and name every word once")
    return tuple(words)


def _arrays(path: Path, expected: dict[str, Shape]) -> dict[str, np.ndarray]:
    try:
        with open_regular(path) as file:
            arrays = read_npz(file, expected)
    except OSError as error:
        raise _wrong(path, f"can't be read: {error.strerror or error}") from None
    except ArraysError as error:
        raise _wrong(path, f"{error}, so it is not an .npz of a context2vec model of these sizes") from None
    require_finite(arrays, str(path), "array")
    return arrays


def _wrong(path: Path, what: str) -> WeightFileError:
    return WeightFileError(f"{path}: {what}. Get the model again, or train one: elmo context2vec TEXT -o FOLDER")
