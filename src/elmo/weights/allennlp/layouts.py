"""Layouts: how the arrays of options.json + weights.hdf5 lie in the file, and the tensors they are here.

Source: bilm-tf `bilm/model.py`; AllenNLP `allennlp/modules/elmo.py`. Matrices are applied as x W there; an LSTM's
input and recurrent weights are one matrix, with gate columns in TensorFlow's order; embeddings lack the zero row of
id 0.
"""

import numpy as np

from elmo.shapes import Float
from elmo.weights.gates import OUR_ORDER, to_our_order
from elmo.weights.shapes import Shape

# Input, candidate, forget, output.
_GATE_ORDER = "ijfo"


class Plain:
    """A dataset that is the tensor."""

    def shape(self, *tensors: Shape) -> Shape:
        """The dataset's shape from those of its tensors."""
        return tensors[0]

    def to_tensor(self, part: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
        """A tensor from its part of the dataset, whose rows are those of its tensors in equal parts."""
        return part

    def to_array(self, *tensors: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
        """The dataset of some tensors."""
        return tensors[0]


class Transposed(Plain):
    """A matrix applied as x W in the file, as W x here."""

    def shape(self, *tensors: Shape) -> Shape:
        return tensors[0][::-1]

    def to_tensor(self, part: Float[np.ndarray, "inner outer"]) -> Float[np.ndarray, "outer inner"]:
        return part.T

    def to_array(self, *tensors: Float[np.ndarray, "outer inner"]) -> Float[np.ndarray, "inner outer"]:
        return tensors[0].T


class WithoutPaddingRow(Plain):
    """An embedding: the zero row of id 0 is only here."""

    def shape(self, *tensors: Shape) -> Shape:
        return (tensors[0][0] - 1, tensors[0][1])

    def to_tensor(self, part: Float[np.ndarray, "ids dim"]) -> Float[np.ndarray, "rows dim"]:
        return with_padding_row(part)

    def to_array(self, *tensors: Float[np.ndarray, "rows dim"]) -> Float[np.ndarray, "ids dim"]:
        return tensors[0][1:]


class Convolution(Plain):
    """(1, width, dim, number) in the file, (number, dim, width) here."""

    def shape(self, *tensors: Shape) -> Shape:
        return (1, *tensors[0][::-1])

    def to_tensor(self, part: Float[np.ndarray, "1 width dim number"]) -> Float[np.ndarray, "number dim width"]:
        return part[0].transpose(2, 1, 0)

    def to_array(self, *tensors: Float[np.ndarray, "number dim width"]) -> Float[np.ndarray, "1 width dim number"]:
        return tensors[0].transpose(2, 1, 0)[None]


class Gates(Plain):
    """A bias of four gates: input, candidate, forget, output in the file; input, forget, output, candidate here."""

    def to_tensor(self, part: Float[np.ndarray, " gates"]) -> Float[np.ndarray, " gates"]:
        return to_our_order(part, _GATE_ORDER)

    def to_array(self, *tensors: Float[np.ndarray, " gates"]) -> Float[np.ndarray, " gates"]:
        return _to_file_order(tensors[0])


class GateKernel(Plain):
    """Input above recurrent weights, applied as [x, h] W, gates in the columns; two matrices here.

    Both have the width of a projection, so each is half of the rows.
    """

    def shape(self, *tensors: Shape) -> Shape:
        return (tensors[0][1] + tensors[1][1], tensors[0][0])

    def to_tensor(self, part: Float[np.ndarray, "inner gates"]) -> Float[np.ndarray, "gates inner"]:
        return to_our_order(part.T, _GATE_ORDER)

    def to_array(self, *tensors: Float[np.ndarray, "gates inner"]) -> Float[np.ndarray, "inputs gates"]:
        return _to_file_order(np.concatenate(tensors, axis=1)).T


def with_padding_row(array: Float[np.ndarray, "ids dim"]) -> Float[np.ndarray, "rows dim"]:
    """An embedding with the zero row of id 0 in front."""
    return np.concatenate([np.zeros_like(array[:1]), array], axis=0)


def _to_file_order(rows: Float[np.ndarray, "gates ..."]) -> Float[np.ndarray, "gates ..."]:
    blocks = dict(zip(OUR_ORDER, np.split(rows, 4), strict=True))
    return np.concatenate([blocks[gate] for gate in _GATE_ORDER])
