"""LayerMixes: one scalar mix for each place where a task's model takes contextual vectors. Source: paper section 3.3.

It is the part of `ELMo` that is learned, for the layers of any encoder.
"""

from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional

from elmo.model.bilm import BiLMOutput
from elmo.model.scalar_mix import ScalarMix
from elmo.ops.dropout import Dropout
from elmo.tasks.settings import TokenSettings


class LayerMixes(nn.Module):
    """Layers of a batch -> a mix of them for each place, with dropout."""

    def __init__(self, settings: TokenSettings, num_layers: int, *, boundaries: int) -> None:
        """`num_layers`: of the encoder; `boundaries`: how many positions of a sentence are no tokens (2 or 0)."""
        super().__init__()
        self.boundaries = boundaries
        self.strength = settings.mix_penalty
        self.dropout = Dropout(settings.elmo_dropout)
        self.by_place = nn.ModuleDict(
            {
                place: ScalarMix.of_layers(
                    settings.mixed_layers,
                    num_layers,
                    layer_norm=False if settings.layer_norm == "none" else settings.layer_norm,
                    train_gamma=settings.train_gamma,
                )
                for place in settings.places
            }
        )

    def forward(
        self, output: BiLMOutput, mask: Bool[Tensor, "batch tokens"]
    ) -> dict[str, Float[Tensor, "batch tokens dim"]]:
        """The mix of each place; zero where `mask`, true at a token, is false."""
        layers = output.layers
        before = self.boundaries // 2
        # Boundaries count only for layer norms that are defined so; "words" leaves them out.
        counted = functional.pad(mask, (before, before))
        mixes = {}
        for place, mix in self.by_place.items():
            mixed = mix(layers, counted)[:, before : layers.shape[2] - before]
            mixes[place] = self.dropout(torch.where(mask[:, :, None], mixed, 0))
        return mixes

    def penalty(self) -> Float[Tensor, ""]:
        """lambda times the sum of the squared raw weights of all mixes that are learned."""
        return self.strength * torch.stack([mix.penalty() for mix in self._mixes()]).sum()

    def weights(self) -> list[dict[str, Any]]:
        """For each place its "placement", the normalized "weights", lowest layer first, and its "gamma"."""
        return [
            {"placement": place, "weights": mix.weights.tolist(), "gamma": mix.gamma.item()}
            for place, mix in zip(self.by_place, self._mixes(), strict=True)
        ]

    def _mixes(self) -> list[ScalarMix]:
        return [mix for mix in self.by_place.values() if isinstance(mix, ScalarMix)]
