"""Inference: the projected LSTM on rows of different lengths, computing nothing for padding.

Rows are taken longest first, so at step t the rows still reading are a prefix of the batch, which shrinks as sentences
end. One product brings the inputs of some thousand tokens to the gates, which work in place. No gradients.
The gates run in torch, whose tanh is more exact than the fused passes of training: with weights that amplify rounding
the difference is visible (dev/LOG.md).
"""

from collections.abc import Iterator

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from elmo.config import LSTMSettings
from elmo.ops.projected_lstm.gate_passes import forward_pass
from elmo.ops.projected_lstm.reference import LayerWeights

# Tokens whose gates are in memory together: enough for a product, and 256 MB at the published size.
_TOKENS_AHEAD = 4096


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
    hidden, cell = hidden[order], cell[order]  # copies: the loop below writes into them
    outputs = hidden.new_zeros(inputs.shape[0], inputs.shape[1], hidden.shape[1])
    buffers = [torch.empty_like(cell) for _ in range(3)]
    bias = weights.bias_with_forget(settings.forget_bias)
    for steps in _pieces(sorted_lengths, inputs.shape[1]):
        packed = torch.cat([inputs[order[:rows], t] for t, rows in steps])
        # Autocast makes the products of another type; the state keeps its own.
        shares = functional.linear(packed, weights.input_weight).to(cell.dtype)
        for (t, rows), gates in zip(steps, shares.split([rows for _, rows in steps]), strict=True):
            after, squashed, output = (buffer[:rows] for buffer in buffers)
            recurrent = functional.linear(hidden[:rows], weights.recurrent_weight)
            forward_pass(
                gates, recurrent, bias, cell[:rows], gates, after, squashed, output, settings.cell_clip, native=False
            )
            cell[:rows] = after
            if weights.projection_weight is None:
                hidden[:rows] = output
            else:
                hidden[:rows] = functional.linear(output, weights.projection_weight)
                if settings.projection_clip is not None:
                    hidden[:rows].clamp_(-settings.projection_clip, settings.projection_clip)
            outputs[order[:rows], t] = hidden[:rows]
    back = order.argsort()
    return outputs, hidden[back], cell[back]


def _pieces(sorted_lengths: Int[Tensor, " batch"], num_tokens: int) -> Iterator[list[tuple[int, int]]]:
    """Some steps at a time: each with the rows (longest first) that still have a token at it."""
    places = torch.arange(num_tokens, device=sorted_lengths.device)
    steps, held = [], 0
    for t, rows in enumerate((sorted_lengths > places[:, None]).sum(dim=1).tolist()):
        if rows == 0:
            break
        if steps and held + rows > _TOKENS_AHEAD:
            yield steps
            steps, held = [], 0
        steps.append((t, rows))
        held += rows
    if steps:
        yield steps
