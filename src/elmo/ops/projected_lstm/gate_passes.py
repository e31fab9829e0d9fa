"""The gates of one step, forward and back: through the native library, as a kernel of a GPU, or in torch.

The torch passes are the specification of native/training/gates.h and of `gate_kernels` (tests compare all three, and
them with autograd).
Tensors: share, recurrent, gates, grad_gates (batch, 4 cell); bias, grad_bias (4 cell,); everything else (batch, cell).
`share`, `recurrent`, `output`, `grad_output` and `grad_gates` are results or factors of matrix products and may be
bfloat16; the rest is float32 or float64.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from elmo.ops import native_passes
from elmo.ops.projected_lstm import on_gpu


def forward_pass(
    share: Float[Tensor, "batch gates"],
    recurrent: Float[Tensor, "batch gates"],
    bias: Float[Tensor, " gates"],
    before: Float[Tensor, "batch cell"],
    gates: Float[Tensor, "batch gates"],
    after: Float[Tensor, "batch cell"],
    squashed: Float[Tensor, "batch cell"],
    output: Float[Tensor, "batch cell"],
    clip: float | None,
    *,
    native: bool = True,
) -> None:
    """From the input's, the state's and the bias's shares of the gates' inputs to the cell and what it gives.

    Writes the gates, the clipped new cell into `after`, its tanh into `squashed` and o * tanh(c) into `output`.
    `native=False`: not through the library, since torch's last digit is a little better, see `packed`; `gates` may then
    be `share`, and the values written there and into `squashed` don't count.
    """
    tensors = (share, recurrent, bias, before, gates, after, squashed, output)
    if native and native_passes.ran("gates_forward", *tensors, numbers=(_bound(clip),)):
        return
    if on_gpu.ran("gates_forward", tensors, clip):
        return
    size = before.shape[1]
    torch.add(share, bias, out=gates).add_(recurrent)
    gates[:, : 3 * size].sigmoid_()
    i, f, o, j = gates.chunk(4, dim=1)
    j.tanh_()
    torch.mul(f, before, out=after).addcmul_(i, j)
    if clip is not None:
        after.clamp_(-clip, clip)
    torch.tanh(after, out=squashed)
    output.copy_(o * squashed)


def backward_pass(
    gates: Float[Tensor, "batch gates"],
    before: Float[Tensor, "batch cell"],
    after: Float[Tensor, "batch cell"],
    squashed: Float[Tensor, "batch cell"],
    grad_output: Float[Tensor, "batch cell"],
    grad_cell: Float[Tensor, "batch cell"],
    grad_gates: Float[Tensor, "batch gates"],
    grad_bias: Float[Tensor, " gates"],
    clip: float | None,
) -> None:
    """From the gradients of o * tanh(c) and of the cell to those of the gates' inputs and of the cell before.

    Writes `grad_gates`, replaces `grad_cell`, and adds the sum over rows to `grad_bias` (4 cell,).
    """
    tensors = (gates, before, after, squashed, grad_output, grad_cell, grad_gates, grad_bias)
    if native_passes.ran("gates_backward", *tensors, numbers=(_bound(clip),)):
        return
    if on_gpu.ran("gates_backward", tensors, clip):
        return
    i, f, o, j = gates.chunk(4, dim=1)
    incoming = grad_output.to(gates.dtype)
    grad_cell.add_(incoming * o * (1 - squashed * squashed))
    if clip is not None:
        grad_cell.masked_fill_(after.abs() >= clip, 0)
    parts = (
        grad_cell * j * i * (1 - i),
        grad_cell * before * f * (1 - f),
        incoming * squashed * o * (1 - o),
        grad_cell * i * (1 - j * j),
    )
    found = torch.cat(parts, dim=1)
    grad_gates.copy_(found)
    grad_bias.add_(found.sum(dim=0))
    grad_cell.mul_(f)


def _bound(clip: float | None) -> float:
    return math.nan if clip is None else clip  # which no cell reaches
