"""The network's weights as named arrays, by the names in `BiLM.state_dict()`, and parts of them."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from elmo.engine.held_once import Weight
from elmo.engine.reading import Sizes
from elmo.shapes import Float

Tensors = Mapping[str, Weight]


class LayerWeights(NamedTuple):
    """One LSTM layer of one direction. Gate rows in the order input i, forget f, output o, candidate j."""

    input_weight: Weight
    """(gates, dim)"""
    recurrent_weight: Weight
    """(gates, projection)"""
    bias: Float[np.ndarray, " gates"]
    projection_weight: Weight | None
    """(projection, cell); None: the cell's output is the layer's output."""

    @property
    def sizes(self) -> Sizes:
        """Of what the layer reads."""
        return Sizes(self.input_weight.shape[1], self.recurrent_weight.shape[1], self.cell_size, self.bias.dtype)

    @property
    def cell_size(self) -> int:
        """Memory cells."""
        return self.bias.shape[0] // 4

    def bias_with_forget(self, forget_bias: float) -> Float[np.ndarray, " gates"]:
        """The bias, `forget_bias` added to the forget gate's part."""
        bias, size = self.bias.copy(), self.cell_size
        bias[size : 2 * size] += forget_bias
        return bias


class LSTMSettings(NamedTuple):
    """A layer's constants; a clip of None means no clip."""

    forget_bias: float
    cell_clip: float | None
    projection_clip: float | None


def layer_weights(tensors: Tensors, direction: str, index: int) -> LayerWeights:
    """The weights of one layer."""
    prefix = f"{direction}_lstm.layers.{index}."
    input_weight, recurrent_weight, bias = (tensors[prefix + name] for name in LayerWeights._fields[:3])
    return LayerWeights(input_weight, recurrent_weight, np.asarray(bias), tensors.get(f"{prefix}projection_weight"))


def part(tensors: Tensors, prefix: str) -> dict[str, Any]:
    """The arrays whose names begin so, under the rest of their names."""
    return {name[len(prefix) :]: array for name, array in tensors.items() if name.startswith(prefix)}
