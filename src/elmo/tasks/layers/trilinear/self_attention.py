"""SelfAttention: every token reads the other tokens of its own sequence, or nothing.

s_ij = trilinear score of tokens i and j, none with itself
a_i  = sum over j of exp(s_ij) x_j / (sum over j of exp(s_ij) + exp(null))
x_i -> [a_i ; x_i ; a_i * x_i]

The null slot lets a token attend to nothing. It is one more entry of an ordinary softmax, whose value is zero, so that
nothing overflows. Source: Clark and Gardner 2018, section 3, and their code for the slot.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from elmo.tasks.layers.attention import masked_softmax
from elmo.tasks.layers.trilinear.scores import Trilinear

_INITIAL_NULL = -1.0
# Weights that are held at a time (64 MB in float32): a passage of 20,000 tokens has 400 million.
_MAX_WEIGHTS = 1 << 24


class SelfAttention(nn.Module):
    """Vectors -> vectors of three times the dimensions."""

    def __init__(self, dim: int, *, null_slot: bool = True) -> None:
        """`null_slot`: whether a token can attend to nothing; if not, only a token that is alone does."""
        super().__init__()
        self.scores = Trilinear(dim)
        self.null_score = nn.Parameter(torch.tensor([_INITIAL_NULL])) if null_slot else None
        self.output_dim = 3 * dim

    def forward(
        self, vectors: Float[Tensor, "batch tokens dim"], mask: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch tokens dim*3"]:
        """Padding has no effect on tokens; values at padding are meaningless."""
        step = max(1, _MAX_WEIGHTS // max(1, mask.numel()))
        parts = [self._attended(vectors, mask, first, step) for first in range(0, mask.shape[1], step)]
        attended = torch.cat(parts, dim=1) if parts else vectors
        return torch.cat([attended, vectors, attended * vectors], dim=2)

    def _attended(
        self, vectors: Float[Tensor, "batch tokens dim"], mask: Bool[Tensor, "batch tokens"], first: int, step: int
    ) -> Float[Tensor, "batch rows dim"]:
        """What `step` tokens from `first` on read."""
        rows = vectors[:, first : first + step]
        itself = torch.ones(rows.shape[1], mask.shape[1], dtype=torch.bool, device=mask.device)
        itself = itself.triu(first).tril(first)
        return self._weights(self.scores(rows, vectors), mask[:, None, :] & ~itself) @ vectors

    def _weights(
        self, scores: Float[Tensor, "batch rows tokens"], others: Bool[Tensor, "batch rows tokens"]
    ) -> Float[Tensor, "batch rows tokens"]:
        if self.null_score is None:
            return masked_softmax(scores, others)
        null = self.null_score.expand(*scores.shape[:2], 1)
        weights = torch.cat([scores.masked_fill(~others, -torch.inf), null], dim=2).softmax(dim=2)
        return weights[:, :, :-1]
