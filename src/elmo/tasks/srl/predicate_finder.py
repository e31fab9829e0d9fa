"""PredicateFinder: which tokens of a sentence are predicates, for text in which nobody has marked them.

token vectors -> biLSTM -> Linear -> the probability that a predicate begins at the token

Our addition: the papers take the predicates as given. It learns from the same sentences as the role labeler and reads
the same vectors, through which it sends no gradient, so that it doesn't change what the labeler learns.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional

from elmo.tasks.layers.recurrent.bilstm import BiLSTM

_DROPOUT = 0.3


class PredicateFinder(nn.Module):
    """Token vectors -> predicates of one token each."""

    def __init__(self, input_dim: int, size: int) -> None:
        """`size`: units in each direction."""
        super().__init__()
        self.bilstm = BiLSTM(input_dim, [size], _DROPOUT)
        self.project = nn.Linear(self.bilstm.output_dim, 1)

    def forward(
        self, vectors: Float[Tensor, "batch tokens dim"], mask: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch tokens"]:
        """Logits."""
        return self.project(self.bilstm(vectors.detach(), mask)).squeeze(2)

    def loss(
        self,
        vectors: Float[Tensor, "batch tokens dim"],
        mask: Bool[Tensor, "batch tokens"],
        predicates: Sequence[Sequence[tuple[int, int]]],
    ) -> Float[Tensor, ""]:
        """Binary cross-entropy, averaged over the tokens; `predicates`: (start, end) of all of each sentence."""
        gold = torch.zeros(mask.shape)
        for row, own in zip(gold, predicates, strict=True):
            row[[start for start, _ in own]] = 1
        logits = self(vectors, mask)
        losses = functional.binary_cross_entropy_with_logits(logits, gold.to(logits), reduction="none")
        return torch.where(mask, losses, 0).sum() / mask.sum().clamp(min=1)

    def probabilities(
        self, vectors: Float[Tensor, "batch tokens dim"], mask: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch tokens"]:
        """Of each token to be a predicate."""
        return self(vectors, mask).double().sigmoid()


def predicates_of(
    probabilities: Float[Tensor, "batch tokens"], mask: Bool[Tensor, "batch tokens"]
) -> list[list[tuple[int, int]]]:
    """(start, end) of each sentence's predicates: the tokens that are more probably one than not."""
    rows = ((probabilities > 0.5) & mask).tolist()
    return [[(place, place + 1) for place, is_found in enumerate(row) if is_found] for row in rows]
