"""Averages of what several models of one task say; of a single model, what it says, bit for bit."""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor


def mean_of(found: Sequence[Float[Tensor, "*shape"]]) -> Float[Tensor, "*shape"]:
    """The mean of scores or probabilities."""
    return found[0] if len(found) == 1 else torch.stack(list(found)).mean(dim=0)


def log_mean_of(found: Sequence[Float[Tensor, "*shape"]]) -> Float[Tensor, "*shape"]:
    """The logarithm of the mean of probabilities, which are given and computed as logarithms."""
    if len(found) == 1:
        return found[0]
    return torch.stack(list(found)).logsumexp(dim=0) - math.log(len(found))
