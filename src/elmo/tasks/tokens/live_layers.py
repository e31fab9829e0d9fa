"""LiveLayers: the layers of a biLM whose own weights are trained with the task."""

from collections.abc import Sequence

from torch import nn

from elmo.layer import on_engine
from elmo.model.bilm import BiLM, BiLMOutput


class LiveLayers(nn.Module):
    """Sentences -> all layers, with gradients to every weight of the biLM."""

    def __init__(self, bilm: BiLM) -> None:
        super().__init__()
        self.bilm = bilm.requires_grad_(True)

    def forward(self, sentences: Sequence[Sequence[str]]) -> BiLMOutput:
        """Boundaries included; each distinct token is encoded once."""
        # Only optimizers and `load_state_dict` write into these weights: comparing them takes as long as two sentences.
        return on_engine.read(self.bilm, [list(sentence) for sentence in sentences], counted=True)
