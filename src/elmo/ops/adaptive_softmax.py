"""The adaptive softmax: cross-entropy against the whole vocabulary, whose rarer words are in clusters.

The vocabulary is ordered by frequency. Its first words share one softmax with one entry for each cluster of rarer
words; a word of a cluster has the probability of the cluster times its own probability within it:

    p(w) = softmax(W h + b)[w]                                      a frequent word
    p(w) = softmax(W h + b)[cluster] softmax(W_c (P_c h) + b_c)[w]  a word of cluster c

It sums to 1 over the whole vocabulary: a model of its own, not an approximation of another.

`adaptive_softmax_reference` computes it plainly; the others save work: a cluster is computed only for the targets that
are its words. Each part is a full softmax of its own, so training reuses its chunks and its backward pass.

Source: Grave et al. 2017, "Efficient softmax approximation for GPUs".
"""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from elmo.ops.full_softmax import full_softmax_mean, full_softmax_reference


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


# Which targets the part has, or None for all; and the arguments of the full softmax.
_Part = tuple[
    Int[Tensor, " part"] | None,
    tuple[
        Float[Tensor, "part dim"], Int[Tensor, " part"], Float[Tensor, "vocabulary dim"], Float[Tensor, " vocabulary"]
    ],
]


def adaptive_softmax_mean(
    outputs: Float[Tensor, "targets dim"],
    target_ids: Int[Tensor, " targets"],
    weights: AdaptiveWeights,
    product_dtype: torch.dtype | None = None,
) -> Float[Tensor, ""]:
    """The mean of `adaptive_softmax_reference` over the targets, of which there is at least one."""
    means = [
        full_softmax_mean(*part, product_dtype) * (1 if which is None else len(which) / len(outputs))
        for which, part in _parts(outputs, target_ids, weights)
    ]
    return torch.stack(means).sum()


def adaptive_softmax_nats(
    outputs: Float[Tensor, "targets dim"], target_ids: Int[Tensor, " targets"], weights: AdaptiveWeights
) -> Float[Tensor, " targets"]:
    """Same contract as `adaptive_softmax_reference`."""
    nats = outputs.new_zeros(len(outputs))
    for which, part in _parts(outputs, target_ids, weights):
        own = full_softmax_reference(*part)
        nats = nats + own if which is None else nats.index_add(0, which, own)
    return nats


def _parts(
    outputs: Float[Tensor, "targets dim"], target_ids: Int[Tensor, " targets"], weights: AdaptiveWeights
) -> Iterator[_Part]:
    sizes = [weights.num_frequent, *(len(cluster.bias) for cluster in weights.clusters)]
    ends = torch.tensor(sizes, device=target_ids.device).cumsum(dim=0)
    cluster_of = torch.bucketize(target_ids, ends, right=True)  # 0: a frequent word
    entries = torch.where(cluster_of == 0, target_ids, weights.num_frequent + cluster_of - 1)
    yield None, (outputs, entries, weights.weight, weights.bias)
    for index, cluster in enumerate(weights.clusters):
        which = (cluster_of == index + 1).nonzero()[:, 0]
        if len(which):
            narrow = functional.linear(outputs[which], cluster.projection)
            yield which, (narrow, target_ids[which] - ends[index], cluster.weight, cluster.bias)
