"""MSSG (Neelakantan et al. 2014), a comparison system: static vectors of a word's senses, which its context chooses.

Source: Neelakantan et al. 2014; docs/specification-tasks.md, 9.4.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from elmo.shapes import Float
from elmo.weights.fingerprint import fingerprint
from elmo_paper.mssg.senses import SenseVectors, read_sense_vectors


class MSSGEncoder:
    """Two layers: the vector of the sense whose centroid is nearest to the context, zeros for an unknown word; and the
    context itself, which is the mean of the global vectors of the words around.

    May be called from any thread.
    """

    num_layers, keep_boundaries = 2, False

    def __init__(self, senses: SenseVectors, window: int | None = None, *, source: str = "the sense vectors") -> None:
        """`window`: known words to each side that are the context; None: as many as in training. `source`: what
        messages call the vectors."""
        self.senses, self.window, self.source = senses, senses.window if window is None else window, source
        self.static = senses.static
        """The global vectors."""
        self.layer_dim = senses.static.dim
        """Dimensions of a vector."""
        arrays = {"global": self.static.vectors, "senses": senses.vectors, "bounds": senses.bounds}
        arrays |= {} if senses.centroids is None else {"centroids": senses.centroids}
        self.model_hash = fingerprint({**arrays, "window": np.array(self.window)}, self.static.words)
        """SHA-256 over all vectors, the words and the window."""

    @classmethod
    def load(cls, path: Path | str, *, device: str = "cpu") -> "MSSGEncoder":
        """The vectors of a file, as 'elmo-paper mssg' writes it. `device`: it computes on the CPU alone. Raises
        TextError."""
        return cls(read_sense_vectors(path), source=str(path))

    def embed_iter(self, sentences: Iterable[Sequence[str]]) -> Iterator[Float[np.ndarray, "2 tokens dim"]]:
        """Float32 (2, tokens, dim) for each sentence, in order."""
        for sentence in sentences:
            contexts = self.senses.contexts(sentence, self.window)
            rows = self.senses.chosen(sentence, contexts)
            own = np.zeros_like(contexts)
            own[rows >= 0] = self.senses.vectors[rows[rows >= 0]]
            yield np.stack([own, contexts])
