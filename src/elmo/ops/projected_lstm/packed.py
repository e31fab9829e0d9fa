"""Inference: the projected LSTM on rows of different lengths, computing nothing for padding.

Rows are taken longest first, so at step t the rows still reading are a prefix of the batch, which shrinks as sentences
end. One product brings all inputs to the gates before the loop; the gates work in place. No gradients.
The gates run in torch, whose tanh is more exact than the fused passes of training: with weights that amplify rounding
the difference is visible (dev/LOG.md).
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from elmo.config import LSTMSettings
from elmo.ops.projected_lstm.gate_passes import forward_pass
from elmo.ops.projected_lstm.reference import LayerWeights


@torch.no_grad()
def projected_lstm_packed(
    inputs: Float[Tensor, "batch tokens dim"],
    lengths: Int[Tensor, " batch"],
    hidden: Float[Tensor, "batch projection"],
    cell: Float[Tensor, "batch cell"],
    weights: LayerWeights,
    settings: LSTMSettings,
) -> tuple[Float[Tensor, "batch tokens projection"], Float[Tensor, "batch projection"], Float[Tensor, "batch cell"]]:
    """Same contract as `projected_lstm_reference`."""
    sorted_lengths, order = lengths.sort(descending=True, stable=True)
    alive = _rows_alive(sorted_lengths, inputs.shape[1])
    hidden, cell = hidden[order], cell[order]  # copies: the loop below writes into them
    packed = (
        torch.cat([inputs[order[:rows], t] for t, rows in enumerate(alive)])
        if alive
        else inputs.new_empty(0, inputs.shape[2])
    )
    # Autocast makes the products of another type; the state keeps its own.
    gates = functional.linear(packed, weights.input_weight).to(cell.dtype).add_(_bias_with_forget(weights, settings))
    packed_outputs = hidden.new_empty(packed.shape[0], hidden.shape[1])
    step = _Step(weights, settings, cell)
    start = 0
    for rows in alive:
        step(gates[start : start + rows], hidden[:rows], cell[:rows])
        packed_outputs[start : start + rows] = hidden[:rows]
        start += rows
    outputs = hidden.new_zeros(inputs.shape[0], inputs.shape[1], hidden.shape[1])
    start = 0
    for t, rows in enumerate(alive):
        outputs[order[:rows], t] = packed_outputs[start : start + rows]
        start += rows
    back = torch.empty_like(order)
    back[order] = torch.arange(len(order), device=order.device)
    return outputs, hidden[back], cell[back]


def _rows_alive(sorted_lengths: Int[Tensor, " batch"], num_tokens: int) -> list[int]:
    """How many rows (longest first) still have a token at each step."""
    steps = torch.arange(num_tokens, device=sorted_lengths.device)
    counts = (sorted_lengths[None, :] > steps[:, None]).sum(dim=1).tolist()
    return [count for count in counts if count > 0]


def _bias_with_forget(weights: LayerWeights, settings: LSTMSettings) -> Float[Tensor, " gates"]:
    size = weights.cell_size
    bias = weights.bias.clone()
    bias[size : 2 * size] += settings.forget_bias
    return bias


class _Step:
    """One token for the rows still reading; its buffers serve all steps."""

    def __init__(self, weights: LayerWeights, settings: LSTMSettings, cell: Float[Tensor, "batch cell"]) -> None:
        self.weights, self.settings = weights, settings
        self.buffers = [torch.empty_like(cell) for _ in range(3)]

    def __call__(
        self,
        gates: Float[Tensor, "rows gates"],
        hidden: Float[Tensor, "rows projection"],
        cell: Float[Tensor, "rows cell"],
    ) -> None:
        """`gates` holds the inputs' share; `hidden` and `cell` are brought up to date in place."""
        after, squashed, output = (buffer[: len(cell)] for buffer in self.buffers)
        recurrent = functional.linear(hidden, self.weights.recurrent_weight)
        forward_pass(gates, recurrent, cell, after, squashed, output, self.settings.cell_clip, native=False)
        cell.copy_(after)
        if self.weights.projection_weight is None:
            hidden.copy_(output)
            return
        hidden.copy_(functional.linear(output, self.weights.projection_weight))
        if self.settings.projection_clip is not None:
            hidden.clamp_(-self.settings.projection_clip, self.settings.projection_clip)
