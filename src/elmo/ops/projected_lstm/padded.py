"""Inference: the projected LSTM with every row at every step, so that no operation depends on how long the rows are.

A GPU can record that and replay it in one launch; `packed`, which computes less, waits for a launch at each of its
thousands of small kernels. No gradients.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from elmo.config import LSTMSettings
from elmo.ops.projected_lstm.gate_passes import forward_pass
from elmo.ops.projected_lstm.reference import LayerWeights

_TOKENS_AHEAD = 4096  # as in `packed`


@torch.no_grad()
def projected_lstm_padded(
    inputs: Float[Tensor, "batch tokens dim"],
    lengths: Int[Tensor, " batch"],
    hidden: Float[Tensor, "batch projection"],
    cell: Float[Tensor, "batch cell"],
    weights: LayerWeights,
    settings: LSTMSettings,
) -> tuple[Float[Tensor, "batch tokens projection"], Float[Tensor, "batch projection"], Float[Tensor, "batch cell"]]:
    """Same contract as `projected_lstm_reference`."""
    batch, tokens = inputs.shape[:2]
    reads = (torch.arange(tokens, device=lengths.device)[:, None] < lengths)[:, :, None]
    outputs = hidden.new_empty(tokens, batch, hidden.shape[1])
    after, squashed, output = (torch.empty_like(cell) for _ in range(3))
    bias = weights.bias_with_forget(settings.forget_bias)
    ahead = max(1, _TOKENS_AHEAD // max(1, batch))
    for start in range(0, tokens, ahead):
        shares = functional.linear(inputs[:, start : start + ahead].transpose(0, 1), weights.input_weight)
        for t, gates in enumerate(shares.to(cell.dtype).contiguous(), start=start):
            recurrent = functional.linear(hidden, weights.recurrent_weight)
            forward_pass(gates, recurrent, bias, cell, gates, after, squashed, output, settings.cell_clip, native=False)
            new = output
            if weights.projection_weight is not None:
                new = functional.linear(output, weights.projection_weight)
                if settings.projection_clip is not None:
                    new.clamp_(-settings.projection_clip, settings.projection_clip)
            cell = torch.where(reads[t], after, cell)
            hidden = torch.where(reads[t], new, hidden)
            outputs[t] = hidden
    return torch.where(reads, outputs, 0).transpose(0, 1), hidden, cell
