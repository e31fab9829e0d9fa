"""The char CNN's convolutions, only over the windows that can differ.

After its end-of-word character a row holds only padding. A window of width w that starts in the padding sees w
paddings, whatever the token, so one of them is as good as all: the row may be cut to the longest token plus the widest
filter without changing any maximum. Values equal those of `elmo.reference.char_cnn`, which takes all windows, up to
rounding: the sums are the same, in an order of their own. Each width is one matrix product over unfolded windows, which
torch's CPU build does faster than its conv1d.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from elmo.ops.product import ComputeType, prepack


def char_cnn_trimmed(
    character_ids: Int[Tensor, "types characters"],
    embedding: Float[Tensor, "alphabet dim"],
    filters: Sequence[tuple[Float[Tensor, "number dim width"], Float[Tensor, " number"]]],
    activation: str,
    dtype: ComputeType | None = None,
) -> Float[Tensor, "types filters"]:
    """One row for each token; the results of `filters`, (weight, bias) for each width, stand side by side.

    `activation`: "relu" or "tanh".
    `dtype`: what the factors of products are rounded to; None: products that autograd knows.
    """
    if character_ids.shape[0] == 0:
        return embedding.new_zeros(0, sum(weight.shape[0] for weight, _ in filters))
    widest = max(weight.shape[2] for weight, _ in filters)
    vectors = functional.embedding(character_ids[:, : columns_that_differ(character_ids, widest)], embedding)
    flat = vectors.flatten(1)  # (types, characters * dim): a window of width w is w * dim neighbors
    dim = embedding.shape[1]
    pooled = []
    for weight, bias in filters:
        windows = flat.unfold(1, weight.shape[2] * dim, dim)
        if dtype is None:
            kernel = weight.transpose(1, 2).flatten(1)  # (number, width * dim), characters outermost as in `flat`
            scores = windows @ kernel.t()
        else:
            scores = prepack(weight, dtype)(windows.flatten(0, 1)).unflatten(0, windows.shape[:2])
        pooled.append(scores.amax(dim=1) + bias)
    return activate(torch.cat(pooled, dim=1), activation)


def columns_that_differ(character_ids: Int[Tensor, "types characters"], widest: int) -> int:
    """Columns up to the last one in which some row differs from its own last character, and one window more."""
    last = character_ids[:, -1:]
    differs = (character_ids != last).any(dim=0).nonzero()
    used = int(differs[-1]) + 1 if len(differs) else 0
    return min(character_ids.shape[1], used + widest)


def activate(values: Float[Tensor, "*shape"], activation: str) -> Float[Tensor, "*shape"]:
    """relu or tanh."""
    return torch.relu(values) if activation == "relu" else torch.tanh(values)
