"""The best span: which start and end have the highest sum of logits, with the end not before the start.

Over all pairs i <= j < i + limit: argmax of start[i] + end[j]. Ties: the shorter span, then the one that starts first.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


def best_spans(
    start: Float[Tensor, "batch tokens"],
    end: Float[Tensor, "batch tokens"],
    mask: Bool[Tensor, "batch tokens"],
    max_tokens: int,
) -> Int[Tensor, "batch 2"]:
    """(first, last) token of the best span of at most `max_tokens` tokens, both inclusive.

    `mask`: True at a token; every row needs one. The time grows with tokens times `max_tokens`, not with their square.
    """
    start = start.masked_fill(~mask, -torch.inf)
    end = end.masked_fill(~mask, -torch.inf)
    tokens = start.shape[1]
    best, found = torch.full_like(start[:, 0], -torch.inf), start.new_zeros(len(start), 2, dtype=torch.int64)
    for further in range(min(max_tokens, tokens)):  # shorter spans first, so that a tie keeps them
        score, first = (start[:, : tokens - further] + end[:, further:]).max(dim=1)
        better = score > best
        best = torch.where(better, score, best)
        span = torch.stack([first, first + further], dim=1)
        found = torch.where(better[:, None], span, found)
    return found
