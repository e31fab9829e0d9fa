"""Windows: a part of a long document to train on, another one in each step. Source: Lee et al. 2017, section 6."""

import numpy as np

from elmo.tasks.coref.documents import Document, WindowLimits


def random_window(document: Document, limits: WindowLimits, random: np.random.Generator) -> Document:
    """Sentences in a row within the limits, or the whole document if it has no more.

    A sentence that is longer than the limit by itself is cut to its beginning.
    """
    num_sentences = len(document.sentences)
    most_sentences, most_tokens = limits.sentences or num_sentences, limits.tokens or document.num_tokens
    if num_sentences <= most_sentences and document.num_tokens <= most_tokens:
        return document
    count = min(most_sentences, num_sentences)
    window = document.window(int(random.integers(num_sentences - count + 1)), count)
    # Sentences are dropped at either end, so that those at the document's ends are not seen less often.
    while window.num_tokens > most_tokens and len(window.sentences) > 1:
        window = window.window(int(random.integers(2)), len(window.sentences) - 1)
    return window if window.num_tokens <= most_tokens else _cut(window, most_tokens)


def _cut(window: Document, num_tokens: int) -> Document:
    """The beginning of a document of one sentence."""
    inside = (tuple(mention for mention in cluster if mention[1] < num_tokens) for cluster in window.clusters)
    return Document(
        window.key,
        (window.sentences[0][:num_tokens],),
        window.speakers[:num_tokens],
        tuple(cluster for cluster in inside if cluster),
        source=window.source,
    )
