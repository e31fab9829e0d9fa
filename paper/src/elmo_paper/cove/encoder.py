"""CoVe (McCann et al. 2017), a comparison system: static vectors -> the layers of a translation encoder.

Source: McCann et al. 2017, section 3; salesforce/cove, `cove/encoder.py`; docs/specification-tasks.md, 9.3.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import nn

from elmo.embed.encoder import in_equal_lengths
from elmo.errors import WeightFileError
from elmo.process.device import chosen_device
from elmo.process.torch_settings import usual_torch
from elmo.shapes import Float
from elmo.static.vectors import StaticVectors, read_static_vectors
from elmo.weights.fingerprint import fingerprint
from elmo_paper.cove.files import NUM_LAYERS, CoVeModel, files_of, read


class CoVeEncoder:
    """Two layers, [forward ; backward] each; the upper one is what the paper calls CoVe.

    A token is looked up in lower case, like the text that it was trained on; a word without a vector is zero. May be
    called from any thread.
    """

    num_layers, keep_boundaries = NUM_LAYERS, False
    lowest_layer = 1
    """Its number in tables, as in the paper's: layer 0 would be the word vectors alone."""

    def __init__(
        self, model: CoVeModel, vectors: StaticVectors, *, device: str = "cpu", source: str = "the word vectors"
    ) -> None:
        """`vectors`: those that the LSTM was trained on, GloVe's of 840 billion tokens for the published one. Others
        of the same width give vectors without meaning, which nothing here can notice. `source`: what messages call
        them. Raises WeightFileError for another width."""
        if vectors.dim != model.word_dim:
            raise WeightFileError(
                f"the word vectors have {vectors.dim} dimensions, but CoVe's LSTM reads {model.word_dim}: they aren't "
                "those that it was trained on. The published weights belong to glove.840B.300d.txt."
            )
        self.static, self.source = vectors, source
        self.device = chosen_device(device)
        with usual_torch():
            self.layers = nn.ModuleList(_layer(model, number) for number in range(NUM_LAYERS)).to(self.device)
        self.layer_dim = 2 * model.cells
        """Dimensions of a layer's vector."""
        self.model_hash = fingerprint({**model.tensors, "vectors": vectors.vectors}, vectors.words)
        """SHA-256 over the weights, the word vectors and the words."""

    @classmethod
    def load(cls, folder: Path | str, *, device: str = "cpu") -> "CoVeEncoder":
        """The model of a folder with the weights and the word vectors. Raises WeightFileError, or TextError for the
        vectors' file."""
        weights, vectors = files_of(folder)
        return cls(read(weights), read_static_vectors(vectors), device=device, source=str(vectors))

    def embed_iter(self, sentences: Iterable[Sequence[str]]) -> Iterator[Float[np.ndarray, "2 tokens dim"]]:
        """Float32 (2, tokens, dim) for each sentence, in order."""
        return in_equal_lengths(sentences, self._states, num_layers=NUM_LAYERS, layer_dim=self.layer_dim)

    @usual_torch()
    @torch.no_grad()
    def _states(self, sentences: Sequence[Sequence[str]]) -> Float[np.ndarray, "batch 2 tokens dim"]:
        words = [self.static.lookup([token.lower() for token in sentence]) for sentence in sentences]
        read, found = torch.from_numpy(np.stack(words)).to(self.device), []
        for layer in self.layers:
            read, _ = layer(read)
            found.append(read)
        return torch.stack(found, dim=1).cpu().numpy()


def _layer(model: CoVeModel, number: int) -> nn.LSTM:
    """One bidirectional layer, whose tensors torch calls `_l0`, apart from the other, so that both can be seen."""
    input_dim = 2 * model.cells if number else model.word_dim
    lstm = nn.LSTM(input_dim, model.cells, batch_first=True, bidirectional=True, dtype=torch.float32)
    own = {name: model.tensors[name.replace("_l0", f"_l{number}")] for name in lstm.state_dict()}
    lstm.load_state_dict({name: torch.tensor(tensor) for name, tensor in own.items()})
    return lstm.eval().requires_grad_(False)
