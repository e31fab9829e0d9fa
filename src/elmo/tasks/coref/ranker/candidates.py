"""Candidate spans, and which of them are kept: the best-scored ones that don't cross each other.

Two spans cross if they overlap and neither contains the other. Source: Lee et al. 2017, section 4.
"""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor


def candidate_spans(sentence_lengths: Sequence[int], max_width: int) -> Int[Tensor, "spans 2"]:
    """All (first, last) tokens, both inclusive, of spans inside one sentence of at most `max_width` tokens; sorted."""
    lengths = np.asarray(sentence_lengths, dtype=np.int64)
    ends = np.repeat(np.cumsum(lengths), lengths)
    first = np.repeat(np.arange(len(ends))[:, None], max_width, axis=1)
    last = first + np.arange(max_width)
    inside = last < ends[:, None]
    return torch.from_numpy(np.stack([first[inside], last[inside]], axis=1))


def keep_best(
    spans: Int[Tensor, "spans 2"], scores: Float[Tensor, " spans"], count: int, *, may_cross: bool = False
) -> Int[Tensor, " kept"]:
    """Indices of at most `count` spans, in the order of the spans.

    By falling score, equal scores in the order of the spans; one that crosses a span kept before is left out, unless
    they `may_cross`.
    """
    order = scores.detach().sort(descending=True, stable=True).indices
    if may_cross:
        return order[:count].sort().values
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
