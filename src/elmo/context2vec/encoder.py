"""Context2VecEncoder: a model of context2vec as an encoder of one layer, for analyses and tasks."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import torch

from elmo.context2vec.network import UNKNOWN_ID, Context2Vec
from elmo.embed.encoder import in_equal_lengths
from elmo.process.device import chosen_device
from elmo.shapes import Float
from elmo.weights.context2vec import Context2VecModel, read
from elmo.weights.fingerprint import fingerprint


class Context2VecEncoder:
    """One layer: the vector of a token's context. A token is looked up as it stands, then lower-cased.

    May be called from any thread.
    """

    num_layers, keep_boundaries = 1, False

    def __init__(self, model: Context2VecModel, *, device: str = "cpu") -> None:
        self.words = model.words
        self.device = chosen_device(device)
        self.network = Context2Vec.from_model(model).eval().requires_grad_(False).to(self.device)
        self._rows = {word: row for row, word in enumerate(model.words)}
        self.model_hash = fingerprint(model.tensors, model.words)
        """SHA-256 over the weights and the words."""

    @classmethod
    def load(cls, path: Path | str, *, device: str = "cpu") -> "Context2VecEncoder":
        """A model by its NAME.params, or by the folder that `elmo context2vec` made. Raises WeightFileError."""
        return cls(read(path), device=device)

    @property
    def layer_dim(self) -> int:
        """Dimensions of a context."""
        return 2 * self.network.sizes.unit

    def embed_iter(self, sentences: Iterable[Sequence[str]]) -> Iterator[Float[np.ndarray, "1 tokens dim"]]:
        """Float32 (1, tokens, dim) for each sentence, in order."""
        return in_equal_lengths(sentences, self._contexts, num_layers=1, layer_dim=self.layer_dim)

    def _contexts(self, sentences: Sequence[Sequence[str]]) -> Float[np.ndarray, "batch 1 tokens dim"]:
        ids = torch.tensor([self._ids(sentence) for sentence in sentences], device=self.device)
        return self.network(ids)[:, None].cpu().numpy()

    def _ids(self, sentence: Sequence[str]) -> list[int]:
        return [self._rows.get(word, self._rows.get(word.lower(), UNKNOWN_ID)) for word in sentence]
