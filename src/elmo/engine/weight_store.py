"""The network's weights: each matrix in one form, as it was given or as it was laid out; and the weights of a layer.

Laid out weights have every bit of the given ones, unless they were rounded to fewer bits on the way. So an engine lets
go of each matrix as soon as it is laid out, and makes it again from there for the few who ask: a copy of the engine,
the biLM in torch, the hash of a model. Names are as in `BiLM.state_dict()`.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from elmo.shapes import Float
from elmo.weights.native.narrow import Held, HeldArrays, NarrowTensors


class StoredWeight:
    """One matrix. Its layout may change while another thread asks for its values."""

    def __init__(self, given: Held) -> None:
        self.shape: tuple[int, ...] = given.shape
        self.dtype: np.dtype = given.dtype
        self._form: Held | Callable[[], np.ndarray] = given

    @property
    def given(self) -> Held:
        """As it was given, or an array that is made from what was laid out."""
        form = self._form
        return form() if callable(form) else form

    def release(self, restored: Callable[[], Float[np.ndarray, "outer inner"]]) -> None:
        """Lets go of what was given; `restored` makes the same values from what was laid out."""
        self._form = restored

    def __array__(self, dtype: np.dtype | None = None, copy: bool | None = None) -> Float[np.ndarray, "outer inner"]:
        return np.asarray(self.given, dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy holds the values, not the layout."""
        return type(self), (np.asarray(self),)


Weight = np.ndarray | StoredWeight


def given(weight: "Held | StoredWeight") -> Held:
    """The weight itself, stored or not."""
    return weight.given if isinstance(weight, StoredWeight) else weight


class WeightStore(HeldArrays[Weight]):
    """Tensors of an engine, each matrix in one form."""

    def __init__(self, tensors: Mapping[str, np.ndarray]) -> None:
        forms: Mapping[str, Held] = tensors.held if isinstance(tensors, NarrowTensors) else tensors
        super().__init__(
            {
                name: StoredWeight(form) if len(form.shape) == 2 and name.endswith("weight") else np.asarray(form)
                for name, form in forms.items()
            }
        )


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
    def cell_size(self) -> int:
        """Memory cells."""
        return self.bias.shape[0] // 4

    def bias_with_forget(self, forget_bias: float) -> Float[np.ndarray, " gates"]:
        """The bias, `forget_bias` added to the forget gate's part."""
        bias, size = self.bias.copy(), self.cell_size
        bias[size : 2 * size] += forget_bias
        return bias


def layer_weights(tensors: Tensors, direction: str, index: int) -> LayerWeights:
    """The weights of one layer."""
    prefix = f"{direction}_lstm.layers.{index}."
    input_weight, recurrent_weight, bias = (tensors[prefix + name] for name in LayerWeights._fields[:3])
    return LayerWeights(input_weight, recurrent_weight, np.asarray(bias), tensors.get(f"{prefix}projection_weight"))


def part(tensors: Tensors, prefix: str) -> dict[str, Any]:
    """The arrays whose names begin so, under the rest of their names."""
    return {name[len(prefix) :]: array for name, array in tensors.items() if name.startswith(prefix)}
