"""Training static vectors: a corpus -> words and vectors."""

import time
from collections.abc import Container
from dataclasses import dataclass

import numpy as np

from elmo.errors import ConfigError, TextError
from elmo.process.progress.report import Progress, following
from elmo.setting_checks import require_setting
from elmo.shapes import Float32
from elmo.static.training.corpus import Corpus, count_words
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
    corpus: Corpus, settings: StaticSettings, *, workers: int = 1, progress: Progress | bool = False
) -> TrainedVectors:
    """Counts the words, and trains a vector for each that is frequent enough.

    `workers`: threads of word2vec and fasttext; with more than one the vectors differ from run to run.
    `progress`: receives the bytes that are read and, for GloVe, the pairs that are trained on; True: bars on stderr.
    Raises MissingExtraError without gensim (word2vec, fasttext); TextError if no word is frequent enough, or none has
    another one in its sentence.
    """
    require_setting(1 <= workers <= _MOST_THREADS, "workers", workers, f"from 1 to {_MOST_THREADS}")
    if settings.kind != "glove":
        require_gensim(settings.kind)  # before a long count
    begun = time.perf_counter()
    corpus.lower_case = settings.lower_case
    with following(progress) as reported:
        counts, num_sentences = count_words(corpus, settings.min_count, settings.max_words, reported)
        _require_neighbors(corpus, counts)
        if settings.kind == "glove":
            vectors = _glove(corpus, counts, settings, reported)
        else:
            vectors = negative_sampling(corpus, counts, num_sentences, settings, workers, reported)
    if not np.isfinite(vectors).all():
        raise ConfigError(
            f"some vectors are not finite: with a learning rate of {settings.start_rate} the training diverges. "
            "Choose a smaller --learning-rate."
        )
    static = StaticVectors(tuple(counts), vectors)
    return TrainedVectors(static, num_sentences, sum(counts.values()), time.perf_counter() - begun)


def _require_neighbors(corpus: Corpus, counts: Container[str]) -> None:
    """Reads as far as the first sentence from which something is learned, which is seldom far."""
    for sentence in corpus.sentences():
        if sum(word in counts for word in sentence) > 1:
            return
    raise TextError(
        f"{corpus.texts[0]}: no sentence has two words that get vectors, so no word has a neighbor to learn from and "
        "the vectors would stay the random ones that they begin with. Give text with a whole sentence per line, or "
        "lower --min-count."
    )


def _glove(
    corpus: Corpus, counts: dict[str, int], settings: StaticSettings, progress: Progress
) -> Float32[np.ndarray, "words dim"]:
    # Here, since the others need no torch.
    from elmo.static.training.glove import count_cooccurrences, glove

    return glove(count_cooccurrences(corpus, counts, settings, progress), len(counts), settings, progress)
