"""Attention over the tokens of a sentence, and pooling: many vectors -> one. Padding plays no part.

Source: McCann et al. 2017, section 5; specification 7.7.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn


def masked_softmax(
    logits: Float[Tensor, "*batch keys"], mask: Bool[Tensor, "*#batch keys"]
) -> Float[Tensor, "*batch keys"]:
    """Softmax over the true positions, 0 elsewhere; where none is true, all are 0."""
    # Not -inf: a row without a true position would become NaN, and its gradient too.
    logits = logits.masked_fill(~mask, torch.finfo(logits.dtype).min)
    return torch.softmax(logits, dim=-1) * mask


def attend(
    queries: Float[Tensor, "batch queries dim"],
    keys: Float[Tensor, "batch keys dim"],
    mask: Bool[Tensor, "batch keys"],
) -> Float[Tensor, "batch queries dim"]:
    """For each query the mean of the keys, weighted by the softmax of their products with it.

    `mask`: of the keys. With `queries` and `keys` the same it is self-attention, in which a token sees itself too.
    """
    weights = masked_softmax(queries @ keys.transpose(1, 2), mask[:, None, :])
    return weights @ keys


class SelfAttentivePooling(nn.Module):
    """The mean of the vectors, weighted by the softmax of a learned product with each."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.score = nn.Linear(dim, 1)
        nn.init.xavier_uniform_(self.score.weight)
        nn.init.zeros_(self.score.bias)

    def forward(
        self, vectors: Float[Tensor, "batch tokens dim"], mask: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch dim"]:
        """Zeros for a sentence without a token."""
        weights = masked_softmax(self.score(vectors).squeeze(2), mask)
        return (weights[:, None, :] @ vectors).squeeze(1)


def pool(
    vectors: Float[Tensor, "batch tokens dim"], mask: Bool[Tensor, "batch tokens"]
) -> Float[Tensor, "batch dim*3"]:
    """Largest, smallest and mean of each number over the tokens, side by side; zeros for a sentence without a token."""
    batch, tokens, dim = vectors.shape
    if tokens == 0:
        return vectors.new_zeros(batch, 3 * dim)
    here = mask[:, :, None]
    limit = torch.finfo(vectors.dtype).max
    largest = vectors.masked_fill(~here, -limit).amax(dim=1)
    smallest = vectors.masked_fill(~here, limit).amin(dim=1)
    mean = torch.where(here, vectors, 0).sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp(min=1)
    return torch.where(mask.any(dim=1, keepdim=True), torch.cat([largest, smallest, mean], dim=1), 0)
