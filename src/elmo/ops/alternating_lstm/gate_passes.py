"""The gates of one step, forward and back: through the native library, or in torch.

The torch passes are the specification of native/training/highway_gates.h (tests compare both, and both with autograd).
`gates` and `grad_gates` are (batch, 6 size) with the blocks i, f, g, o, r, k; `recurrent` is (batch, 5 size); all other
tensors are (batch, size).
"""

import torch
from jaxtyping import Float
from torch import Tensor

from elmo.ops import native_passes


def forward_pass(
    gates: Float[Tensor, "batch six_blocks"],
    recurrent: Float[Tensor, "batch five_blocks"],
    hidden: Float[Tensor, "batch size"],
    cell: Float[Tensor, "batch size"],
    before: Float[Tensor, "batch size"],
    squashed: Float[Tensor, "batch size"],
    output: Float[Tensor, "batch size"],
) -> None:
    """`gates` holds the input's share of the gates' inputs, `recurrent` the state's; the gates replace the former.

    Advances the state (`hidden`, `cell`) in place, and writes the old cell into `before`, tanh of the new one into
    `squashed` and the new h into `output`.
    """
    tensors = (gates, recurrent, hidden, cell, before, squashed, output)
    if not native_passes.ran("highway_forward", *tensors):
        forward_pass_in_torch(*tensors)


def forward_pass_in_torch(
    gates: Float[Tensor, "batch six_blocks"],
    recurrent: Float[Tensor, "batch five_blocks"],
    hidden: Float[Tensor, "batch size"],
    cell: Float[Tensor, "batch size"],
    before: Float[Tensor, "batch size"],
    squashed: Float[Tensor, "batch size"],
    output: Float[Tensor, "batch size"],
) -> None:
    """`forward_pass` without the native library."""
    gates[:, : recurrent.shape[1]] += recurrent
    i, f, g, o, r, k = gates.chunk(6, dim=1)
    g.tanh_()
    for gate in (i, f, o, r):
        gate.sigmoid_()
    before.copy_(cell)
    cell.mul_(f).addcmul_(i, g)
    torch.tanh(cell, out=squashed)
    torch.lerp(k, o * squashed, r, out=output)
    hidden.copy_(output)


def backward_pass(
    gates: Float[Tensor, "batch six_blocks"],
    before: Float[Tensor, "batch size"],
    squashed: Float[Tensor, "batch size"],
    grad_output: Float[Tensor, "batch size"],
    grad_hidden: Float[Tensor, "batch size"],
    grad_cell: Float[Tensor, "batch size"],
    grad_gates: Float[Tensor, "batch six_blocks"],
) -> None:
    """From the gradients of the output and the state after a step to those of the gates' inputs and the cell before.

    Writes `grad_gates`, replaces `grad_cell`; `grad_hidden`, of the state after the step, is only read.
    """
    tensors = (gates, before, squashed, grad_output, grad_hidden, grad_cell, grad_gates)
    if not native_passes.ran("highway_backward", *tensors):
        backward_pass_in_torch(*tensors)


def backward_pass_in_torch(
    gates: Float[Tensor, "batch six_blocks"],
    before: Float[Tensor, "batch size"],
    squashed: Float[Tensor, "batch size"],
    grad_output: Float[Tensor, "batch size"],
    grad_hidden: Float[Tensor, "batch size"],
    grad_cell: Float[Tensor, "batch size"],
    grad_gates: Float[Tensor, "batch six_blocks"],
) -> None:
    """`backward_pass` without the native library."""
    i, f, g, o, r, k = gates.chunk(6, dim=1)
    incoming = grad_output + grad_hidden
    of_cell_output = incoming * r
    grad_cell.add_(of_cell_output * o * (1 - squashed * squashed))
    parts = (
        grad_cell * g * i * (1 - i),
        grad_cell * before * f * (1 - f),
        grad_cell * i * (1 - g * g),
        of_cell_output * squashed * o * (1 - o),
        incoming * (o * squashed - k) * r * (1 - r),
        incoming * (1 - r),
    )
    torch.cat(parts, dim=1, out=grad_gates)
    grad_cell.mul_(f)
