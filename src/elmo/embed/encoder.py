"""Encoder: what gives layers of vectors for tokenized sentences. `Embedder` is one; tasks and analyses take any.

`in_equal_lengths` helps to write others: no sentence is padded, so none depends on its neighbors.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from elmo.embed.windows import windows
from elmo.shapes import Float

Sentence = Sequence[str]

_WINDOW, _BATCH_TOKENS = 512, 4096


@runtime_checkable
class Encoder(Protocol):
    """Layers of vectors for tokenized sentences; the same sentence always has the same vectors."""

    @property
    def num_layers(self) -> int:
        """Layers of a token, 1 or more."""
        ...

    @property
    def layer_dim(self) -> int:
        """Dimensions of a layer's vector."""
        ...

    @property
    def model_hash(self) -> str:
        """A hexadecimal digest of 16 characters or more that differs for models with different vectors."""
        ...

    @property
    def keep_boundaries(self) -> bool:
        """Whether each sentence has a position more before its first token and behind its last one."""
        ...

    def embed_iter(self, sentences: Iterable[Sentence]) -> Iterator[Float[np.ndarray, "layers positions dim"]]:
        """Float32 vectors of each sentence, in order. Positions: its tokens, and two more with `keep_boundaries`."""
        ...


Layers = Float[np.ndarray, "layers tokens dim"]


def token_layers(encoder: Encoder, sentences: Iterable[Sentence]) -> Iterator[Layers]:
    """The vectors of the tokens alone, without boundaries."""
    edge = 1 if encoder.keep_boundaries else 0
    for layers in encoder.embed_iter(sentences):
        yield layers[:, edge : layers.shape[1] - edge]


OfBatch = Callable[[Sequence[Sentence]], Float[np.ndarray, "batch layers tokens dim"]]


def in_equal_lengths(
    sentences: Iterable[Sentence], of_batch: OfBatch, *, num_layers: int, layer_dim: int
) -> Iterator[Layers]:
    """Float32 (layers, tokens, dim) for each sentence, in order; `of_batch` computes sentences of one length."""
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
