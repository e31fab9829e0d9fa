"""BiLSTM: a stack of bidirectional LSTMs with variational dropout on each layer's input.

Source: specification 7.3, 7.6, 7.7; Gal and Ghahramani 2016 for the dropout, whose mask is one for all tokens of a
sentence.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from elmo.ops.dropout import kept
from elmo.tasks.layers.recurrent.reversal import reorder, reversed_places


class BiLSTM(nn.Module):
    """Vectors -> forward and backward hidden states of the top layer, side by side.

    Recurrent weights begin orthogonal, one gate at a time, input weights as Glorot's, forget biases at 1, others at 0.
    """

    def __init__(self, input_dim: int, sizes: Sequence[int], dropout: float = 0.0, between_dim: int = 0) -> None:
        """`sizes`: hidden units of each layer and direction, the lowest first. `dropout`: on each layer's input.

        `between_dim`: dimensions of what the second layer reads beside the first one's states.
        """
        super().__init__()
        dims = [input_dim, *(2 * size for size in sizes)]
        self.output_dim = dims[-1]
        if between_dim:
            dims[1] += between_dim
        self.dropout = VariationalDropout(dropout)
        # Each direction by itself, on whole windows: on a CPU torch reads packed sequences half as fast. What stands
        # behind a row's end comes after all that counts, in both directions.
        pairs = [
            [nn.LSTM(dim, size, batch_first=True) for _ in ("forward", "backward")]
            for dim, size in zip(dims[:-1], sizes, strict=True)
        ]
        self.layers = nn.ModuleList(map(nn.ModuleList, pairs))
        for lstm in (lstm for pair in pairs for lstm in pair):
            _initialize(lstm)

    def forward(
        self,
        vectors: Float[Tensor, "batch tokens input_dim"],
        mask: Bool[Tensor, "batch tokens"],
        between: Float[Tensor, "batch tokens between_dim"] | None = None,
    ) -> Float[Tensor, "batch tokens output_dim"]:
        """Zero where `mask`, true at the first tokens of each row, is false; what stands there plays no part."""
        batch, tokens = mask.shape
        if batch == 0 or tokens == 0:
            return vectors.new_zeros(batch, tokens, self.output_dim)
        places = reversed_places(mask)
        vectors = torch.where(mask[:, :, None], vectors, 0)
        for number, layer in enumerate(self.layers):
            forward, backward = layer.children()
            if between is not None and number == 1:
                vectors = torch.cat([vectors, between], dim=2)
            vectors = self.dropout(vectors)
            hidden, _ = forward(vectors)
            hidden_backward, _ = backward(reorder(vectors, places))
            vectors = torch.cat([hidden, reorder(hidden_backward, places)], dim=2)
        return torch.where(mask[:, :, None], vectors, 0)


class VariationalDropout(nn.Module):
    """Dropout whose mask is drawn once for all tokens of a sentence."""

    def __init__(self, chance: float) -> None:
        super().__init__()
        self.chance = chance

    def forward(self, vectors: Float[Tensor, "batch tokens dim"]) -> Float[Tensor, "batch tokens dim"]:
        """As `nn.Dropout`: what stays is scaled up; nothing happens outside of training."""
        if not self.training or self.chance == 0:
            return vectors
        return vectors * kept(torch.empty_like(vectors[:, :1]), self.chance).div_(1 - self.chance)


def _initialize(lstm: nn.LSTM) -> None:
    size = lstm.hidden_size
    for name, parameter in lstm.named_parameters():
        if name.startswith("weight_hh"):
            for gate in parameter.data.split(size):
                nn.init.orthogonal_(gate)
        elif name.startswith("weight_ih"):
            for gate in parameter.data.split(size):
                nn.init.xavier_uniform_(gate)
        else:
            nn.init.zeros_(parameter)
            if name.startswith("bias_ih"):
                parameter.data[size : 2 * size] = 1.0  # torch's order of the gates: input, forget, cell, output
