"""The product of a layer that is trained: oneDNN's where it can, forward and backward."""

import math
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from elmo.ops.product.onednn import product


def trained_product(
    inputs: Float[Tensor, "*rows inner"],
    weight: Float[Tensor, "outer inner"],
    bias: Float[Tensor, " outer"] | None = None,
) -> Float[Tensor, "*rows outer"]:
    """inputs @ weight.T + bias, with gradients of any order. Autocast rounds it as torch's own."""
    if torch.is_autocast_enabled(inputs.device.type):
        return functional.linear(inputs, weight, bias)
    *rows, inner = inputs.shape
    return _Product.apply(inputs.reshape(math.prod(rows), inner), weight, bias).reshape(*rows, len(weight))


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        inputs: Float[Tensor, "rows inner"],
        weight: Float[Tensor, "outer inner"],
        bias: Float[Tensor, " outer"] | None,
    ) -> Float[Tensor, "rows outer"]:
        inputs, weight = _laid_out(inputs), _laid_out(weight)
        ctx.save_for_backward(inputs, weight)
        return product(inputs, weight, bias)

    @staticmethod
    def backward(ctx: Any, grad: Float[Tensor, "rows outer"]) -> tuple[Tensor | None, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        inputs, weight = ctx.saved_tensors
        of_inputs, of_weight, of_bias = ctx.needs_input_grad
        return (
            _Product.apply(grad, weight.t(), None) if of_inputs else None,
            _Product.apply(grad.t(), inputs.t(), None) if of_weight else None,
            grad.sum(dim=0) if of_bias else None,
        )


def _laid_out(factor: Float[Tensor, "rows columns"]) -> Float[Tensor, "rows columns"]:
    """As oneDNN is fast with it: columns of a larger matrix and expanded rows take a thousand times as long."""
    return factor if factor.is_contiguous() or factor.t().is_contiguous() else factor.contiguous()
