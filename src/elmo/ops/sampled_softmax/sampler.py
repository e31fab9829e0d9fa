"""Negatives for the sampled softmax.

Source: TensorFlow 1's `log_uniform_candidate_sampler` (unique=True) as described in the specification, 6.3:

    p(c) = ln((c + 2) / (c + 1)) / ln(V + 1)         c: vocabulary id = frequency rank from 0
    draw c = floor(exp(u ln(V + 1))) - 1 until `num_samples` distinct ids are there; T: number of draws made
    Q(c) = 1 - (1 - p(c))^T                          the chance that c is among them
"""

import math
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from elmo.errors import ConfigError


class NegativeSample(NamedTuple):
    """Distinct vocabulary ids, and how many draws it took to find them."""

    ids: Int[Tensor, " samples"]
    num_draws: int


class LogUniformSampler:
    """Draws distinct ids, the frequent ones more often. Its only state is the generator given to `draw`."""

    def __init__(self, vocabulary_size: int, num_samples: int) -> None:
        if not 1 <= num_samples <= vocabulary_size:
            raise ConfigError(
                f"num_negative_samples is {num_samples}, but must be from 1 to the vocabulary's size "
                f"({vocabulary_size}): the negatives of a step are distinct words."
            )
        self.vocabulary_size = vocabulary_size
        self.num_samples = num_samples

    def draw(self, generator: np.random.Generator) -> NegativeSample:
        """The first `num_samples` distinct ids of an endless sequence of draws."""
        draws = np.empty(0, dtype=np.int64)
        while True:
            draws = np.concatenate([draws, self._draws(generator, 2 * self.num_samples)])
            distinct, first_seen = np.unique(draws, return_index=True)
            if len(distinct) >= self.num_samples:
                kept = np.argsort(first_seen, kind="stable")[: self.num_samples]
                num_draws = int(first_seen[kept[-1]]) + 1
                return NegativeSample(torch.from_numpy(np.sort(distinct[kept])), num_draws)

    def _draws(self, generator: np.random.Generator, count: int) -> np.ndarray:
        values = np.exp(generator.random(count) * math.log(self.vocabulary_size + 1)).astype(np.int64) - 1
        return np.clip(values, 0, self.vocabulary_size - 1)  # rounding can reach V itself

    def log_chance(self, ids: Int[Tensor, "*shape"], num_draws: int) -> Float[Tensor, "*shape"]:
        """ln Q(c): the log of the chance that each id is among the negatives."""
        rank = ids.double()
        p = torch.log((rank + 2) / (rank + 1)) / math.log(self.vocabulary_size + 1)
        return torch.log(-torch.expm1(num_draws * torch.log1p(-p))).float()
