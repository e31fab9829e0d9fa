"""The maximum over a token's windows in training on a CPU: both passes over positions are the native library's."""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from elmo.ops import native_passes


class BestWindow(torch.autograd.Function):
    """vectors (types, columns * dim), weight (filters, dim, width) -> each filter's maximum (types, filters).

    For what `native_passes.can_run` says yes to; gradients can't be taken twice.
    """

    @staticmethod
    @native_passes.full_precision
    def forward(
        ctx: Any, vectors: Float[Tensor, "types values"], weight: Float[Tensor, "filters dim width"]
    ) -> Float[Tensor, "types filters"]:
        filters, dim, width = weight.shape
        kernel = weight.transpose(1, 2).reshape(filters, width * dim).contiguous()
        windows = vectors.unfold(1, width * dim, dim)
        types, positions, _ = windows.shape
        scores = windows.reshape(types * positions, width * dim) @ kernel.t()
        best = vectors.new_empty(types, filters)
        place = torch.empty(types, filters, dtype=torch.int32)
        native_passes.run("max_over_positions", scores.view(types, positions, filters), best, place)
        ctx.save_for_backward(vectors, kernel, place)
        ctx.dim = dim
        return best

    @staticmethod
    @once_differentiable
    @native_passes.full_precision
    def backward(  # pyright: ignore[reportIncompatibleMethodOverride] - the decorator hides the signature
        ctx: Any, grad_best: Float[Tensor, "types filters"]
    ) -> tuple[Float[Tensor, "types values"], Float[Tensor, "filters dim width"]]:
        vectors, kernel, place = ctx.saved_tensors
        filters, span = kernel.shape
        grad_vectors, grad_kernel = torch.zeros_like(vectors), torch.zeros_like(kernel)
        native_passes.run(
            "max_over_positions_backward",
            vectors, kernel, place, grad_best.contiguous(), grad_vectors, grad_kernel, dim=ctx.dim,
        )  # fmt: skip
        return grad_vectors, grad_kernel.view(filters, span // ctx.dim, ctx.dim).transpose(1, 2)
