"""Local inference: each token of a sentence compared with what it is aligned to in another sentence.

Source: Chen et al. 2017, "Enhanced LSTM for Natural Language Inference" (ESIM), sections 3.2 and 3.3.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from elmo.tasks.layers.attention import attend


def compare(
    own: Float[Tensor, "batch own_tokens dim"],
    other: Float[Tensor, "batch other_tokens dim"],
    other_mask: Bool[Tensor, "batch other_tokens"],
) -> Float[Tensor, "batch own_tokens dim*4"]:
    """[a ; a~ ; a - a~ ; a * a~] of every token a.

    a~ is the mean of the other sentence's tokens, weighted by the softmax of their products with a; zeros if the other
    sentence has no token.
    """
    aligned = attend(own, other, other_mask)
    return torch.cat([own, aligned, own - aligned, own * aligned], dim=2)


def mean_and_max(
    vectors: Float[Tensor, "batch tokens dim"], mask: Bool[Tensor, "batch tokens"]
) -> Float[Tensor, "batch dim*2"]:
    """Mean and maximum over the tokens, side by side; zeros for a sentence without a token. Padding is ignored."""
    batch, tokens, dim = vectors.shape
    if tokens == 0:
        return vectors.new_zeros(batch, 2 * dim)
    here = mask[:, :, None]
    mean = torch.where(here, vectors, 0).sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp(min=1)
    largest = vectors.masked_fill(~here, torch.finfo(vectors.dtype).min).amax(dim=1)
    return torch.cat([mean, torch.where(mask.any(dim=1, keepdim=True), largest, 0)], dim=1)
