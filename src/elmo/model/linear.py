"""A linear layer whose product is the fast one where no gradient is needed."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from elmo.ops.product import ComputeType, prepack


def linear(layer: nn.Linear, inputs: Float[Tensor, "rows inner"], dtype: ComputeType) -> Float[Tensor, "rows outer"]:
    """The layer's result. `dtype`: what the factors are rounded to, if no gradient is needed."""
    if torch.is_grad_enabled():
        return layer(inputs)
    return prepack(layer.weight, dtype)(inputs, layer.bias)
