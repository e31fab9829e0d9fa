"""The projected LSTM as a loop over time: `elmo.reference.lstm_step`, whose equations these are, for rows in torch.

What autograd differentiates where gradients reach the token vectors, and what faster versions are compared with.
Source: Sak et al. 2014; bilm-tf `bilm/model.py` (TensorFlow's LSTMCell with num_proj, cell_clip, proj_clip);
AllenNLP `lstm_cell_with_projection.py`. No peepholes, no bias on the projection.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from elmo.config import LSTMSettings


class LayerWeights(NamedTuple):
    """One layer of one direction. Gate rows in the order input i, forget f, output o, candidate j.

    The three logistic gates are neighbors, so that one pass computes them.
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

    def bias_with_forget(self, forget_bias: float) -> Float[Tensor, " gates"]:
        """The bias, with `forget_bias` added to the forget gates'."""
        bias = self.bias.clone()
        bias[self.cell_size : 2 * self.cell_size] += forget_bias
        return bias


def projected_lstm_reference(
    inputs: Float[Tensor, "batch tokens dim"],
    lengths: Int[Tensor, " batch"],
    hidden: Float[Tensor, "batch projection"],
    cell: Float[Tensor, "batch cell"],
    weights: LayerWeights,
    settings: LSTMSettings,
) -> tuple[Float[Tensor, "batch tokens projection"], Float[Tensor, "batch projection"], Float[Tensor, "batch cell"]]:
    """Read each row's first `lengths` tokens, starting from (hidden, cell).

    Returns the outputs (zero beyond a row's length) and the state after each row's last token.
    """
    outputs = []
    for t in range(inputs.shape[1]):
        new_hidden, new_cell = step(inputs[:, t], hidden, cell, weights, settings)
        alive = (t < lengths)[:, None]
        hidden = torch.where(alive, new_hidden, hidden)
        cell = torch.where(alive, new_cell, cell)
        outputs.append(torch.where(alive, new_hidden, torch.zeros_like(new_hidden)))
    stacked = torch.stack(outputs, dim=1) if outputs else inputs.new_zeros(inputs.shape[0], 0, hidden.shape[1])
    return stacked, hidden, cell


def step(
    inputs: Float[Tensor, "batch dim"],
    hidden: Float[Tensor, "batch projection"],
    cell: Float[Tensor, "batch cell"],
    weights: LayerWeights,
    settings: LSTMSettings,
) -> tuple[Float[Tensor, "batch projection"], Float[Tensor, "batch cell"]]:
    """One token for every row: the new (hidden, cell)."""
    gates = functional.linear(inputs, weights.input_weight, weights.bias)
    gates = gates + functional.linear(hidden, weights.recurrent_weight)
    i, f, o, j = gates.chunk(4, dim=1)
    cell = clip(torch.sigmoid(f + settings.forget_bias) * cell + torch.sigmoid(i) * torch.tanh(j), settings.cell_clip)
    output = torch.sigmoid(o) * torch.tanh(cell)
    if weights.projection_weight is None:
        return output, cell
    return clip(functional.linear(output, weights.projection_weight), settings.projection_clip), cell


def clip(values: Float[Tensor, "*shape"], bound: float | None) -> Float[Tensor, "*shape"]:
    """Limit absolute values to `bound`, if there is one."""
    return values if bound is None else values.clamp(-bound, bound)
