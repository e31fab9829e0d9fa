"""A GRU, plainly: the specification of the fast version.

Source: torch's `GRU`, which is cuDNN's.

    r = sigmoid(W_r x_t + b_r + U_r h_{t-1} + d_r)
    z = sigmoid(W_z x_t + b_z + U_z h_{t-1} + d_z)
    n = tanh(W_n x_t + b_n + r * (U_n h_{t-1} + d_n))
    h_t = (1 - z) * n + z * h_{t-1}
"""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from elmo.ops.gru.weights import GRUWeights


def gru_reference(inputs: Float[Tensor, "tokens batch dim"], weights: GRUWeights) -> Float[Tensor, "tokens batch size"]:
    """The hidden state after each token; the one before the first is zero."""
    hidden = inputs.new_zeros(inputs.shape[1], weights.size)
    outputs = []
    for vectors in inputs:
        of_input = functional.linear(vectors, weights.input_weight, weights.input_bias).chunk(3, dim=1)
        of_state = functional.linear(hidden, weights.state_weight, weights.state_bias).chunk(3, dim=1)
        r, z = (torch.sigmoid(own + other) for own, other in zip(of_input[:2], of_state[:2], strict=True))
        n = torch.tanh(of_input[2] + r * of_state[2])
        hidden = (1 - z) * n + z * hidden
        outputs.append(hidden)
    return torch.stack(outputs) if outputs else inputs.new_zeros(*inputs.shape[:2], weights.size)
