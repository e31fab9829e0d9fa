"""CoupledLSTM: a bidirectional LSTM whose input and forget gates are one, each sentence by itself.

[i j o] = W x + U (h m) + b
c' = (1 - sigmoid(i)) c + sigmoid(i) tanh(j)
h' = sigmoid(o) tanh(c')

m is a dropout mask, one for all steps of a sentence; the first h and c are learned. Both directions take a step
together, and sentences that have ended leave the batch, so that the time grows with the tokens, not with the longest
sentence. Source: Lee et al. 2017, and their code for the learned states.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from elmo.ops.dropout import Dropout
from elmo.ops.product import trained_product
from elmo.tasks.layers.recurrent.reversal import reorder, reversed_places

_GATES = 3


class CoupledLSTM(nn.Module):
    """Vectors -> forward and backward hidden states, side by side.

    Each gate's recurrent weights begin orthogonal, input weights and first states as Glorot's, biases at 0.
    """

    def __init__(self, input_dim: int, size: int, dropout: float = 0.0) -> None:
        """`size`: hidden units of each direction. `dropout`: of the previous h, wherever it is multiplied by U."""
        super().__init__()
        self.dropout, self.output_dim = Dropout(dropout), 2 * size
        # The first axis is the direction: forward, backward.
        self.input_weight = nn.Parameter(torch.empty(2, input_dim, _GATES * size))
        self.state_weight = nn.Parameter(torch.empty(2, size, _GATES * size))
        self.bias = nn.Parameter(torch.zeros(2, _GATES * size))
        self.first_hidden = nn.Parameter(torch.empty(2, 1, size))
        self.first_cell = nn.Parameter(torch.empty(2, 1, size))
        for direction in range(2):
            for parameter in (self.input_weight, self.first_hidden, self.first_cell):
                nn.init.xavier_uniform_(parameter.data[direction])
            for gate in self.state_weight.data[direction].split(size, dim=1):
                nn.init.orthogonal_(gate)

    def forward(
        self, vectors: Float[Tensor, "batch tokens input_dim"], mask: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch tokens output_dim"]:
        """Zero where `mask`, true at the first tokens of each row, is false; vectors there have no effect."""
        if not mask.any():
            return vectors.new_zeros(*mask.shape, self.output_dim)
        lengths, order = mask.sum(dim=1).sort(descending=True, stable=True)
        mask = mask[order]
        places = reversed_places(mask)
        vectors = torch.where(mask[:, :, None], vectors[order], 0)
        both = torch.stack([vectors, reorder(vectors, places)])
        ahead, back = self._run(both, mask.sum(dim=0).tolist()).unbind(dim=0)
        hidden = torch.where(mask[:, :, None], torch.cat([ahead, reorder(back, places)], dim=2), 0)
        return hidden[order.argsort()]

    def _run(
        self, vectors: Float[Tensor, "2 batch tokens input_dim"], active: list[int]
    ) -> Float[Tensor, "2 batch tokens size"]:
        """`active`: how many rows, the first ones, have a token at each position."""
        batch = vectors.shape[1]
        weights = zip(vectors, self.input_weight.transpose(1, 2), self.bias, strict=True)
        read = torch.stack([trained_product(*direction) for direction in weights])
        hidden, cell = self.first_hidden.expand(-1, batch, -1), self.first_cell.expand(-1, batch, -1)
        kept = self.dropout(torch.ones_like(hidden))
        steps = []
        for gates, rows in zip(read.unbind(dim=2), active, strict=True):  # one gradient for all, unlike slices
            recurrent = torch.bmm(hidden[:, :rows] * kept[:, :rows], self.state_weight)
            # Autocast makes the products of another type; the state keeps its own.
            input_gate, new, output_gate = (gates[:, :rows] + recurrent).to(cell.dtype).chunk(_GATES, dim=2)
            cell = torch.lerp(cell[:, :rows], new.tanh(), input_gate.sigmoid())
            hidden = output_gate.sigmoid() * cell.tanh()
            steps.append(nn.functional.pad(hidden, (0, 0, 0, batch - rows)))
        return torch.stack(steps, dim=2)
