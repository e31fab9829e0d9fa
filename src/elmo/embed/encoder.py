"""Encoder: what gives layers of vectors for tokenized sentences. `Embedder` is one; tasks and analyses take any."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from elmo.shapes import Float

Sentence = Sequence[str]


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
