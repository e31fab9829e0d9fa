"""The adaptive softmax, plainly. Source: Grave et al. 2017, "Efficient softmax approximation for GPUs".

The vocabulary is ordered by frequency. Its first words share one softmax with one entry for each cluster of rarer
words; a word of a cluster has the probability of the cluster times its own probability within it:

    p(w) = softmax(W h + b)[w]                                      a frequent word
    p(w) = softmax(W h + b)[cluster] softmax(W_c (P_c h) + b_c)[w]  a word of cluster c

It sums to 1 over the whole vocabulary: a model of its own, not an approximation of another.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional


class Cluster(NamedTuple):
    """The softmax within a cluster."""

    projection: Float[Tensor, "narrow dim"]
    weight: Float[Tensor, "words narrow"]
    bias: Float[Tensor, " words"]


class AdaptiveWeights(NamedTuple):
    """The first softmax, whose last rows are the clusters in the order of the vocabulary, and theirs."""

    weight: Float[Tensor, "entries dim"]
    bias: Float[Tensor, " entries"]
    clusters: tuple[Cluster, ...]

    @property
    def num_frequent(self) -> int:
        """Words of the first softmax."""
        return len(self.bias) - len(self.clusters)


def adaptive_log_probabilities(
    outputs: Float[Tensor, "targets dim"], weights: AdaptiveWeights
) -> Float[Tensor, "targets vocabulary"]:
    """The log of each word's probability, in the order of the vocabulary."""
    first = functional.log_softmax(functional.linear(outputs, weights.weight, weights.bias), dim=1)
    parts = [first[:, : weights.num_frequent]]
    for index, (projection, weight, bias) in enumerate(weights.clusters, start=weights.num_frequent):
        logits = functional.linear(functional.linear(outputs, projection), weight, bias)
        parts.append(first[:, index, None] + functional.log_softmax(logits, dim=1))
    return torch.cat(parts, dim=1)


def adaptive_softmax_reference(
    outputs: Float[Tensor, "targets dim"], target_ids: Int[Tensor, " targets"], weights: AdaptiveWeights
) -> Float[Tensor, " targets"]:
    """The loss in nats of each target."""
    return -adaptive_log_probabilities(outputs, weights).gather(1, target_ids[:, None])[:, 0]
