"""Negatives for the sampled softmax.

Source: TensorFlow 1's `log_uniform_candidate_sampler` (unique=True); docs/specification.md, 6.3:

    p(c) = ln((c + 2) / (c + 1)) / ln(V + 1)         c: vocabulary id = frequency rank from 0
    draw c = floor(exp(u ln(V + 1))) - 1 until `num_samples` distinct ids are there; T: number of draws made
    Q(c) = 1 - (1 - p(c))^T                          the probability that c is among them
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
        """The first `num_samples` distinct ids of an endless sequence of draws.

        The work is proportional to the draws, each of which is sorted once: with as many samples as words, the last
        ones take V ln(V)^2 draws or so.
        """
        size = 2 * self.num_samples
        is_seen = np.zeros(self.vocabulary_size, dtype=bool)
        missing, num_draws = self.num_samples, 0
        while True:
            distinct, first = np.unique(self._draws(generator, size), return_index=True)
            is_new = ~is_seen[distinct]
            distinct, first = distinct[is_new], first[is_new]
            if len(distinct) >= missing:
                kept = np.argsort(first, kind="stable")[:missing]
                is_seen[distinct[kept]] = True
                ids = torch.from_numpy(np.flatnonzero(is_seen))
                return NegativeSample(ids, num_draws + int(first[kept[-1]]) + 1)
            is_seen[distinct] = True
            missing -= len(distinct)
            num_draws += size

    def _draws(self, generator: np.random.Generator, count: int) -> Int[np.ndarray, " draws"]:
        values = np.exp(generator.random(count) * math.log(self.vocabulary_size + 1)).astype(np.int64) - 1
        return np.clip(values, 0, self.vocabulary_size - 1)  # rounding can reach V itself

    def log_probability(self, ids: Int[Tensor, "*shape"], num_draws: int) -> Float[Tensor, "*shape"]:
        """ln Q(c): the log of the probability that each id is among the negatives."""
        rank = ids.double()
        p = torch.log((rank + 2) / (rank + 1)) / math.log(self.vocabulary_size + 1)
        return torch.log(-torch.expm1(num_draws * torch.log1p(-p))).float()
