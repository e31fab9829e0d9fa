"""The adaptive softmax as it saves work: a cluster is computed only for the targets that are its words.

Each part is a full softmax of its own, so training reuses its chunks and its backward pass.
"""

from collections.abc import Iterator

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from elmo.ops.adaptive_softmax.reference import AdaptiveWeights
from elmo.ops.full_softmax import full_softmax_mean, full_softmax_reference

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
    """The first softmax, then the clusters that have a target."""
    sizes = torch.tensor([weights.num_frequent, *(len(cluster.bias) for cluster in weights.clusters)])
    ends = sizes.cumsum(dim=0).to(target_ids.device)
    cluster_of = torch.bucketize(target_ids, ends, right=True)  # 0: a frequent word
    entries = torch.where(cluster_of == 0, target_ids, weights.num_frequent + cluster_of - 1)
    yield None, (outputs, entries, weights.weight, weights.bias)
    for index, cluster in enumerate(weights.clusters):
        which = (cluster_of == index + 1).nonzero()[:, 0]
        if len(which):
            narrow = functional.linear(outputs[which], cluster.projection)
            yield which, (narrow, target_ids[which] - ends[index], cluster.weight, cluster.bias)
