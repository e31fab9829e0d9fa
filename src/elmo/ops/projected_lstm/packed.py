"""Inference: the projected LSTM on rows of different lengths, computing nothing for padding.

Rows are taken longest first, so at step t the rows still reading are a prefix of the batch, which shrinks as sentences
end. One product brings all inputs to the gates before the loop; the gates work in place. No gradients.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from elmo.ops.projected_lstm.cell import LayerWeights, LSTMSettings


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
    bias = _bias_with_forget(weights, settings)
    packed = (
        torch.cat([inputs[order[:rows], t] for t, rows in enumerate(alive)])
        if alive
        else inputs.new_empty(0, inputs.shape[2])
    )
    gates = torch.addmm(bias, packed, weights.input_weight.t())
    packed_outputs = packed.new_empty(packed.shape[0], hidden.shape[1])
    recurrent = weights.recurrent_weight.t()
    start = 0
    for rows in alive:
        step_gates = gates[start : start + rows].addmm_(hidden[:rows], recurrent)
        _step_in_place(step_gates, hidden[:rows], cell[:rows], weights, settings)
        packed_outputs[start : start + rows] = hidden[:rows]
        start += rows
    outputs = inputs.new_zeros(inputs.shape[0], inputs.shape[1], hidden.shape[1])
    start = 0
    for t, rows in enumerate(alive):
        outputs[order[:rows], t] = packed_outputs[start : start + rows]
        start += rows
    back = torch.empty_like(order)
    back[order] = torch.arange(len(order), device=order.device)
    return outputs, hidden[back], cell[back]


def _rows_alive(sorted_lengths: Tensor, num_tokens: int) -> list[int]:
    """How many rows (longest first) still have a token at each step."""
    steps = torch.arange(num_tokens, device=sorted_lengths.device)
    counts = (sorted_lengths[None, :] > steps[:, None]).sum(dim=1).tolist()
    return [count for count in counts if count > 0]


def _bias_with_forget(weights: LayerWeights, settings: LSTMSettings) -> Tensor:
    size = weights.cell_size
    bias = weights.bias.clone()
    bias[size : 2 * size] += settings.forget_bias
    return bias


def _step_in_place(gates: Tensor, hidden: Tensor, cell: Tensor, weights: LayerWeights, settings: LSTMSettings) -> None:
    size = weights.cell_size
    gates[:, : 3 * size].sigmoid_()
    i, f, o, j = gates.chunk(4, dim=1)
    cell.mul_(f).addcmul_(i, j.tanh_())
    if settings.cell_clip is not None:
        cell.clamp_(-settings.cell_clip, settings.cell_clip)
    output = torch.tanh(cell, out=j).mul_(o)
    if weights.projection_weight is None:
        hidden.copy_(output)
        return
    torch.mm(output, weights.projection_weight.t(), out=hidden)
    if settings.projection_clip is not None:
        hidden.clamp_(-settings.projection_clip, settings.projection_clip)
