"""Sentences -> layers, in batches of equal length: no sentence is padded, so none depends on its neighbors."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from elmo.embed.encoder import Sentence
from elmo.embed.windows import windows
from elmo.shapes import Float

_WINDOW, _BATCH_TOKENS = 512, 4096

Layers = Float[np.ndarray, "layers tokens dim"]
OfBatch = Callable[[Sequence[Sentence]], Float[np.ndarray, "batch layers tokens dim"]]


def in_equal_lengths(
    sentences: Iterable[Sentence], of_batch: OfBatch, *, num_layers: int, layer_dim: int
) -> Iterator[Layers]:
    """Float32 (layers, tokens, dim) for each sentence, in order; `of_batch` gives those of sentences of one length."""
    for window in windows(sentences, _WINDOW, None):
        found = [np.zeros((num_layers, 0, layer_dim), dtype=np.float32) for _ in window]
        for places in _batches(window):
            for place, layers in zip(places, of_batch([window[place] for place in places]), strict=True):
                found[place] = layers
        yield from found


def _batches(window: Sequence[Sentence]) -> Iterator[list[int]]:
    """Places of sentences of equal length; empty sentences are in none."""
    by_length = defaultdict(list)
    for place, sentence in enumerate(window):
        by_length[len(sentence)].append(place)
    for length, places in by_length.items():
        if length:
            size = max(1, _BATCH_TOKENS // length)
            yield from (places[start : start + size] for start in range(0, len(places), size))
