"""Training static vectors by gensim: a corpus -> words and vectors, of word2vec or fastText.

Source: Mikolov et al. 2013 (skip-gram, CBOW, negative sampling); Bojanowski et al. 2017 (n-grams).
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from elmo.process.extra_library import extra_library
from elmo.process.progress.report import Count, Progress, following
from elmo.setting_checks import require_setting
from elmo.shapes import Float32
from elmo.static.training.corpus import Corpus, count_words, require_neighbors
from elmo.static.training.settings import StaticSettings
from elmo.static.vectors import StaticVectors

_MOST_THREADS = 1024
# gensim leaves out all words of a sentence beyond this many, without a warning. Its learning rate falls by sentences.
_LONGEST = 10_000


@dataclass(frozen=True)
class TrainedVectors:
    """The result of a training."""

    static: StaticVectors
    num_sentences: int
    """Of more than 10,000 words, each 10,000 are one."""
    num_tokens: int
    """Of the words that have vectors."""
    seconds: float


def train_static_vectors(
    corpus: Corpus, settings: StaticSettings, *, workers: int = 1, progress: Progress | bool = False
) -> TrainedVectors:
    """Counts the words, and trains a vector for each that is frequent enough.

    `workers`: threads; with more than one the vectors differ from run to run. `progress`: receives the bytes that are
    read; True: bars on stderr. Raises MissingExtraError without gensim; TextError if no word is frequent enough, or
    none has another one in its sentence.
    """
    require_setting(1 <= workers <= _MOST_THREADS, "workers", workers, f"from 1 to {_MOST_THREADS}")
    gensim = extra_library("gensim.models", "static", f"training {settings.kind} vectors")  # before a long count
    begun = time.perf_counter()
    corpus.longest = _LONGEST
    corpus.lower_case = settings.lower_case
    with following(progress) as reported:
        counts, num_sentences = count_words(corpus, settings.min_count, settings.max_words, reported)
        require_neighbors(corpus, counts)
        vectors = _trained(gensim, corpus, counts, num_sentences, settings, workers, reported)
    static = StaticVectors(tuple(counts), vectors)
    return TrainedVectors(static, num_sentences, sum(counts.values()), time.perf_counter() - begun)


def _trained(
    models: Any,
    corpus: Corpus,
    counts: dict[str, int],
    num_sentences: int,
    settings: StaticSettings,
    workers: int,
    progress: Progress,
) -> Float32[np.ndarray, "words dim"]:
    """The words' vectors, in the order of `counts`, by gensim's `models`.

    Repeatable only with `workers=1`: with more, the order of the updates depends on the threads.
    """
    options: dict[str, Any] = {
        "vector_size": settings.dim,
        "window": settings.window,
        "sg": int(settings.architecture == "skipgram"),
        "negative": settings.negatives,
        "sample": settings.subsample,
        "alpha": settings.start_rate,
        "min_alpha": min(1e-4, settings.start_rate),
        "epochs": settings.epochs,
        "min_count": 1,
        "seed": settings.seed,
        "workers": workers,
    }
    if settings.kind == "fasttext":
        ngrams = {"min_n": settings.min_ngram, "max_n": settings.max_ngram, "bucket": settings.buckets}
        model = models.FastText(**options, **ngrams)
    else:
        model = models.Word2Vec(**options)
    model.build_vocab_from_freq(counts)
    read = Count(progress, "training", corpus.num_bytes * settings.epochs, "bytes")
    model.train(corpus_iterable=_Passes(corpus, read), total_examples=num_sentences, epochs=settings.epochs)
    rows = [model.wv.key_to_index[word] for word in counts]
    return np.asarray(model.wv.vectors[rows], dtype=np.float32)


class _Passes:
    """The corpus, as often as it is asked for."""

    def __init__(self, corpus: Corpus, read: Count) -> None:
        """`read`: counts the bytes of all passes."""
        self._corpus, self._read = corpus, read

    def __iter__(self) -> Iterator[list[str]]:
        return self._corpus.sentences(self._read.add)
