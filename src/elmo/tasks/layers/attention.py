"""Attention: of a sentence to itself or to another one, and pooling, many vectors -> one. Padding plays no part."""

import math

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
    """The mean of the vectors, weighted by the softmax of a learned product with each. Source: McCann et al. 2017."""

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
    return torch.cat([_largest(vectors, mask), -_largest(-vectors, mask), _mean(vectors, mask)], dim=1)


def compare(
    own: Float[Tensor, "batch own_tokens dim"],
    other: Float[Tensor, "batch other_tokens dim"],
    other_mask: Bool[Tensor, "batch other_tokens"],
) -> Float[Tensor, "batch own_tokens dim*4"]:
    """[a ; a~ ; a - a~ ; a * a~] of every token a. Source: Chen et al. 2017 (ESIM), sections 3.2 and 3.3.

    a~ is the mean of the other sentence's tokens, weighted by the softmax of their products with a; zeros if the other
    sentence has no token.
    """
    aligned = attend(own, other, other_mask)
    return torch.cat([own, aligned, own - aligned, own * aligned], dim=2)


def mean_and_max(
    vectors: Float[Tensor, "batch tokens dim"], mask: Bool[Tensor, "batch tokens"]
) -> Float[Tensor, "batch dim*2"]:
    """Mean and maximum over the tokens, side by side; zeros for a sentence without a token. Padding is ignored."""
    return torch.cat([_mean(vectors, mask), _largest(vectors, mask)], dim=1)


def _mean(vectors: Float[Tensor, "batch tokens dim"], mask: Bool[Tensor, "batch tokens"]) -> Float[Tensor, "batch dim"]:
    return torch.where(mask[:, :, None], vectors, 0).sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp(min=1)


def _largest(
    vectors: Float[Tensor, "batch tokens dim"], mask: Bool[Tensor, "batch tokens"]
) -> Float[Tensor, "batch dim"]:
    if mask.shape[1] == 0:
        return vectors.new_zeros(len(vectors), vectors.shape[2])
    largest = vectors.masked_fill(~mask[:, :, None], torch.finfo(vectors.dtype).min).amax(dim=1)
    return torch.where(mask.any(dim=1, keepdim=True), largest, 0)


class Trilinear(nn.Module):
    """Scores of all pairs of two sequences: score(x, y) = w_x . x + w_y . y + (w_xy * x) . y + b.

    That is w . [x ; y ; x * y] + b, but the concatenation of a pair is never formed: it would take rows x columns x 3
    dim floats. Source: Seo et al. 2017, equation 1; initial values as in Clark and Gardner 2018.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.row_weight = nn.Parameter(_uniform(dim))
        self.column_weight = nn.Parameter(_uniform(dim))
        self.product_weight = nn.Parameter(_uniform(dim))
        self.bias = nn.Parameter(torch.zeros(1))

    def forward(
        self, rows: Float[Tensor, "batch rows dim"], columns: Float[Tensor, "batch columns dim"]
    ) -> Float[Tensor, "batch rows columns"]:
        """No mask is applied: scores at padding mean nothing."""
        scores = (rows * self.product_weight) @ columns.transpose(1, 2)
        scores = scores + (rows @ self.row_weight)[:, :, None]
        return scores + (columns @ self.column_weight + self.bias)[:, None, :]


def _uniform(dim: int) -> Float[Tensor, " dim"]:
    """Glorot's bounds for a vector whose fan in and fan out are both its length."""
    limit = math.sqrt(3 / dim)
    return torch.empty(dim).uniform_(-limit, limit)


class BiAttention(nn.Module):
    """Passage and question vectors -> passage vectors that know the question.

        s    = trilinear scores (passage, question)
        c_i  = softmax over the question of s_i . question         what of the question fits passage token i
        g    = softmax over the passage of max_j s_ij . passage    one vector: what of the passage fits the question
        p_i -> [p_i ; c_i ; p_i * c_i ; p_i * g]

    Source: Seo et al. 2017, section 3; as in Clark and Gardner 2018.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.scores = Trilinear(dim)
        self.output_dim = 4 * dim

    def forward(
        self,
        passage: Float[Tensor, "batch tokens dim"],
        question: Float[Tensor, "batch words dim"],
        passage_mask: Bool[Tensor, "batch tokens"],
        question_mask: Bool[Tensor, "batch words"],
    ) -> Float[Tensor, "batch tokens dim*4"]:
        """Padding has no effect on tokens; values at padding are meaningless."""
        scores = self.scores(passage, question)
        attended = masked_softmax(scores, question_mask[:, None, :]) @ question
        best = scores.masked_fill(~question_mask[:, None, :], torch.finfo(scores.dtype).min).amax(dim=2)
        whole = masked_softmax(best, passage_mask)[:, None, :] @ passage
        return torch.cat([passage, attended, passage * attended, passage * whole], dim=2)


_INITIAL_NULL = -1.0
# Weights that are held at a time (64 MB in float32): a passage of 20,000 tokens has 400 million.
_MAX_WEIGHTS = 1 << 24


class SelfAttention(nn.Module):
    """Every token reads the other tokens of its own sequence, or nothing.

        s_ij = trilinear score of tokens i and j, none with itself
        a_i  = sum over j of exp(s_ij) x_j / (sum over j of exp(s_ij) + exp(null))
        x_i -> [a_i ; x_i ; a_i * x_i]

    The null slot is one more entry of an ordinary softmax, whose value is zero, so that nothing overflows. Source:
    Clark and Gardner 2018, section 3, and their code for the slot.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.scores = Trilinear(dim)
        self.null_score = nn.Parameter(torch.tensor([_INITIAL_NULL]))
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
        scores = self.scores(rows, vectors).masked_fill(~mask[:, None, :] | itself, -torch.inf)
        null = self.null_score.expand(*scores.shape[:2], 1)
        return torch.cat([scores, null], dim=2).softmax(dim=2)[:, :, :-1] @ vectors
