"""A linear layer whose product is the fast one where no gradient is needed."""

from typing import TypeGuard

import torch
from jaxtyping import Float
from torch import Tensor, nn

from elmo.ops.product import ComputeType, prepack


def is_plain(layer: nn.Module) -> TypeGuard[nn.Linear]:
    """Whether a linear layer computes with its `weight` and nothing else: not quantized, pruned or parametrized."""
    return type(layer) is nn.Linear and not layer._forward_pre_hooks


def linear(layer: nn.Module, inputs: Float[Tensor, "rows inner"], dtype: ComputeType) -> Float[Tensor, "rows outer"]:
    """The result of a linear layer, or of what took its place.

    `dtype`: what the factors are rounded to, if no gradient is needed.
    """
    if torch.is_grad_enabled() or not is_plain(layer):
        return layer(inputs)
    return prepack(layer.weight, dtype)(inputs, layer.bias)
