"""AlternatingLSTM: LSTM layers with highway connections that read in turn left to right and right to left.

Source: He et al. 2017, section 3; the equations are in `elmo.ops.alternating_lstm`.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from elmo.ops.alternating_lstm import HighwayWeights, alternating_lstm_packed
from elmo.ops.dropout import kept


class AlternatingLSTM(nn.Module):
    """Vectors -> hidden states of the top layer.

    Every block of every weight starts orthogonal, forget biases at 1, all others at 0.
    """

    def __init__(self, input_dim: int, size: int, num_layers: int, recurrent_dropout: float = 0.0) -> None:
        """`size`: units of each layer. `recurrent_dropout`: on the previous h of each layer, with one mask for all
        tokens of a sentence; the outputs keep all units."""
        super().__init__()
        self.recurrent_dropout = recurrent_dropout
        self.output_dim = size
        self.layers = nn.ModuleList(HighwayLayer(size if number else input_dim, size) for number in range(num_layers))

    def forward(
        self, vectors: Float[Tensor, "batch tokens input_dim"], mask: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch tokens size"]:
        """Zero where `mask`, true at the first tokens of each row, is false; vectors there are ignored."""
        layers = [layer.weights() for layer in self.layers if isinstance(layer, HighwayLayer)]
        masks = self._recurrent_masks(vectors)
        return alternating_lstm_packed(vectors, mask.sum(dim=1), layers, recurrent_masks=masks)[0]

    def _recurrent_masks(
        self, vectors: Float[Tensor, "batch tokens input_dim"]
    ) -> Float[Tensor, "layers batch size"] | None:
        if not self.training or self.recurrent_dropout == 0:
            return None
        masks = vectors.new_empty(len(self.layers), len(vectors), self.output_dim)
        return kept(masks, self.recurrent_dropout).div_(1 - self.recurrent_dropout)


class HighwayLayer(nn.Module):
    """The weights of one layer. The input has no bias of its own, so that the linear path has none, as in the paper."""

    def __init__(self, input_dim: int, size: int) -> None:
        super().__init__()
        self.input_weight = nn.Parameter(torch.empty(6 * size, input_dim))
        self.state_weight = nn.Parameter(torch.empty(5 * size, size))
        self.state_bias = nn.Parameter(torch.zeros(5 * size))
        for weight in (self.input_weight, self.state_weight):
            for block in weight.data.split(size):
                nn.init.orthogonal_(block)
        self.state_bias.data[size : 2 * size] = 1.0  # the blocks are i, f, g, o, r

    def weights(self) -> HighwayWeights:
        """As the operation takes them."""
        return HighwayWeights(self.input_weight, None, self.state_weight, self.state_bias)
