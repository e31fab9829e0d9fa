"""Sampled softmax, plainly. Source: TensorFlow 1's `sampled_softmax_loss`; the specification, 6.3."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional


class SoftmaxRows(NamedTuple):
    """The softmax's parameters of some words, and the log of each word's probability of being among the negatives."""

    weight: Float[Tensor, "words dim"]
    bias: Float[Tensor, " words"]
    log_probability: Float[Tensor, " words"]


def sampled_softmax_reference(
    outputs: Float[Tensor, "targets dim"],
    target_ids: Int[Tensor, " targets"],
    target_rows: SoftmaxRows,
    negative_ids: Int[Tensor, " negatives"],
    negative_rows: SoftmaxRows,
    product_dtype: torch.dtype | None = None,
) -> Float[Tensor, " targets"]:
    """The loss in nats of each target against the target itself and the negatives.

    Every logit is lowered by its word's log probability; a negative that is the row's own target is left out.
    """
    cast = (lambda tensor: tensor) if product_dtype is None else (lambda tensor: tensor.to(product_dtype))
    target_logits = (outputs * target_rows.weight).sum(dim=1) + target_rows.bias - target_rows.log_probability
    shift = negative_rows.bias - negative_rows.log_probability
    logits = functional.linear(cast(outputs), cast(negative_rows.weight)).to(outputs.dtype) + shift
    logits = logits.masked_fill(negative_ids[None, :] == target_ids[:, None], float("-inf"))
    return torch.logaddexp(logits.logsumexp(dim=1), target_logits) - target_logits
