"""Sentences to vectors as it is written without further thought: what our embedding is compared with.

Every token of a padded batch goes through the whole char CNN and every row through every step: `elmo.reference`, a
batch at a time in torch. In float64 it is the yardstick of `precision.py`.
"""

import copy
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from elmo.model.bilm import BiLM
from elmo.ops.projected_lstm.reference import projected_lstm_reference


class PlainEmbedder:
    """A biLM's vectors by the plain operations, in float32 or float64."""

    def __init__(self, bilm: BiLM, dtype: torch.dtype = torch.float32) -> None:
        self.bilm = copy.deepcopy(bilm).to(dtype)

    @torch.no_grad()
    def embed(self, sentences: Sequence[Sequence[str]]) -> list[np.ndarray]:
        """As `Embedder.embed`, all in one padded batch: each (layers, tokens, dim)."""
        begin, end = self.bilm.token_map.boundary_tokens
        rows = [[begin, *sentence, end] for sentence in sentences]
        lengths = torch.tensor([len(row) for row in rows])
        tokens = [token for row in rows for token in [*row, *[end] * (int(lengths.max()) - len(row))]]
        vectors = self._token_vectors(tokens).view(len(rows), int(lengths.max()), -1)
        sides = [self._read(direction, vectors, lengths) for direction in self.bilm.config.directions]
        layers = torch.stack([torch.cat(parts, dim=2) for parts in zip(*sides, strict=True)])
        return [layers[:, i, 1 : len(row) - 1].numpy() for i, row in enumerate(rows)]

    def _token_vectors(self, tokens: Sequence[str]) -> Tensor:
        encoder, config = self.bilm.token_encoder, self.bilm.config
        ids = torch.from_numpy(self.bilm.token_map.ids(tokens).characters).long()
        characters = functional.embedding(ids, encoder.character_embedding).transpose(1, 2)
        filters = [functional.conv1d(characters, one.weight, one.bias) for one in encoder.convolutions]
        features = torch.cat([scores.amax(dim=2) for scores in filters], dim=1)
        features = torch.relu(features) if config.activation == "relu" else torch.tanh(features)
        for highway in encoder.highways:
            gate = torch.sigmoid(highway.gate(features))
            features = gate * torch.relu(highway.transform(features)) + (1 - gate) * features
        return encoder.projection(features) if config.token_projection else features

    def _read(self, direction: str, vectors: Tensor, lengths: Tensor) -> Iterator[Tensor]:
        lstm = getattr(self.bilm, f"{direction}_lstm")
        values = vectors if direction == "forward" else _turned(vectors, lengths)
        yield vectors
        for index, layer in enumerate(lstm.layers):
            weights, size = layer.weights, self.bilm.config.projection_size
            state = values.new_zeros(len(values), size), values.new_zeros(len(values), weights.cell_size)
            outputs = projected_lstm_reference(values, lengths, *state, weights, layer.settings)[0]
            values = outputs + values if lstm.skips(index) else outputs
            yield values if direction == "forward" else _turned(values, lengths)


def _turned(values: Tensor, lengths: Tensor) -> Tensor:
    parts = [torch.cat([row[:size].flip(0), row[size:]]) for row, size in zip(values, lengths.tolist(), strict=True)]
    return torch.stack(parts)
