"""Training static vectors: a corpus -> words and vectors."""

import time
from dataclasses import dataclass

import numpy as np

from elmo.errors import ConfigError
from elmo.static.training.corpus import Corpus, OnProgress, count_words
from elmo.static.training.negative_sampling import negative_sampling, require_gensim
from elmo.static.training.settings import StaticSettings
from elmo.static.vectors import StaticVectors

_MOST_THREADS = 1024


@dataclass(frozen=True)
class TrainedVectors:
    """The result of a training."""

    static: StaticVectors
    num_sentences: int
    num_tokens: int
    """Of the words that have vectors."""
    seconds: float


def train_static_vectors(
    corpus: Corpus, settings: StaticSettings, *, workers: int = 1, on_progress: OnProgress | None = None
) -> TrainedVectors:
    """Counts the words, and trains a vector for each that is frequent enough.

    `workers`: threads of word2vec and fasttext; with more than one the vectors differ from run to run.
    Raises MissingExtraError without gensim (word2vec, fasttext); TextError if no word is frequent enough.
    """
    if not 1 <= workers <= _MOST_THREADS:
        raise ConfigError(f"workers is {workers}, but must be from 1 to {_MOST_THREADS}. Change it or leave it out.")
    if settings.kind != "glove":
        require_gensim(settings.kind)  # before a long count
    begun = time.perf_counter()
    tell = on_progress or _ignore
    corpus.lower_case = settings.lower_case
    counts, num_sentences = count_words(corpus, settings.min_count, settings.max_words, tell)
    if settings.kind == "glove":
        vectors = _glove(corpus, counts, settings, tell)
    else:
        vectors = negative_sampling(corpus, counts, num_sentences, settings, workers, tell)
    if not np.isfinite(vectors).all():
        raise ConfigError(
            f"some vectors are not finite: with a learning rate of {settings.start_rate} the training diverges. "
            "Choose a smaller --learning-rate."
        )
    static = StaticVectors(tuple(counts), vectors)
    return TrainedVectors(static, num_sentences, sum(counts.values()), time.perf_counter() - begun)


def _glove(corpus: Corpus, counts: dict[str, int], settings: StaticSettings, tell: OnProgress) -> np.ndarray:
    # Here, since the others need no torch.
    from elmo.static.training.glove import count_cooccurrences, glove

    return glove(count_cooccurrences(corpus, counts, settings, tell), len(counts), settings, tell)


def _ignore(what: str, done: int, total: int) -> None:
    pass
