"""The product of a weight that changes from step to step, as in training: through oneDNN where it can.

On AMD processors it is two to three times as fast as torch's plain product, which runs in MKL there.
"""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional


def product(
    inputs: Float[Tensor, "rows inner"],
    weight: Float[Tensor, "outer inner"],
    bias: Float[Tensor, " outer"] | None = None,
) -> Float[Tensor, "rows outer"]:
    """inputs @ weight.T + bias. Has no gradient of its own.

    Both factors may be transposes of contiguous matrices; other strides are slow.
    """
    if not _fits(inputs, weight):
        return functional.linear(inputs, weight, bias)
    return torch.ops.mkldnn._linear_pointwise(inputs, weight, bias, "none", [], "")


def _fits(inputs: Float[Tensor, "rows inner"], weight: Float[Tensor, "outer inner"]) -> bool:
    plain = inputs.dtype == weight.dtype == torch.float32 and inputs.device.type == weight.device.type == "cpu"
    has_onednn = torch.backends.mkldnn.is_available() and torch.backends.mkldnn.enabled
    # oneDNN knows no empty factors.
    return plain and has_onednn and min(*inputs.shape, *weight.shape) > 0
