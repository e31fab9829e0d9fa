"""The alternating highway LSTM: a stack of LSTM layers that read in turn left to right and right to left.

    i, f, o, r = sigmoid(z_i), sigmoid(z_f), sigmoid(z_o), sigmoid(z_r);  g = tanh(z_g);  k = W_k x_t + b_k
    z = W x_t + U (m * h_{t-1}) + b
    c_t = f * c_{t-1} + i * g
    h_t = r * o * tanh(c_t) + (1 - r) * k

What the tokens bring, W x + b, is one product a layer; rows are sorted by length, so that those that are alive at a
step are the first ones, whichever way a layer reads.

Source: He et al. 2017, "Deep Semantic Role Labeling", section 3; Srivastava et al. 2015 for the highway gate; AllenNLP
`stacked_alternating_lstm.py`, `augmented_lstm.py` for the order of the blocks, the linear k and the mask on the
recurrent h alone.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional


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


def alternating_lstm(
    inputs: Float[Tensor, "batch tokens dim"],
    lengths: Int[Tensor, " batch"],
    layers: Sequence[HighwayWeights],
    recurrent_masks: Float[Tensor, "layers batch size"] | None = None,
) -> Float[Tensor, "batch tokens size"]:
    """The top layer's outputs, zero after each row's first `lengths` tokens; layers start from zeros.

    Even layers go left to right, odd ones right to left. `recurrent_masks`: multiply the previous h of a layer in every
    step (dropout with one mask for all tokens of a row; the kept values are already scaled up); None: no dropout.
    """
    lengths, order = lengths.sort(descending=True, stable=True)
    alive = torch.arange(inputs.shape[1], device=lengths.device)[:, None] < lengths
    vectors = torch.where(alive[:, :, None], inputs[order].transpose(0, 1), 0)
    steps = list(enumerate(alive.sum(dim=1).tolist()))
    for number, weights in enumerate(layers):
        mask = None if recurrent_masks is None else recurrent_masks[number][order]
        vectors = _layer(vectors, weights, mask, steps[::-1] if number % 2 else steps)
    return vectors.transpose(0, 1)[order.argsort()]


def _layer(
    inputs: Float[Tensor, "tokens batch dim"],
    weights: HighwayWeights,
    mask: Float[Tensor, "batch size"] | None,
    steps: Sequence[tuple[int, int]],
) -> Float[Tensor, "tokens batch size"]:
    """`steps`: each position, in the order of reading, with how many rows have a token there."""
    batch, size = inputs.shape[1], weights.size
    read = functional.linear(inputs, weights.input_weight, weights.bias()).unbind(0)
    hidden = cell = inputs.new_zeros(batch, size)
    outputs = [hidden] * len(steps)
    for position, rows in steps:
        previous = hidden[:rows] if mask is None else hidden[:rows] * mask[:rows]
        # Autocast makes the products of another type; the state keeps its own.
        of_input, k = read[position][:rows].to(cell.dtype).split([5 * size, size], dim=1)
        z = of_input + functional.linear(previous, weights.state_weight).to(cell.dtype)
        i, f, _, o, r = z.sigmoid().chunk(5, dim=1)
        g = z[:, 2 * size : 3 * size].tanh()
        new_cell = torch.addcmul(i * g, f, cell[:rows])
        new_hidden = torch.lerp(k, o * new_cell.tanh(), r)
        # Rows that have ended, or that a layer from the right hasn't reached, keep their state.
        hidden, cell = torch.cat([new_hidden, hidden[rows:]]), torch.cat([new_cell, cell[rows:]])
        outputs[position] = functional.pad(new_hidden, (0, 0, 0, batch - rows))
    return torch.stack(outputs) if outputs else inputs.new_zeros(0, batch, size)
