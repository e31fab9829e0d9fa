"""Viterbi: the sequence of tags with the highest sum of scores. Source: Viterbi 1967.

score(tags) = starts[first] + sum of emissions[token, tag] + sum of transitions[tag, next tag] + ends[last]
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor


@torch.no_grad()
def best_sequences(
    emissions: Float[Tensor, "batch tokens tags"],
    mask: Bool[Tensor, "batch tokens"],
    transitions: Float[Tensor, "tags tags"],
    starts: Float[Tensor, " tags"],
    ends: Float[Tensor, " tags"],
) -> list[list[int]]:
    """The best tags of each row.

    `mask`: true at the first tokens of each row; a row may be empty. Scores of minus infinity forbid a
    move, a first or a last tag.
    """
    batch, tokens, num_tags = emissions.shape
    if batch == 0 or tokens == 0:
        return [[] for _ in range(batch)]
    totals, into = [emissions[:, 0] + starts], transitions.T.contiguous()
    for place in range(1, tokens):
        best = (totals[-1][:, None] + into).amax(dim=2)
        totals.append(torch.where(mask[:, place, None], best + emissions[:, place], totals[-1]))
    path = [(totals[-1] + ends).argmax(dim=1)]
    # Where each best score came from is asked along the best path alone.
    for place in range(tokens - 1, 0, -1):
        before = (totals[place - 1] + into[path[-1]]).argmax(dim=1)
        path.append(torch.where(mask[:, place], before, path[-1]))
    rows = torch.stack(path[::-1], dim=1).tolist()
    return [row[:length] for row, length in zip(rows, mask.sum(dim=1).tolist(), strict=True)]


def forbidden(allowed: Bool[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """Scores for moves or tags: 0 where `allowed` is true, else minus infinity."""
    return torch.zeros(allowed.shape, device=allowed.device).masked_fill(~allowed, -torch.inf)
