"""CRF: a linear-chain conditional random field over tags, and the best allowed sequence of tags.

score(tags) = sum of emissions[token, tag] + sum of transitions[tag, next tag]
log-likelihood = score(gold tags) - log sum over all sequences of exp(score)

There are no scores for beginning and end, and training counts every sequence; the tag scheme matters only
when the best sequence is searched. Source: Lafferty et al. 2001; specification 7.6.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn


@torch.no_grad()
def best_sequences(
    emissions: Float[Tensor, "batch tokens tags"],
    mask: Bool[Tensor, "batch tokens"],
    transitions: Float[Tensor, "tags tags"],
    starts: Float[Tensor, " tags"],
    ends: Float[Tensor, " tags"],
) -> list[list[int]]:
    """The best tags of each row (Viterbi 1967).

    score(tags) = starts[first] + sum of emissions[token, tag] + sum of transitions[tag, next tag] + ends[last]

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


class CRF(nn.Module):
    """Scores of tag sequences. Rows of every batch have their tokens first; a row may be empty."""

    allowed: Bool[Tensor, "tags tags"]
    begins: Bool[Tensor, " tags"]
    ends: Bool[Tensor, " tags"]

    def __init__(
        self,
        allowed: Bool[Tensor, "tags tags"],
        begins: Bool[Tensor, " tags"],
        ends: Bool[Tensor, " tags"],
    ) -> None:
        """`allowed[i, j]`: whether tag j may follow tag i; `begins`, `ends`: which may be first and last."""
        super().__init__()
        num_tags = len(allowed)
        self.transitions = nn.Parameter(torch.empty(num_tags, num_tags))
        nn.init.xavier_normal_(self.transitions)
        self.register_buffer("allowed", allowed, persistent=False)
        self.register_buffer("begins", begins, persistent=False)
        self.register_buffer("ends", ends, persistent=False)

    def log_likelihood(
        self,
        emissions: Float[Tensor, "batch tokens tags"],
        tags: Int[Tensor, "batch tokens"],
        mask: Bool[Tensor, "batch tokens"],
    ) -> Float[Tensor, " batch"]:
        """Of each row's tags; 0 for an empty row. Padding has no effect."""
        emissions = torch.where(mask[:, :, None], emissions, 0)
        tags = torch.where(mask, tags, 0)
        return self._score(emissions, tags, mask) - self._log_partition(emissions, mask)

    def _score(
        self,
        emissions: Float[Tensor, "batch tokens tags"],
        tags: Int[Tensor, "batch tokens"],
        mask: Bool[Tensor, "batch tokens"],
    ) -> Float[Tensor, " batch"]:
        of_tokens = emissions.gather(2, tags[:, :, None]).squeeze(2)
        of_steps = torch.where(mask[:, 1:], self.transitions[tags[:, :-1], tags[:, 1:]], 0)
        return torch.where(mask, of_tokens, 0).sum(dim=1) + of_steps.sum(dim=1)

    def _log_partition(
        self, emissions: Float[Tensor, "batch tokens tags"], mask: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, " batch"]:
        if emissions.shape[1] == 0:
            return emissions.new_zeros(len(emissions))
        total, *others = emissions.unbind(dim=1)  # one gradient for all steps, where slices would have one each
        for place, emission in enumerate(others, start=1):
            further = torch.logsumexp(total[:, :, None] + self.transitions, dim=1) + emission
            total = torch.where(mask[:, place, None], further, total)
        return torch.where(mask[:, 0], torch.logsumexp(total, dim=1), 0)

    @torch.no_grad()
    def decode(
        self,
        emissions: Float[Tensor, "batch tokens tags"],
        mask: Bool[Tensor, "batch tokens"],
        transitions: Float[Tensor, "tags tags"],
    ) -> list[list[int]]:
        """The allowed sequence of the highest score for each row (Viterbi). `transitions`: its own, or an average."""
        moves = transitions + forbidden(self.allowed)
        return best_sequences(emissions, mask, moves, forbidden(self.begins), forbidden(self.ends))
