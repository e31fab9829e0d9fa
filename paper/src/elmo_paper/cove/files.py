"""The MT-LSTM of CoVe, as its authors published it, and as `elmo-paper cove` writes it.

    wmtlstm-8f474287.pth    a state dict of torch's two-layer bidirectional LSTM, 300 cells per direction
    glove.840B.300d.txt     the vectors of the words that it reads; they aren't in the first file

Source: salesforce/cove, `cove/encoder.py` and README; docs/specification-tasks.md, 9.3.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from elmo.errors import WeightFileError
from elmo.weights.pickle import read_state_dict
from elmo.weights.shapes import Shape, require_agreement
from elmo.weights.soundness import finite_float32

PUBLISHED = "wmtlstm-8f474287.pth"
WEIGHTS_SUFFIX = ".pth"
NUM_LAYERS = 2

_DIRECTIONS = ("", "_reverse")


@dataclass(frozen=True)
class CoVeModel:
    """A model as data, without the word vectors."""

    word_dim: int
    """Dimensions of the word vectors that it reads."""
    cells: int
    """Cells per direction; a layer's vector has twice as many dimensions."""
    tensors: dict[str, np.ndarray]
    """By torch's names in a two-layer `nn.LSTM`; gates in torch's order: input, forget, cell, output."""


def files_of(folder: Path | str) -> tuple[Path, Path]:
    """The weights in a folder, NAME.pth, and the word vectors, whatever their name.

    Folders in it, such as the training's, don't count. Raises WeightFileError if there are other files, or fewer.
    """
    folder = Path(folder)
    try:
        found = sorted(path for path in folder.iterdir() if not (path.name.startswith(".") or path.is_dir()))
    except OSError as error:
        raise _wrong_folder(folder, f"can't be listed ({error.strerror or error})") from None
    weights = [path for path in found if path.suffix == WEIGHTS_SUFFIX]
    vectors = [path for path in found if path.suffix != WEIGHTS_SUFFIX]
    if len(weights) != 1 or len(vectors) != 1:
        names = ", ".join(path.name for path in found[:5]) or "nothing"
        raise _wrong_folder(folder, f"holds {names}{', ...' if len(found) > 5 else ''}")
    return weights[0], vectors[0]


def read(path: Path | str) -> CoVeModel:
    """The weights of a .pth file. Raises WeightFileError if it isn't CoVe's LSTM."""
    path = Path(path)
    tensors = read_state_dict(path)
    found = {name: tensor.shape for name, tensor in tensors.items()}
    cells, word_dim = _sizes(found)
    expected = shapes(word_dim, cells).items()
    require_agreement(found, expected, file=str(path), asked_by=f"CoVe's LSTM ({PUBLISHED})", kind="tensor")
    in_float32 = {name: finite_float32(tensor, name, str(path), "tensor") for name, tensor in tensors.items()}
    return CoVeModel(word_dim, cells, in_float32)


def _sizes(found: Mapping[str, Shape]) -> tuple[int, int]:
    """Cells and word dimensions by the first tensor; the published ones if it has another form."""
    shape = found.get("weight_ih_l0", ())
    return (shape[0] // 4, shape[1]) if len(shape) == 2 and min(shape) > 0 else (300, 300)


def shapes(word_dim: int, cells: int) -> Mapping[str, Shape]:
    """Tensor -> shape."""
    found: dict[str, Shape] = {}
    for layer in range(NUM_LAYERS):
        for direction in _DIRECTIONS:
            end = f"l{layer}{direction}"
            found[f"weight_ih_{end}"] = (4 * cells, 2 * cells if layer else word_dim)
            found[f"weight_hh_{end}"] = (4 * cells, cells)
            found[f"bias_ih_{end}"] = found[f"bias_hh_{end}"] = (4 * cells,)
    return found


def _wrong_folder(folder: Path, what: str) -> WeightFileError:
    return WeightFileError(
        f"{folder}: {what}, but a folder with two files was expected: CoVe's weights ({PUBLISHED}) "
        "and the vectors of the words that they read (glove.840B.300d.txt). Put both, or links to them, into one "
        "folder, or train a model: elmo-paper cove. Its folder has both after the first epoch."
    )
