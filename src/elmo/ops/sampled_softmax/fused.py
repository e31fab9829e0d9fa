"""Sampled softmax for training on a CPU: one pass over the logits for the loss and its gradient.

The logits are by far the largest tensor of a step. Autograd of the plain version walks over them a dozen times; here
they are read once and overwritten with their gradient, which two products carry on to outputs and weights.
"""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

from elmo.errors import ConfigError
from elmo.ops import native_passes
from elmo.ops.sampled_softmax.reference import SoftmaxRows, sampled_softmax_reference
from elmo.ops.tracing import has_values


def sampled_softmax_mean(
    outputs: Float[Tensor, "targets dim"],
    target_ids: Int[Tensor, " targets"],
    target_rows: SoftmaxRows,
    negative_ids: Int[Tensor, " negatives"],
    negative_rows: SoftmaxRows,
    product_dtype: torch.dtype | None = None,
) -> Float[Tensor, ""]:
    """The mean of `sampled_softmax_reference` over the targets; `negative_ids` ascend.

    Gradients can't be taken twice.
    """
    softmax = {f"target_rows.{name}": tensor for name, tensor in target_rows._asdict().items()}
    softmax |= {f"negative_rows.{name}": tensor for name, tensor in negative_rows._asdict().items()}
    native_passes.require_alike(outputs=outputs, **softmax)
    # On a GPU, where C never runs, looking at values would wait for the device.
    looks = negative_ids.is_cpu and has_values(negative_ids)
    ascends = not looks or bool((negative_ids[1:] > negative_ids[:-1]).all())
    if len(negative_ids) != len(negative_rows.weight) or not ascends:
        raise ConfigError(
            f"there are {len(negative_ids)} negative ids for {len(negative_rows.weight)} rows of the softmax, but each "
            "row needs an id of its own, in ascending order. Pass the ids and the rows of one sample."
        )
    factor = product_dtype or outputs.dtype
    tensors = (outputs, *target_rows, *negative_rows)
    is_empty = min(len(outputs), len(negative_ids)) == 0
    if is_empty or factor not in (torch.float32, torch.bfloat16) or not native_passes.can_run(*tensors):
        arguments = (outputs, target_ids, target_rows, negative_ids, negative_rows, product_dtype)
        return sampled_softmax_reference(*arguments).mean()
    target_logits = (outputs * target_rows.weight).sum(dim=1) + target_rows.bias - target_rows.log_probability
    shift = negative_rows.bias - negative_rows.log_probability
    place = torch.searchsorted(negative_ids, target_ids).clamp_(max=len(negative_ids) - 1)
    hit = torch.where(negative_ids[place] == target_ids, place, -1)
    return _MeanLoss.apply(outputs, negative_rows.weight, shift, target_logits, hit, factor)


class _MeanLoss(torch.autograd.Function):
    @staticmethod
    @native_passes.full_precision
    def forward(
        ctx: Any,
        outputs: Float[Tensor, "targets dim"],
        weight: Float[Tensor, "negatives dim"],
        shift: Float[Tensor, " negatives"],
        target_logits: Float[Tensor, " targets"],
        hit: Int[Tensor, " targets"],
        factor: torch.dtype,
    ) -> Float[Tensor, ""]:
        rows, negatives = len(outputs), len(weight)
        outputs, weight = outputs.to(factor), weight.to(factor)
        logits = torch.mm(outputs, weight.t())
        grad_target, nats = target_logits.clone(), torch.empty_like(target_logits)
        scratch = torch.empty(negatives)
        native_passes.run(
            "sampled_softmax", logits, shift.contiguous(), hit, grad_target, nats, scratch, numbers=(1 / rows,)
        )
        ctx.save_for_backward(outputs, weight, logits, grad_target)
        return nats.mean()

    @staticmethod
    @once_differentiable
    @native_passes.full_precision
    def backward(  # pyright: ignore[reportIncompatibleMethodOverride] - torch passes one for each output
        ctx: Any, grad_mean: Float[Tensor, ""]
    ) -> tuple[Tensor | None, ...]:
        outputs, weight, grad_logits, grad_target = ctx.saved_tensors
        dtype = grad_target.dtype
        return (
            torch.mm(grad_logits, weight).to(dtype) * grad_mean,
            torch.mm(grad_logits.t(), outputs).to(dtype) * grad_mean,
            grad_logits.sum(dim=0, dtype=dtype) * grad_mean,
            grad_target * grad_mean,
            None,
            None,
        )
