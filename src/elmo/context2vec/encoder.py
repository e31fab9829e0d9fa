"""Context2VecEncoder: a model of context2vec as an encoder of one layer, for analyses and tasks."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import torch

from elmo.context2vec.network import UNKNOWN_ID, Context2Vec
from elmo.shapes import Float
from elmo.weights.context2vec.read import Context2VecModel, read
from elmo.weights.fingerprint import fingerprint

_WINDOW, _BATCH_TOKENS = 512, 4096


class Context2VecEncoder:
    """One layer: the vector of a token's context. A token is looked up as it stands, then lower-cased.

    May be called from any thread.
    """

    num_layers, keep_boundaries = 1, False

    def __init__(self, model: Context2VecModel) -> None:
        self.words = model.words
        self.network = Context2Vec.from_model(model).eval().requires_grad_(False)
        self._rows = {word: row for row, word in enumerate(model.words)}
        self.model_hash = fingerprint(model.tensors)
        """SHA-256 over the weights."""

    @classmethod
    def load(cls, path: Path | str) -> "Context2VecEncoder":
        """A model by its NAME.params, or by the folder that `elmo context2vec` made. Raises WeightFileError."""
        return cls(read(path))

    @property
    def layer_dim(self) -> int:
        """Dimensions of a context."""
        return 2 * self.network.sizes.unit

    def embed_iter(self, sentences: Iterable[Sequence[str]]) -> Iterator[Float[np.ndarray, "1 tokens dim"]]:
        """Float32 (1, tokens, dim) for each sentence, in order."""
        window: list[Sequence[str]] = []
        for sentence in sentences:
            window.append(sentence)
            if len(window) == _WINDOW:
                yield from self._embedded(window)
                window = []
        yield from self._embedded(window)

    def _embedded(self, sentences: Sequence[Sequence[str]]) -> list[Float[np.ndarray, "1 tokens dim"]]:
        """In batches of equal length, so that no sentence is padded."""
        found = [np.zeros((1, 0, self.layer_dim), dtype=np.float32) for _ in sentences]
        by_length = defaultdict(list)
        for place, sentence in enumerate(sentences):
            by_length[len(sentence)].append(place)
        for length, places in by_length.items():
            if length:
                size = max(1, _BATCH_TOKENS // length)
                for batch in (places[start : start + size] for start in range(0, len(places), size)):
                    ids = torch.tensor([self._ids(sentences[place]) for place in batch])
                    for place, vectors in zip(batch, self.network(ids).numpy(), strict=True):
                        found[place] = vectors[None]
        return found

    def _ids(self, sentence: Sequence[str]) -> list[int]:
        return [self._rows.get(word, self._rows.get(word.lower(), UNKNOWN_ID)) for word in sentence]
