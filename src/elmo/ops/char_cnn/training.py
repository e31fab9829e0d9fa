"""The char CNN's convolutions for training: its own backward pass, and no time spent on padding.

Tokens are taken in groups of similar length, each group cut as in `trimmed`. Only the window that gave a filter's
maximum passes a gradient, which autograd would send through products over all windows. The native library does both
passes over positions; without it `char_cnn_trimmed` and autograd give the same values.
"""

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from elmo.ops import native_passes
from elmo.ops.char_cnn.trimmed import activate, char_cnn_trimmed, columns_that_differ

_NUM_GROUPS = 8


def char_cnn_training(
    character_ids: Int[Tensor, "types characters"],
    embedding: Float[Tensor, "alphabet dim"],
    filters: Sequence[tuple[Float[Tensor, "number dim width"], Float[Tensor, " number"]]],
    activation: str,
) -> Float[Tensor, "types filters"]:
    """Same contract as `char_cnn_trimmed`."""
    if len(character_ids) == 0 or native_passes.fitting_kind(embedding.dtype, embedding) is None:
        return char_cnn_trimmed(character_ids, embedding, filters, activation)
    widest = max(weight.shape[2] for weight, _ in filters)
    order = (character_ids != character_ids[:, -1:]).sum(dim=1).argsort(stable=True)
    groups = order.chunk(_NUM_GROUPS)
    pooled = []
    for group in groups:
        ids = character_ids[group]
        vectors = functional.embedding(ids[:, : columns_that_differ(ids, widest)], embedding).flatten(1)
        pooled.append(torch.cat([_BestWindow.apply(vectors, weight) + bias for weight, bias in filters], dim=1))
    back = torch.empty_like(order)
    back[order] = torch.arange(len(order))
    return activate(torch.cat(pooled)[back], activation)


class _BestWindow(torch.autograd.Function):
    """vectors (types, columns * dim), weight (filters, dim, width) -> each filter's maximum (types, filters)."""

    @staticmethod
    def forward(
        ctx: Any, vectors: Float[Tensor, "types values"], weight: Float[Tensor, "filters dim width"]
    ) -> Float[Tensor, "types filters"]:
        filters, dim, width = weight.shape
        kernel = weight.transpose(1, 2).reshape(filters, width * dim)
        windows = vectors.unfold(1, width * dim, dim)
        types, positions, _ = windows.shape
        scores = windows.reshape(types * positions, width * dim) @ kernel.t()
        best = vectors.new_empty(types, filters)
        place = torch.empty(types, filters, dtype=torch.int32)
        native_passes.call("elmo_max_over_positions", types, positions, filters, scores, best, place)
        ctx.save_for_backward(vectors, kernel, place)
        ctx.dim = dim
        return best

    @staticmethod
    def backward(  # pyright: ignore[reportIncompatibleMethodOverride] - torch passes one for each output
        ctx: Any, grad_best: Float[Tensor, "types filters"]
    ) -> tuple[Float[Tensor, "types values"], Float[Tensor, "filters dim width"]]:
        vectors, kernel, place = ctx.saved_tensors
        filters, span = kernel.shape
        grad_vectors, grad_kernel = torch.zeros_like(vectors), torch.zeros_like(kernel)
        native_passes.call(
            "elmo_max_over_positions_backward",
            *vectors.shape, ctx.dim, span, filters,
            vectors, kernel, place, grad_best.contiguous(), grad_vectors, grad_kernel,
        )  # fmt: skip
        return grad_vectors, grad_kernel.view(filters, span // ctx.dim, ctx.dim).transpose(1, 2)
