"""LiveLayers: the layers of a biLM whose own weights are trained with the task."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from elmo.model.bilm import BiLM, BiLMOutput
from elmo.text.batches import number_tokens, pad


class LiveLayers(nn.Module):
    """Sentences -> all layers, with gradients to every weight of the biLM."""

    def __init__(self, bilm: BiLM) -> None:
        super().__init__()
        self.bilm = bilm.requires_grad_(True)

    def forward(self, sentences: Sequence[Sequence[str]]) -> BiLMOutput:
        """Boundaries included; each distinct token is encoded once."""
        bilm = self.bilm
        distinct, places = number_tokens([list(sentence) for sentence in sentences], bilm.token_map.boundary_tokens)
        batch = pad(places, np.arange(len(places)))
        at, lengths = (torch.from_numpy(part).to(bilm.device) for part in (batch.places, batch.lengths))
        return bilm.contextualize(functional.embedding(at, bilm.vectors_of(distinct)), lengths)
