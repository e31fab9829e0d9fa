"""Dropout that is the same for a row whichever process reads it.

Every block of 512 rows has its own generator, so a process draws only for the blocks its rows lie in; up to 512 rows
the result is that of one generator for all.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from elmo.ops.dropout import kept

_BLOCK = 512


class RowDropout:
    """Drops values of (tokens, rows, width) tensors with a probability; the rest is scaled up. Each call draws again.

    `rows`: which of the `total` rows of all processes the tensors hold.
    """

    def __init__(self, probability: float, seed: int, rows: slice, total: int, device: torch.device) -> None:
        self.probability = probability
        self._blocks = []
        for start in range(rows.start - rows.start % _BLOCK, rows.stop if probability else 0, _BLOCK):
            generator = torch.Generator(device).manual_seed(seed + start // _BLOCK)
            count = min(_BLOCK, total - start)
            own = slice(max(0, rows.start - start), min(count, rows.stop - start))
            self._blocks.append((generator, count, own))

    def __call__(self, values: Float[Tensor, "tokens rows width"]) -> Float[Tensor, "tokens rows width"]:
        """What is left of `values`."""
        if self.probability == 0:
            return values
        mask = torch.cat([self._draw(values, *block) for block in self._blocks], dim=1)
        return values * mask.div_(1 - self.probability)

    def _draw(
        self, values: Float[Tensor, "tokens rows width"], generator: torch.Generator, count: int, own: slice
    ) -> Float[Tensor, "tokens own width"]:
        mask = values.new_empty(values.shape[0], count, values.shape[2])
        return kept(mask, self.probability, generator)[:, own]
