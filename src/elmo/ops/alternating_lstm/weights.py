"""What a layer of the alternating LSTM is made of, and the state of a stack of them."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor


class HighwayWeights(NamedTuple):
    """One layer. Blocks of `size` rows in the order input i, forget f, candidate g, output o, highway r, linear k.

    The linear block reads the input alone, so the state's weights have five blocks.
    """

    input_weight: Float[Tensor, "six_blocks dim"]
    input_bias: Float[Tensor, " six_blocks"] | None
    """None: the input has no bias of its own; then k has none at all."""
    state_weight: Float[Tensor, "five_blocks size"]
    state_bias: Float[Tensor, " five_blocks"]

    @property
    def size(self) -> int:
        """Units of the layer."""
        return self.state_weight.shape[1]

    def bias(self) -> Float[Tensor, " six_blocks"]:
        """Both biases added; zero for k if the input has none."""
        of_state = torch.cat([self.state_bias, self.state_bias.new_zeros(self.size)])
        return of_state if self.input_bias is None else self.input_bias + of_state


class LSTMState(NamedTuple):
    """The state of every layer of a stack: before its first step or after its last, in its own direction."""

    hidden: Float[Tensor, "layers batch size"]
    cell: Float[Tensor, "layers batch size"]
