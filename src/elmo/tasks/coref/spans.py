"""Spans: which are candidates, which are kept, and which span before each kept one means the same, if any.

Scores have one row per kept span and 1 + A columns: column 0 is the dummy antecedent ("none"), whose score is 0; column
1 + a is the a-th kept span before it, counted backwards from 0. Where there is none, the score is minus infinity.
Source: Lee et al. 2017, sections 3 to 5.
"""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from elmo.tasks.coref.documents import Mention


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
