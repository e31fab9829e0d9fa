"""The alternating highway LSTM, plainly: the specification of the fast version.

    i, f, o, r = sigmoid(z_i), sigmoid(z_f), sigmoid(z_o), sigmoid(z_r);  g = tanh(z_g);  k = W_k x_t + b_k
    z = W x_t + U (m * h_{t-1}) + b
    c_t = f * c_{t-1} + i * g
    h_t = r * o * tanh(c_t) + (1 - r) * k

Source: He et al. 2017, section 3; Srivastava et al. 2015 for the highway gate; AllenNLP `stacked_alternating_lstm.py`,
`augmented_lstm.py` for the order of the blocks, the linear k and the mask on the recurrent h alone.
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


class LSTMState(NamedTuple):
    """The state of every layer of a stack: before its first step or after its last, in its own direction."""

    hidden: Float[Tensor, "layers batch size"]
    cell: Float[Tensor, "layers batch size"]


def alternating_lstm_reference(
    inputs: Float[Tensor, "batch tokens dim"],
    lengths: Int[Tensor, " batch"],
    layers: Sequence[HighwayWeights],
    state: LSTMState | None = None,
    recurrent_masks: Float[Tensor, "layers batch size"] | None = None,
) -> tuple[Float[Tensor, "batch tokens size"], LSTMState]:
    """Read each row's first `lengths` tokens with every layer; even layers go left to right, odd ones right to left.

    `state`: where each layer starts; None: zeros. `recurrent_masks`: multiply the previous h of a layer in every step
    (dropout with one mask for all tokens of a row; the kept values are already scaled up); None: no dropout.
    Returns the top layer's outputs, zero after a row's end, and the state of every layer after its last step.
    """
    hiddens, cells = [], []
    for number, weights in enumerate(layers):
        zeros = inputs.new_zeros(len(inputs), weights.size)
        hidden, cell = (zeros, zeros) if state is None else (state.hidden[number], state.cell[number])
        mask = None if recurrent_masks is None else recurrent_masks[number]
        inputs, hidden, cell = _layer(inputs, lengths, hidden, cell, weights, mask, right_to_left=number % 2 == 1)
        hiddens.append(hidden)
        cells.append(cell)
    return inputs, LSTMState(torch.stack(hiddens), torch.stack(cells))


def _layer(
    inputs: Float[Tensor, "batch tokens dim"],
    lengths: Int[Tensor, " batch"],
    hidden: Float[Tensor, "batch size"],
    cell: Float[Tensor, "batch size"],
    weights: HighwayWeights,
    mask: Float[Tensor, "batch size"] | None,
    right_to_left: bool,
) -> tuple[Float[Tensor, "batch tokens size"], Float[Tensor, "batch size"], Float[Tensor, "batch size"]]:
    places = range(inputs.shape[1])
    outputs = [inputs.new_zeros(hidden.shape) for _ in places]
    for t in reversed(places) if right_to_left else places:
        alive = (t < lengths)[:, None]
        vectors = torch.where(alive, inputs[:, t], 0)
        new_hidden, new_cell = step(vectors, hidden, cell, weights, mask)
        # A row that reads from the right keeps its starting state until its last token is reached.
        hidden, cell = torch.where(alive, new_hidden, hidden), torch.where(alive, new_cell, cell)
        outputs[t] = torch.where(alive, new_hidden, 0)
    stacked = torch.stack(outputs, dim=1) if outputs else inputs.new_zeros(len(inputs), 0, hidden.shape[1])
    return stacked, hidden, cell


def step(
    inputs: Float[Tensor, "batch dim"],
    hidden: Float[Tensor, "batch size"],
    cell: Float[Tensor, "batch size"],
    weights: HighwayWeights,
    mask: Float[Tensor, "batch size"] | None = None,
) -> tuple[Float[Tensor, "batch size"], Float[Tensor, "batch size"]]:
    """One token of every row: the new (hidden, cell)."""
    *of_input, k = functional.linear(inputs, weights.input_weight, weights.input_bias).chunk(6, dim=1)
    previous = hidden if mask is None else hidden * mask
    of_state = functional.linear(previous, weights.state_weight, weights.state_bias).chunk(5, dim=1)
    i, f, g, o, r = (own + other for own, other in zip(of_input, of_state, strict=True))
    cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g)
    r = torch.sigmoid(r)
    return r * torch.sigmoid(o) * torch.tanh(cell) + (1 - r) * k, cell
