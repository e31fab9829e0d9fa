"""The loss of a direction's predictions, by the run's softmax, and the gradients of what the directions share.

Every direction gets leaves of its own, which share the head's memory: two directions can then run at the same time.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from elmo.model.lm_head import LMHead
from elmo.ops.adaptive_softmax import adaptive_softmax_mean
from elmo.ops.full_softmax import full_softmax_mean
from elmo.ops.sampled_softmax import LogUniformSampler, NegativeSample, SoftmaxRows, sampled_softmax_mean
from elmo.pretrain.ranks.gradients import Gradient, RowGradient, on_device


@dataclass(frozen=True)
class Leaves:
    """The part of the softmax's tensors that a loss reads, by their name in the head."""

    tensors: dict[str, Tensor]
    rows: Int[Tensor, " rows"] | None = None
    """Which rows they are, distinct, ascending and on the CPU; None: all."""

    def gradients(self) -> dict[str, Gradient]:
        """After the backward pass; zero where nothing was read."""
        found = {
            name: torch.zeros_like(leaf) if leaf.grad is None else leaf.grad for name, leaf in self.tensors.items()
        }
        if self.rows is None:
            return dict(found)
        return {name: RowGradient(self.rows, gradient) for name, gradient in found.items()}


class Negatives(NamedTuple):
    """A window's negatives, and the rows of the softmax that they and the targets read."""

    ids: Int[Tensor, " samples"]
    num_draws: int
    rows: Int[Tensor, " rows"]
    """Distinct, ascending; on the CPU, unlike the others."""
    target_places: Int[Tensor, " targets"]
    """Of each target among `rows`"""
    places: Int[Tensor, " samples"]
    """Of each negative among `rows`"""

    @classmethod
    def of(cls, sample: NegativeSample, target_ids: Int[Tensor, "tokens batch"], device: torch.device) -> "Negatives":
        """From ids on the CPU."""
        rows, places = torch.cat([target_ids.flatten(), sample.ids]).unique(return_inverse=True)
        targets, negatives = on_device(places, device).split([target_ids.numel(), len(sample.ids)])
        return cls(on_device(sample.ids, device), sample.num_draws, rows, targets, negatives)


def sampled_loss(
    head: LMHead,
    sampler: LogUniformSampler,
    outputs: Float[Tensor, "targets projection"],
    target_ids: Int[Tensor, " targets"],
    negatives: Negatives,
    product_dtype: torch.dtype | None,
) -> tuple[Float[Tensor, ""], Leaves]:
    """The mean against a sample of the vocabulary; only the rows of targets and negatives are touched."""
    rows = on_device(negatives.rows, outputs.device)
    weight = head.weight.detach()[rows].requires_grad_()
    bias = head.bias.detach()[rows].requires_grad_()
    log_probability = sampler.log_probability(rows, negatives.num_draws)
    target_rows, negative_rows = (
        SoftmaxRows(functional.embedding(at, weight), bias[at], log_probability[at])
        for at in (negatives.target_places, negatives.places)
    )
    loss = sampled_softmax_mean(outputs, target_ids, target_rows, negatives.ids, negative_rows, product_dtype)
    return loss, Leaves({"weight": weight, "bias": bias}, negatives.rows)


def exact_loss(
    head: LMHead,
    outputs: Float[Tensor, "targets projection"],
    target_ids: Int[Tensor, " targets"],
    product_dtype: torch.dtype | None,
) -> tuple[Float[Tensor, ""], Leaves]:
    """The mean against the whole vocabulary, by the full or the adaptive softmax, whichever the head is."""
    leaves = {name: parameter.detach().requires_grad_() for name, parameter in head.named_parameters()}
    if head.clusters:
        loss = adaptive_softmax_mean(outputs, target_ids, head.adaptive_weights(leaves), product_dtype)
    else:
        loss = full_softmax_mean(outputs, target_ids, leaves["weight"], leaves["bias"], product_dtype)
    return loss, Leaves(leaves)
