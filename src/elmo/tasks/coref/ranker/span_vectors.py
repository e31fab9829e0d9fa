"""Span vectors: a span of tokens as one vector, from its ends or from a weighted mean of its tokens.

Spans are (first, last) tokens of one sequence, both inclusive. Source: Lee et al. 2017, section 3.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


def endpoints(
    vectors: Float[Tensor, "tokens dim"], spans: Int[Tensor, "spans 2"]
) -> tuple[Float[Tensor, "spans dim"], Float[Tensor, "spans dim"]]:
    """The vectors of each span's first and last token."""
    return vectors.index_select(0, spans[:, 0]), vectors.index_select(0, spans[:, 1])


def attention_in_spans(
    scores: Float[Tensor, " tokens"], spans: Int[Tensor, "spans 2"]
) -> tuple[Float[Tensor, "spans width"], Int[Tensor, "spans width"]]:
    """Softmax of the scores inside each span, and the token that each weight belongs to.

    `width` is the widest span's; places after a span's end have weight 0.
    """
    places, inside = _places(spans)
    weights = scores[places].masked_fill(~inside, -torch.inf).softmax(dim=1)
    return weights, places


def weighted_mean(
    weights: Float[Tensor, "spans width"], places: Int[Tensor, "spans width"], vectors: Float[Tensor, "tokens dim"]
) -> Float[Tensor, "spans dim"]:
    """Of each span the mean of its tokens' vectors, weighted by `attention_in_spans`."""
    chosen = vectors.index_select(0, places.flatten()).unflatten(0, places.shape)
    return (weights[:, None, :] @ chosen).squeeze(1)


def _places(spans: Int[Tensor, "spans 2"]) -> tuple[Int[Tensor, "spans width"], Bool[Tensor, "spans width"]]:
    first, last = spans[:, :1], spans[:, 1:]
    width = int((last - first).amax()) + 1 if len(spans) else 0
    places = first + torch.arange(width, device=spans.device)
    inside = places <= last
    return torch.where(inside, places, first), inside
