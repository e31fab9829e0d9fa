"""GloVe: vectors whose products are the logarithms of co-occurrences. Source: Pennington et al. 2014; its `glove.c`.

Each word has a vector w and a bias b as the near word, and w', b' as the far one. Summed over all pairs (i, j):

    loss = 1/2 f(X_ij) (w_i . w'_j + b_i + b'_j - log X_ij)^2      f(x) = min(1, x / x_max) ** alpha

The steps are AdaGrad's, on the summed gradient of many pairs at once (the original takes one pair at a time), whose
squares start from 1 as there. A word's vector is w + w'.

Co-occurrences (section 4.2): a pair of words d words apart counts 1 / d. Words without a vector are taken out before,
as GloVe's own program does.
"""

import time
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Float32, Int
from torch import Tensor

from elmo.errors import ConfigError
from elmo.process.progress.report import Count, Progress, following
from elmo.process.torch_settings import training_torch
from elmo.static.training.corpus import Corpus, count_words, require_neighbors
from elmo.static.training.train import TrainedVectors
from elmo.static.vectors import StaticVectors
from elmo_paper.glove.settings import GloveSettings

_PAIRS_PER_STEP = 1 << 13
# Words counted at a time: ten pairs of 8 bytes each, sorted.
_CHUNK_WORDS = 1 << 20
# The low bits of a key hold the distance, so that a sort groups pairs and distances at once.
_DISTANCE_BITS = 6
MAX_WINDOW = (1 << _DISTANCE_BITS) - 1


@dataclass(frozen=True)
class Cooccurrences:
    """Pairs of words, each once, the first word not after the second."""

    first: Int[np.ndarray, " pairs"]
    second: Int[np.ndarray, " pairs"]
    counts: Float[np.ndarray, " pairs"]
    """float64: X[first, second], which is X[second, first]"""


class CooccurrenceCounter:
    """Counts sentence by sentence; it needs memory for the distinct pairs."""

    def __init__(self, num_words: int, window: int) -> None:
        self._num_words = num_words
        self._window = window
        self._waiting: list[Int[np.ndarray, " tokens"]] = []
        self._num_waiting = 0
        # Sorted runs, larger ones first; two of similar size are merged, so each pair moves a few times only.
        self._runs: list[tuple[Int[np.ndarray, " pairs"], Float[np.ndarray, " pairs"]]] = []

    def add(self, ids: Int[np.ndarray, " tokens"]) -> None:
        """A sentence. `ids`: words without a vector left out."""
        self._waiting.append(ids)
        self._num_waiting += len(ids)
        if self._num_waiting >= _CHUNK_WORDS:
            self._count_waiting()

    def result(self) -> Cooccurrences:
        """The counts so far."""
        self._count_waiting()
        while len(self._runs) > 1:
            self._merge_last()
        keys, counts = self._runs[0] if self._runs else (np.zeros(0, np.int64), np.zeros(0))
        first, second = np.divmod(keys, self._num_words)
        # A word near itself is seen from both sides.
        return Cooccurrences(first, second, np.where(first == second, 2 * counts, counts))

    def _count_waiting(self) -> None:
        if not self._waiting:
            return
        ids = np.concatenate(self._waiting)
        sentence = np.repeat(np.arange(len(self._waiting)), [len(part) for part in self._waiting])
        self._waiting, self._num_waiting = [], 0
        keys = np.concatenate([self._keys(ids, sentence, distance) for distance in range(1, self._window + 1)])
        keys.sort()
        starts = _starts(keys)
        times = np.diff(starts, append=len(keys))
        keys = keys[starts]
        weights = times / (keys & MAX_WINDOW)
        self._runs.append(_summed(keys >> _DISTANCE_BITS, weights))
        while len(self._runs) > 1 and 2 * len(self._runs[-1][0]) >= len(self._runs[-2][0]):
            self._merge_last()

    def _keys(
        self, ids: Int[np.ndarray, " tokens"], sentence: Int[np.ndarray, " tokens"], distance: int
    ) -> Int[np.ndarray, " pairs"]:
        left, right = ids[:-distance], ids[distance:]
        together = sentence[:-distance] == sentence[distance:]
        left, right = left[together], right[together]
        pairs = np.minimum(left, right) * self._num_words + np.maximum(left, right)
        return (pairs << _DISTANCE_BITS) | distance

    def _merge_last(self) -> None:
        (one, counts), (other, more) = self._runs.pop(), self._runs.pop()
        keys, weights = np.concatenate([other, one]), np.concatenate([more, counts])
        order = np.argsort(keys, kind="stable")
        self._runs.append(_summed(keys[order], weights[order]))


def _starts(keys: Int[np.ndarray, " keys"]) -> Int[np.ndarray, " starts"]:
    """Where each run of equal keys begins."""
    return np.flatnonzero(np.concatenate([np.ones(min(1, len(keys)), bool), keys[1:] != keys[:-1]]))


def _summed(
    keys: Int[np.ndarray, " keys"], weights: Float[np.ndarray, " keys"]
) -> tuple[Int[np.ndarray, " pairs"], Float[np.ndarray, " pairs"]]:
    starts = _starts(keys)
    return keys[starts], np.add.reduceat(weights, starts) if len(starts) else weights


def count_cooccurrences(
    corpus: Corpus, counts: dict[str, int], settings: GloveSettings, progress: Progress
) -> Cooccurrences:
    """The pairs of `counts`' words in the corpus, numbered in that order."""
    ids = {word: number for number, word in enumerate(counts)}
    counter = CooccurrenceCounter(len(ids), settings.window)
    read = Count(progress, "counting pairs", corpus.num_bytes, "bytes")
    for sentence in corpus.sentences(read.add):
        counter.add(np.array([ids[word] for word in sentence if word in ids], dtype=np.int64))
    return counter.result()


def train_glove(corpus: Corpus, settings: GloveSettings, *, progress: Progress | bool = False) -> TrainedVectors:
    """Counts the words and their pairs, and trains a vector for each word that is frequent enough.

    `progress`: receives the bytes that are read and the pairs that are trained on; True: bars on stderr. Raises
    TextError if no word is frequent enough, or none has another one in its sentence.
    """
    begun = time.perf_counter()
    corpus.lower_case = settings.lower_case
    with following(progress) as reported:
        counts, num_sentences = count_words(corpus, settings.min_count, settings.max_words, reported)
        require_neighbors(corpus, counts)
        vectors = glove(count_cooccurrences(corpus, counts, settings, reported), len(counts), settings, reported)
    static = StaticVectors(tuple(counts), vectors)
    return TrainedVectors(static, num_sentences, sum(counts.values()), time.perf_counter() - begun)


@training_torch()
def glove(
    pairs: Cooccurrences, num_words: int, settings: GloveSettings, progress: Progress
) -> Float32[np.ndarray, "words dim"]:
    """The words' vectors. Repeatable on the same machine with the same number of threads.

    Raises ConfigError if the training diverges.
    """
    random = np.random.default_rng(settings.seed)
    tables = GloveTables(num_words, settings, random)
    trained = Count(progress, "training", settings.epochs * len(pairs.counts), "pairs")
    for epoch in range(settings.epochs):
        order = random.permutation(len(pairs.counts))
        for start in range(0, len(order), _PAIRS_PER_STEP):
            chosen = order[start : start + _PAIRS_PER_STEP]
            first, second, counts = (
                torch.from_numpy(part[chosen]) for part in (pairs.first, pairs.second, pairs.counts)
            )
            loss = tables.step(first, second, counts)
            if not np.isfinite(loss):
                raise ConfigError(
                    f"the loss is {loss} in epoch {epoch + 1}: with a learning rate of {settings.learning_rate} the "
                    "training diverges. Choose a smaller --learning-rate."
                )
            trained.add(len(chosen))
    return tables.vectors()


class GloveTables:
    """The parameters, and the sums of squared gradients. The last column is the bias."""

    def __init__(self, num_words: int, settings: GloveSettings, random: np.random.Generator) -> None:
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
        # With 1 in the bias's place, each side is the factor of the other side's gradient.
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
        self.values[side][touched] -= self.settings.learning_rate * summed * squares.rsqrt()
