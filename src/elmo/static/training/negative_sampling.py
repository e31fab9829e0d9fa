"""word2vec and fastText: vectors that tell true neighbors from random words, trained by gensim.

Source: Mikolov et al. 2013 (skip-gram, CBOW, negative sampling); Bojanowski et al. 2017 (n-grams).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from elmo.errors import MissingExtraError
from elmo.process.progress.report import Count, Progress
from elmo.shapes import Float32
from elmo.static.training.corpus import Corpus
from elmo.static.training.settings import StaticSettings

# gensim leaves out what is beyond this many words of a sentence, and says nothing.
_LONGEST = 10_000


def require_gensim(kind: str) -> Any:
    """gensim's models; MissingExtraError where it isn't installed."""
    try:
        import gensim.models
    except ImportError:
        raise MissingExtraError("gensim", "static", f"training {kind} vectors") from None
    return gensim.models


def negative_sampling(
    corpus: Corpus,
    counts: dict[str, int],
    num_sentences: int,
    settings: StaticSettings,
    workers: int,
    progress: Progress,
) -> Float32[np.ndarray, "words dim"]:
    """The words' vectors, in the order of `counts`.

    Repeatable only with `workers=1`: with more, the order of the updates depends on the threads.
    """
    models = require_gensim(settings.kind)
    options: dict[str, Any] = {
        "vector_size": settings.dim,
        "window": settings.num_window,
        "sg": int(settings.architecture == "skipgram"),
        "negative": settings.negatives,
        "sample": settings.subsample,
        "alpha": settings.start_rate,
        "min_alpha": min(1e-4, settings.start_rate),
        "epochs": settings.num_epochs,
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
    read = Count(progress, "training", corpus.num_bytes * settings.num_epochs, "bytes")
    # gensim counts words for the learning rate's fall; words without a vector are among those it reads.
    model.train(corpus_iterable=_Passes(corpus, read), total_examples=num_sentences, epochs=settings.num_epochs)
    rows = [model.wv.key_to_index[word] for word in counts]
    return np.asarray(model.wv.vectors[rows], dtype=np.float32)


class _Passes:
    """The corpus, as often as it is asked for."""

    def __init__(self, corpus: Corpus, read: Count) -> None:
        """`read`: counts the bytes of all passes."""
        self._corpus, self._read = corpus, read

    def __iter__(self) -> Iterator[list[str]]:
        for sentence in self._corpus.sentences(self._read.add):
            if len(sentence) <= _LONGEST:
                yield sentence
            else:
                yield from (sentence[start : start + _LONGEST] for start in range(0, len(sentence), _LONGEST))
