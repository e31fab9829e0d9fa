"""Buckets: whole numbers -> few classes, small ones each by itself, large ones by powers of two.

With the defaults 0, 1, 2, 3, 4, 5-7, 8-15, 16-31, 32-63, 64 and more. Source: Clark and Manning 2016; Lee et al. 2017.
"""

import torch
from jaxtyping import Int
from torch import Tensor


def bucket(values: Int[Tensor, "*values"], *, num_single: int = 4, num_buckets: int = 10) -> Int[Tensor, "*values"]:
    """The bucket of each value, which is 0 or more. Values up to `num_single` have one of their own."""
    power = (values.clamp(min=1).to(torch.float64).log2() + 1e-12).floor().to(torch.int64)
    further = power + (num_single - 1)
    return torch.where(values <= num_single, values, further).clamp(max=num_buckets - 1)
