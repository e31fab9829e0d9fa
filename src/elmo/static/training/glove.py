"""GloVe: vectors whose products are the logarithms of co-occurrences. Source: Pennington et al. 2014; its `glove.c`.

Each word has a vector w and a bias b as the near word, and w', b' as the far one. Summed over all pairs (i, j):

    loss = 1/2 f(X_ij) (w_i . w'_j + b_i + b'_j - log X_ij)^2      f(x) = min(1, x / x_max) ** alpha

The steps are AdaGrad's, on the summed gradient of many pairs at once (the original takes one pair at a time), whose
squares start from 1 as there. A word's vector is w + w'.
"""

import numpy as np
import torch
from jaxtyping import Float, Float32, Int
from torch import Tensor

from elmo.errors import ConfigError
from elmo.process.progress.report import Count, Progress
from elmo.static.training.cooccurrences import CooccurrenceCounter, Cooccurrences
from elmo.static.training.corpus import Corpus
from elmo.static.training.settings import StaticSettings

_PAIRS_PER_STEP = 1 << 13


def count_cooccurrences(
    corpus: Corpus, counts: dict[str, int], settings: StaticSettings, progress: Progress
) -> Cooccurrences:
    """The pairs of `counts`' words in the corpus, numbered in that order."""
    ids = {word: number for number, word in enumerate(counts)}
    counter = CooccurrenceCounter(len(ids), settings.num_window)
    read = Count(progress, "counting pairs", corpus.num_bytes, "bytes")
    for sentence in corpus.sentences(read.add):
        counter.add(np.array([ids[word] for word in sentence if word in ids], dtype=np.int64))
    return counter.result()


def glove(
    pairs: Cooccurrences, num_words: int, settings: StaticSettings, progress: Progress
) -> Float32[np.ndarray, "words dim"]:
    """The words' vectors. Repeatable on the same machine with the same number of threads.

    Raises ConfigError if the training diverges.
    """
    random = np.random.default_rng(settings.seed)
    tables = GloveTables(num_words, settings, random)
    trained = Count(progress, "training", settings.num_epochs * len(pairs.counts), "pairs")
    for epoch in range(settings.num_epochs):
        order = random.permutation(len(pairs.counts))
        for start in range(0, len(order), _PAIRS_PER_STEP):
            chosen = order[start : start + _PAIRS_PER_STEP]
            first, second, counts = (
                torch.from_numpy(part[chosen]) for part in (pairs.first, pairs.second, pairs.counts)
            )
            loss = tables.step(first, second, counts)
            if not np.isfinite(loss):
                raise ConfigError(
                    f"the loss is {loss} in epoch {epoch + 1}: with a learning rate of {settings.start_rate} the "
                    "training diverges. Choose a smaller --learning-rate."
                )
            trained.add(len(chosen))
    return tables.vectors()


class GloveTables:
    """The parameters, and the sums of squared gradients. The last column is the bias."""

    def __init__(self, num_words: int, settings: StaticSettings, random: np.random.Generator) -> None:
        shape = (2, num_words, settings.dim + 1)
        self.settings = settings
        self.values: Float[Tensor, "2 words dim+1"] = torch.from_numpy(
            (random.random(shape, dtype=np.float32) - 0.5) / settings.dim
        )
        self.squares: Float[Tensor, "2 words dim+1"] = torch.ones(shape)

    def step(
        self, first: Int[Tensor, " pairs"], second: Int[Tensor, " pairs"], counts: Float[Tensor, " pairs"]
    ) -> float:
        """One step on some pairs of `Cooccurrences`, each seen from both its words; their mean loss before it."""
        mirrored = first != second
        near = torch.cat([first, second[mirrored]])
        far = torch.cat([second, first[mirrored]])
        counts = torch.cat([counts, counts[mirrored]])
        weights = (counts / self.settings.x_max).clamp(max=1).pow(self.settings.alpha).float()
        one, other = self.values[0][near], self.values[1][far]
        biases = one[:, -1] + other[:, -1]
        # With 1 in the bias's place, what is left is the factor that the other side's gradient has.
        one[:, -1] = 1
        other[:, -1] = 1
        misses = (one * other).sum(dim=1) - 1 + biases - counts.log().float()
        errors = weights * misses
        self._descend(0, near, other.mul_(errors[:, None]))
        self._descend(1, far, one.mul_(errors[:, None]))
        return (0.5 * errors * misses).mean().item()

    def vectors(self) -> Float32[np.ndarray, "words dim"]:
        """w + w' of each word."""
        return self.values.sum(dim=0)[:, :-1].numpy()

    def _descend(self, side: int, words: Int[Tensor, " pairs"], gradients: Float[Tensor, "pairs dim_and_bias"]) -> None:
        touched, places = torch.unique(words, return_inverse=True)
        summed = torch.zeros(len(touched), gradients.shape[1]).index_add_(0, places, gradients)
        squares = self.squares[side][touched].addcmul_(summed, summed)
        self.squares[side][touched] = squares
        self.values[side][touched] -= self.settings.start_rate * summed * squares.rsqrt()
