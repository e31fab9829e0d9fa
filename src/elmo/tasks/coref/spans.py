"""Spans: which are candidates, which are kept, and which span before each kept one means the same, if any.

Scores have one row per kept span and 1 + A columns: column 0 is the dummy antecedent ("none"), whose score is 0; column
1 + a is the a-th kept span before it, counted backwards from 0. Where there is none, the score is minus infinity.
Source: Lee et al. 2017, sections 3 to 5.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from elmo.ops.dropout import Dropout
from elmo.ops.product import trained_product
from elmo.tasks.coref.documents import Mention
from elmo.tasks.layers.linear import linear


def candidate_spans(sentence_lengths: Sequence[int], max_width: int) -> Int[Tensor, "spans 2"]:
    """All (first, last) tokens, both inclusive, of spans inside one sentence of at most `max_width` tokens; sorted."""
    lengths = np.asarray(sentence_lengths, dtype=np.int64)
    ends = np.repeat(np.cumsum(lengths), lengths)
    first = np.repeat(np.arange(len(ends))[:, None], max_width, axis=1)
    last = first + np.arange(max_width)
    inside = last < ends[:, None]
    return torch.from_numpy(np.stack([first[inside], last[inside]], axis=1))


def keep_best(spans: Int[Tensor, "spans 2"], scores: Float[Tensor, " spans"], count: int) -> Int[Tensor, " kept"]:
    """Indices of at most `count` spans, the best-scored ones, in the order of the spans.

    By falling score, equal scores in the order of the spans; one that crosses a span kept before is left out. Two
    spans cross if they overlap and neither contains the other.
    """
    order = scores.detach().sort(descending=True, stable=True).indices
    rows = spans.tolist()
    taken = _NonCrossing()
    kept: list[int] = []
    for number in order.tolist():
        if len(kept) == count:
            break
        if taken.add(*rows[number]):
            kept.append(number)
    return torch.tensor(sorted(kept), dtype=torch.int64, device=spans.device)


class _NonCrossing:
    """Spans of which no two cross; a question costs as many look-ups as the span has tokens."""

    def __init__(self) -> None:
        self._last_from: dict[int, int] = {}  # first token -> the last token of the longest span from there
        self._first_to: dict[int, int] = {}  # last token -> the first token of the longest span to there

    def add(self, first: int, last: int) -> bool:
        """Whether the span crosses none; it is then one of them."""
        for place in range(first, last + 1):
            if place > first and self._last_from.get(place, -1) > last:
                return False
            if place < last and self._first_to.get(place, first) < first:
                return False
        self._last_from[first] = max(last, self._last_from.get(first, -1))
        self._first_to[last] = min(first, self._first_to.get(last, first))
        return True


def antecedent_pairs(num_spans: int, max_antecedents: int) -> Int[Tensor, "pairs 2"]:
    """(span, antecedent) for every pair there is; pairs of one span are adjacent, its nearest antecedent first."""
    most = min(max_antecedents, max(num_spans - 1, 0))
    span = torch.arange(num_spans)[:, None].expand(-1, most)
    antecedent = span - 1 - torch.arange(most)
    exists = antecedent >= 0
    return torch.stack([span[exists], antecedent[exists]], dim=1)


def score_table(
    pairs: Int[Tensor, "pairs 2"], scores: Float[Tensor, " pairs"], num_spans: int
) -> Float[Tensor, "spans antecedents"]:
    """The scores of pairs as the table described above."""
    offset = pairs[:, 0] - pairs[:, 1]  # from 1 on: column 0 is the dummy's
    columns = 1 + (int(offset.max()) if len(pairs) else 0)
    table = scores.new_full((num_spans, columns), -torch.inf)
    table[:, 0] = 0
    return table.index_put((pairs[:, 0], offset), scores)


def gold_table(
    pairs: Int[Tensor, "pairs 2"], clusters: Int[Tensor, " spans"], columns: int
) -> Bool[Tensor, "spans antecedents"]:
    """True at the antecedents of a span's own cluster, or at the dummy if there is none.

    `clusters`: the number of each kept span's gold cluster; -1: it has none.
    """
    span, antecedent = pairs.unbind(dim=1)
    same = (clusters[span] == clusters[antecedent]) & (clusters[span] >= 0)
    table = torch.zeros(len(clusters), columns, dtype=torch.bool, device=clusters.device)
    table[span, span - antecedent] = same
    table[:, 0] = ~table.any(dim=1)
    return table


def antecedent_loss(
    scores: Float[Tensor, "spans antecedents"], gold: Bool[Tensor, "spans antecedents"]
) -> Float[Tensor, ""]:
    """Minus the log-probability of all gold antecedents together, summed over the spans."""
    return (scores.logsumexp(dim=1) - scores.masked_fill(~gold, -torch.inf).logsumexp(dim=1)).sum()


def clusters_of(spans: list[Mention], scores: Float[Tensor, "spans antecedents"]) -> list[list[Mention]]:
    """Every span joins the cluster of its best antecedent; the dummy wins ties, then the nearest one.

    In the order of their first mentions; there are no clusters of one.
    """
    found: list[list[Mention]] = []
    place: dict[int, int] = {}
    for number, column in enumerate(scores.argmax(dim=1).tolist()):
        if column == 0:
            continue
        antecedent = number - column
        if antecedent not in place:
            place[antecedent] = len(found)
            found.append([spans[antecedent]])
        place[number] = place[antecedent]
        found[place[number]].append(spans[number])
    return sorted((sorted(cluster) for cluster in found), key=lambda cluster: cluster[0])


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
