"""Each row of a batch in reverse, its padding left where it is: what the backward direction of an RNN reads."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


def reversed_places(mask: Bool[Tensor, "batch tokens"]) -> Int[Tensor, "batch tokens"]:
    """For each position, where its vector comes from: the last token first. `reorder` by it twice changes nothing.

    `mask`: true at the first tokens of each row.
    """
    places = torch.arange(mask.shape[1], device=mask.device).expand(len(mask), -1)
    return torch.where(mask, mask.sum(dim=1, keepdim=True) - 1 - places, places)


def reorder(
    vectors: Float[Tensor, "batch tokens dim"], places: Int[Tensor, "batch tokens"]
) -> Float[Tensor, "batch tokens dim"]:
    """Of each row the vectors at `places`."""
    return vectors.gather(1, places[:, :, None].expand(-1, -1, vectors.shape[2]))
