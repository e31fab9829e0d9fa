"""BiGRU: one bidirectional GRU. Source: Clark and Gardner 2018, whose GRU is cuDNN's, and so torch's: the reset gate is
applied after the recurrent product, which has a bias of its own.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from elmo.ops.gru import GRUWeights, grus_side_by_side
from elmo.tasks.layers.recurrent.reversal import reorder, reversed_places

_INITIAL_DEVIATION = 0.05


class BiGRU(nn.Module):
    """Vectors -> forward and backward hidden states, side by side.

    Input and recurrent weights begin as a truncated normal distribution of standard deviation 0.05, biases at 0.
    """

    def __init__(self, input_dim: int, size: int) -> None:
        """`size`: hidden units of each direction."""
        super().__init__()
        # Each direction by itself on whole rows, which are nearly of one length: no packing.
        self.forward_gru = nn.GRU(input_dim, size, batch_first=True)
        self.backward_gru = nn.GRU(input_dim, size, batch_first=True)
        self.output_dim = 2 * size
        for gru in (self.forward_gru, self.backward_gru):
            _initialize(gru)

    def forward(
        self, vectors: Float[Tensor, "batch tokens input_dim"], mask: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch tokens output_dim"]:
        """Zero where `mask`, true at the first tokens of each row, is false; vectors there have no effect."""
        if mask.numel() == 0:
            return vectors.new_zeros(*mask.shape, self.output_dim)
        places = reversed_places(mask)
        vectors = torch.where(mask[:, :, None], vectors, 0)
        ahead, back = self._run(vectors, reorder(vectors, places))
        return torch.where(mask[:, :, None], torch.cat([ahead, reorder(back, places)], dim=2), 0)

    def _run(
        self,
        vectors: Float[Tensor, "batch tokens input_dim"],
        reversed_vectors: Float[Tensor, "batch tokens input_dim"],
    ) -> tuple[Float[Tensor, "batch tokens size"], Float[Tensor, "batch tokens size"]]:
        """Each direction's hidden states, in the order in which it reads."""
        if vectors.device.type != "cpu":  # cuDNN's are faster
            return self.forward_gru(vectors)[0], self.backward_gru(reversed_vectors)[0]
        both = torch.stack([vectors.transpose(0, 1), reversed_vectors.transpose(0, 1)])
        ahead, back = grus_side_by_side(both, [_weights(self.forward_gru), _weights(self.backward_gru)])
        return ahead.transpose(0, 1), back.transpose(0, 1)


def _weights(gru: nn.GRU) -> GRUWeights:
    return GRUWeights(*gru.parameters())  # in torch's order, which is ours


def _initialize(gru: nn.GRU) -> None:
    for name, parameter in gru.named_parameters():
        if name.startswith("weight"):
            deviation = _INITIAL_DEVIATION
            nn.init.trunc_normal_(parameter, std=deviation, a=-2 * deviation, b=2 * deviation)
        else:
            nn.init.zeros_(parameter)
