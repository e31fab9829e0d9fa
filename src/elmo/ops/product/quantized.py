"""int8 factors: each output's weights, and each row of activations, in 255 steps of their own size.

A row's steps depend on that row alone, so a sentence's vectors don't depend on the other sentences in the batch.
"""

import torch
from jaxtyping import Float
from torch import Tensor

_STEPS = 127
# A row of activations below this counts as zeros, as in the C kernels: 127 divided by it would not be a finite float32.
_TINIEST = _STEPS / torch.finfo(torch.float32).max
# The last bits of a weight's step are zero, so that 127 steps are exactly a float32: a weight that was rounded, stored
# and read again rounds to exactly the same values.
_ZERO_BITS = 0xFF


def quantize_rows(values: Float[Tensor, "rows inner"]) -> tuple[Float[Tensor, "rows inner"], Float[Tensor, "rows 1"]]:
    """Activations: each row as whole numbers from -127 to 127 (still floats), and the size of its step."""
    largest = values.abs().amax(dim=1, keepdim=True)
    steps = torch.where(largest > _TINIEST, _STEPS / largest, 0)
    return (values * steps).round_(), largest / _STEPS


def quantize_weight(
    weight: Float[Tensor, "outer inner"],
) -> tuple[Float[Tensor, "outer inner"], Float[Tensor, "outer 1"]]:
    """Weights: each row as whole numbers from -127 to 127 (still floats), and the size of its step."""
    weight = weight.float()
    steps = weight.abs().amax(dim=1, keepdim=True) / _STEPS
    bits = steps.contiguous().view(torch.int32)
    steps = ((bits + _ZERO_BITS) & ~_ZERO_BITS).view(torch.float32)  # upwards
    return torch.where(steps > 0, weight / steps, 0).round_(), steps
