"""Scores of spans and of pairs of spans, by feed-forward networks whose first layer is computed in parts.

W [h_i ; h_j ; width ; head]     = W1 h_i + W2 h_j + W3 width + sum over its tokens of a_t W4 x_t
W [g_i ; g_j ; g_i * g_j ; f]    = W1 g_i + W2 g_j + W3 (g_i * g_j) + W4 f

So a token or a span is multiplied once, not once for each of the thousands of spans or pairs that contain it.
Dropout acts on the features and on hidden layers only, so the parts are exact in training too. Source: Lee et al. 2017,
section 3; equal to the plain networks in outputs and gradients.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from elmo.ops.dropout import Dropout
from elmo.ops.product import trained_product
from elmo.tasks.layers.linear import linear


def endpoints(
    vectors: Float[Tensor, "tokens dim"], spans: Int[Tensor, "spans 2"]
) -> tuple[Float[Tensor, "spans dim"], Float[Tensor, "spans dim"]]:
    """The vectors of each span's first and last token."""
    return vectors.index_select(0, spans[:, 0]), vectors.index_select(0, spans[:, 1])


def heads(
    scores: Float[Tensor, " tokens"], spans: Int[Tensor, "spans 2"], vectors: Float[Tensor, "tokens dim"]
) -> Float[Tensor, "spans dim"]:
    """Of each span the mean of its tokens' vectors, weighted by the softmax of their scores inside it."""
    first, last = spans[:, :1], spans[:, 1:]
    width = int((last - first).amax()) + 1 if len(spans) else 0
    places = first + torch.arange(width, device=spans.device)
    inside = places <= last
    places = torch.where(inside, places, first)
    weights = scores[places].masked_fill(~inside, -torch.inf).softmax(dim=1)
    chosen = vectors.index_select(0, places.flatten()).unflatten(0, places.shape)
    return (weights[:, None, :] @ chosen).squeeze(1)


def after_first_layer(sizes: Sequence[int], dropout: float) -> nn.Sequential:
    """Hidden layers of these sizes and a score, without the first product: ReLU, dropout, linear, ... , linear."""
    layers: list[nn.Module] = []
    for read, written in pairwise([*sizes, 1]):
        layers += [nn.ReLU(), Dropout(dropout), linear(read, written)]
    return nn.Sequential(*layers)


# Floats of the largest tensor of a part (64 MB in float32): more are computed one part after another.
_MAX_FLOATS = 1 << 24


@dataclass(frozen=True)
class TokenStates:
    """What spans are made of."""

    encoded: Float[Tensor, "tokens encoded_dim"]
    """The LSTM's output, for the ends of spans."""
    embedded: Float[Tensor, "tokens embedded_dim"]
    """What a span's head is a mean of: static vectors and characters, without ELMo."""
    head_scores: Float[Tensor, " tokens"]
    """How much each token looks like a head."""


class MentionScorer(nn.Module):
    """Candidate spans -> how likely each is a mention."""

    def __init__(self, dims: tuple[int, int, int], sizes: Sequence[int], dropout: float = 0.0) -> None:
        """`dims`: of encoded and embedded tokens and of a width's vector; `sizes`: of the hidden layers."""
        super().__init__()
        encoded, embedded, width = dims
        self._parts = (encoded, encoded, width, embedded)
        self.first = linear(sum(self._parts), sizes[0])
        self.rest = after_first_layer(sizes, dropout)

    def forward(
        self, states: TokenStates, spans: Int[Tensor, "spans 2"], widths: Float[Tensor, "spans width_dim"]
    ) -> Float[Tensor, " spans"]:
        """`widths`: the vector of each span's width."""
        first, last, width, head = self.first.weight.split(self._parts, dim=1)
        begun = trained_product(states.encoded, first, self.first.bias)
        ended, headed = trained_product(states.encoded, last), trained_product(states.embedded, head)

        def score(spans: Int[Tensor, "part 2"], widths: Float[Tensor, "part width_dim"]) -> Float[Tensor, " part"]:
            begins, ends = begun.index_select(0, spans[:, 0]), ended.index_select(0, spans[:, 1])
            attended = heads(states.head_scores, spans, headed)
            return self.rest(begins + ends + trained_product(widths, width) + attended).squeeze(1)

        widest = int((spans[:, 1] - spans[:, 0]).amax()) + 1 if len(spans) else 1
        return _in_parts(score, (spans, widths), floats=widest * self.first.out_features)


class PairScorer(nn.Module):
    """Pairs of spans -> how likely the one means the same as the other."""

    def __init__(self, span_dim: int, feature_dim: int, sizes: Sequence[int], dropout: float = 0.0) -> None:
        """`feature_dim`: of a pair's own features; `sizes`: of the hidden layers."""
        super().__init__()
        self._parts = (span_dim, span_dim, span_dim, feature_dim)
        self.first = linear(sum(self._parts), sizes[0])
        self.rest = after_first_layer(sizes, dropout)

    def forward(
        self,
        spans: Float[Tensor, "spans span_dim"],
        pairs: Int[Tensor, "pairs 2"],
        features: Callable[[Int[Tensor, "part 2"]], Float[Tensor, "part feature_dim"]],
    ) -> Float[Tensor, " pairs"]:
        """`features`: called with a part of the pairs at a time."""
        own, other, product, feature = self.first.weight.split(self._parts, dim=1)
        owns, others = trained_product(spans, own, self.first.bias), trained_product(spans, other)

        def score(pairs: Int[Tensor, "part 2"]) -> Float[Tensor, " part"]:
            span, antecedent = pairs.unbind(dim=1)
            multiplied = spans.index_select(0, span) * spans.index_select(0, antecedent)
            hidden = owns.index_select(0, span) + others.index_select(0, antecedent)
            hidden = hidden + trained_product(features(pairs), feature) + trained_product(multiplied, product)
            return self.rest(hidden).squeeze(1)

        return _in_parts(score, (pairs,), floats=max(spans.shape[1], self.first.out_features))


def span_vectors(
    states: TokenStates, spans: Int[Tensor, "spans 2"], widths: Float[Tensor, "spans width_dim"]
) -> Float[Tensor, "spans span_dim"]:
    """[h_first ; h_last ; width ; head] of each span."""
    head = heads(states.head_scores, spans, states.embedded)
    return torch.cat([*endpoints(states.encoded, spans), widths, head], dim=1)


def _in_parts(
    score: Callable[..., Float[Tensor, " rows"]], rows: tuple[Shaped[Tensor, "rows ..."], ...], floats: int
) -> Float[Tensor, " rows"]:
    """score(*rows), some rows at a time, each of which needs `floats` at once.

    In training the parts are computed once more for the gradient, rather than all kept until then.
    """
    step = max(1, _MAX_FLOATS // floats)
    if len(rows[0]) <= step:
        return score(*rows)
    parts = zip(*(tensor.split(step) for tensor in rows), strict=True)
    if not torch.is_grad_enabled():
        return torch.cat([score(*part) for part in parts])
    return torch.cat([checkpoint(score, *part, use_reentrant=False) for part in parts])
