"""What a projected LSTM layer is made of: its weights and its constants."""

from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor


class LayerWeights(NamedTuple):
    """One layer of one direction. Gate rows in the order input i, forget f, output o, candidate j.

    The three logistic gates stand together, so that one pass computes them.
    """

    input_weight: Float[Tensor, "gates dim"]
    recurrent_weight: Float[Tensor, "gates projection"]
    bias: Float[Tensor, " gates"]
    projection_weight: Float[Tensor, "projection cell"] | None
    """None: the cell's output is the layer's output."""

    @property
    def cell_size(self) -> int:
        """Memory cells."""
        return self.bias.shape[0] // 4


class LSTMSettings(NamedTuple):
    """The layer's constants; a clip of None means no clip."""

    forget_bias: float = 1.0
    cell_clip: float | None = 3.0
    projection_clip: float | None = 3.0
