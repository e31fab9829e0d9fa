"""The full softmax: cross-entropy against the whole vocabulary, exact, and expensive for large vocabularies.

`full_softmax_mean`, for training, takes a few targets at a time, so that their logits are never in memory together.
Autograd of the plain version keeps three tensors of (targets, vocabulary) values: 20 GB for 2,560 targets and 793,471
words. Here the gradient of a chunk's logits is computed right after the logits, in their memory, and is added to the
gradients of outputs and weights immediately: nothing is computed twice, and only one chunk is held at a time.
"""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from elmo.ops import native_passes
from elmo.ops.product import product, repeated_factor


def full_softmax_reference(
    outputs: Float[Tensor, "targets dim"],
    target_ids: Int[Tensor, " targets"],
    weight: Float[Tensor, "vocabulary dim"],
    bias: Float[Tensor, " vocabulary"],
) -> Float[Tensor, " targets"]:
    """The loss in nats of each target against every word of the vocabulary."""
    return functional.cross_entropy(functional.linear(outputs, weight, bias), target_ids, reduction="none")


# Values of a chunk, which has one target at least: 64 MiB of float32.
_LOGITS_AT_ONCE = 1 << 24


def full_softmax_mean(
    outputs: Float[Tensor, "targets dim"],
    target_ids: Int[Tensor, " targets"],
    weight: Float[Tensor, "vocabulary dim"],
    bias: Float[Tensor, " vocabulary"],
    product_dtype: torch.dtype | None = None,
) -> Float[Tensor, ""]:
    """The mean of `full_softmax_reference` over the targets, of which there is at least one.

    `product_dtype=torch.bfloat16` rounds the factors of the matrix products. Gradients can't be taken twice.
    """
    chunk = max(1, _LOGITS_AT_ONCE // len(weight))
    return _MeanLoss.apply(outputs, weight, bias, target_ids, chunk, product_dtype or outputs.dtype)


class _MeanLoss(torch.autograd.Function):
    @staticmethod
    @native_passes.full_precision
    def forward(
        ctx: Any,
        outputs: Float[Tensor, "targets dim"],
        weight: Float[Tensor, "vocabulary dim"],
        bias: Float[Tensor, " vocabulary"],
        target_ids: Int[Tensor, " targets"],
        chunk: int,
        factor: torch.dtype,
    ) -> Float[Tensor, ""]:
        dtype, count = outputs.dtype, len(outputs)
        outputs, weight = outputs.to(factor), repeated_factor(weight, factor)
        grad_outputs = outputs.new_empty(outputs.shape, dtype=dtype)
        grad_weight = weight.new_zeros(weight.shape, dtype=dtype)
        grad_bias = torch.zeros_like(bias)
        nats = outputs.new_empty(count, dtype=dtype)
        for start in range(0, count, chunk):
            some = slice(start, start + chunk)
            logits = product(outputs[some], weight).to(dtype).add_(bias)
            nats[some], grad_logits = _nats_and_gradient(logits, target_ids[some], count)
            grad_bias += grad_logits.sum(dim=0)
            grad_logits = grad_logits.to(factor)
            grad_outputs[some] = product(grad_logits, weight.t())
            if factor == dtype:
                grad_weight.addmm_(grad_logits.t(), outputs[some])
            else:
                grad_weight += product(grad_logits.t(), outputs[some].t())
        ctx.save_for_backward(grad_outputs, grad_weight, grad_bias)
        return nats.mean()

    @staticmethod
    @native_passes.taken_once
    def backward(  # pyright: ignore[reportIncompatibleMethodOverride] - torch passes one for each output
        ctx: Any, grad_mean: Float[Tensor, ""]
    ) -> tuple[Tensor | None, ...]:
        return (*(gradient * grad_mean for gradient in ctx.saved_tensors), None, None, None)


def _nats_and_gradient(
    logits: Float[Tensor, "targets vocabulary"], target_ids: Int[Tensor, " targets"], count: int
) -> tuple[Float[Tensor, " targets"], Float[Tensor, "targets vocabulary"]]:
    """Each target's loss; the gradient of the mean over `count` targets, in the place of `logits`."""
    places = target_ids[:, None]
    total = logits.logsumexp(dim=1, keepdim=True)
    nats = total - logits.gather(1, places)
    gradient = logits.sub_(total).exp_()
    gradient.scatter_add_(1, places, torch.full_like(nats, -1))
    return nats[:, 0], gradient.div_(count)
