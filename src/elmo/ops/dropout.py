"""Dropout, faster on a CPU: torch draws a Bernoulli number in four times the time of a uniform one there."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Dropout(nn.Dropout):
    """torch's, which is also the specification; on a CPU the mask is drawn faster, so it is another one."""

    def forward(self, input: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """What stays is scaled up; nothing happens outside of training."""
        if not self.training or self.inplace or not input.is_cpu or not 0 < self.p < 1:
            return super().forward(input)
        return input * kept(torch.empty_like(input), self.p).div_(1 - self.p)


def kept(
    mask: Float[Tensor, "*shape"], dropped: float, generator: torch.Generator | None = None
) -> Float[Tensor, "*shape"]:
    """Fills `mask`: each place with 0 with probability `dropped`, otherwise with 1."""
    if mask.device.type != "cpu" or torch.finfo(mask.dtype).bits < 32:  # the uniform numbers of 16 bits are too coarse
        return mask.bernoulli_(1 - dropped, generator=generator)
    return mask.uniform_(generator=generator).ge_(dropped)
