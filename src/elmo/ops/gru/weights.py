"""What a GRU is made of."""

from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor


class GRUWeights(NamedTuple):
    """One GRU. Blocks of `size` rows in torch's order: reset r, update z, candidate n."""

    input_weight: Float[Tensor, "three_blocks dim"]
    state_weight: Float[Tensor, "three_blocks size"]
    input_bias: Float[Tensor, " three_blocks"]
    state_bias: Float[Tensor, " three_blocks"]

    @property
    def size(self) -> int:
        """Units of the GRU."""
        return self.state_weight.shape[1]
