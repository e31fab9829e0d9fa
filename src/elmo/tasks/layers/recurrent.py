"""Recurrent layers of task models. Rows are read whole, padding is zero and has no effect in either direction."""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from elmo.ops.alternating_lstm import HighwayWeights, alternating_lstm
from elmo.ops.dropout import Dropout, kept
from elmo.ops.product import trained_product


def reversed_places(mask: Bool[Tensor, "batch tokens"]) -> Int[Tensor, "batch tokens"]:
    """For each position, where its vector comes from: the last token first. `reorder` by it twice changes nothing.

    `mask`: true at the first tokens of each row.
    """
    places = torch.arange(mask.shape[1], device=mask.device).expand(len(mask), -1)
    return torch.where(mask, mask.sum(dim=1, keepdim=True) - 1 - places, places)


def reorder(
    vectors: Float[Tensor, "batch tokens dim"], places: Int[Tensor, "batch tokens"]
) -> Float[Tensor, "batch tokens dim"]:
    """Of each row the vectors at `places`."""
    return vectors.gather(1, places[:, :, None].expand(-1, -1, vectors.shape[2]))


def set_orthogonal(weight: Float[Tensor, "rows columns"]) -> None:
    """Draws an orthogonal matrix, in float32 whatever the weight's type is: torch's QR doesn't know bfloat16."""
    weight.copy_(nn.init.orthogonal_(torch.empty_like(weight, dtype=torch.float32)))


class BiLSTM(nn.Module):
    """A stack of LSTMs: vectors -> forward and backward hidden states of the top layer, side by side.

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
        # Each direction by itself, on whole windows: on a CPU torch reads packed sequences half as fast. Padding
        # comes after all tokens, in both directions.
        pairs = [
            [nn.LSTM(dim, size, batch_first=True) for _ in ("forward", "backward")]
            for dim, size in zip(dims[:-1], sizes, strict=True)
        ]
        self.layers = nn.ModuleList(map(nn.ModuleList, pairs))
        for lstm in (lstm for pair in pairs for lstm in pair):
            _initialize_lstm(lstm)

    def forward(
        self,
        vectors: Float[Tensor, "batch tokens input_dim"],
        mask: Bool[Tensor, "batch tokens"],
        between: Float[Tensor, "batch tokens between_dim"] | None = None,
    ) -> Float[Tensor, "batch tokens output_dim"]:
        """Zero where `mask`, true at the first tokens of each row, is false; vectors there have no effect."""
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
            vectors = _as_autocast_reads(vectors)
            hidden, _ = forward(vectors)
            hidden_backward, _ = backward(reorder(vectors, places))
            vectors = torch.cat([hidden, reorder(hidden_backward, places)], dim=2)
        return torch.where(mask[:, :, None], vectors, 0)


def _as_autocast_reads(vectors: Float[Tensor, "*any"]) -> Float[Tensor, "*any"]:
    """Rounded as autocast on a CPU does it: torch's LSTM takes oneDNN by the type before, and fails where that has no
    LSTM of the lower one, with AVX2 for instance."""
    if vectors.dtype == torch.float32 and vectors.device.type == "cpu" and torch.is_autocast_enabled("cpu"):
        return vectors.to(torch.get_autocast_dtype("cpu"))
    return vectors


class VariationalDropout(nn.Module):
    """Dropout whose mask is drawn once for all tokens of a sentence. Source: Gal and Ghahramani 2016."""

    def __init__(self, chance: float) -> None:
        super().__init__()
        self.chance = chance

    def forward(self, vectors: Float[Tensor, "batch tokens dim"]) -> Float[Tensor, "batch tokens dim"]:
        """As `nn.Dropout`: what stays is scaled up; nothing happens outside of training."""
        if not self.training or self.chance == 0:
            return vectors
        return vectors * kept(torch.empty_like(vectors[:, :1]), self.chance).div_(1 - self.chance)


def _initialize_lstm(lstm: nn.LSTM) -> None:
    size = lstm.hidden_size
    for name, parameter in lstm.named_parameters():
        if name.startswith("weight_hh"):
            for gate in parameter.data.split(size):
                set_orthogonal(gate)
        elif name.startswith("weight_ih"):
            for gate in parameter.data.split(size):
                nn.init.xavier_uniform_(gate)
        else:
            nn.init.zeros_(parameter)
            if name.startswith("bias_ih"):
                parameter.data[size : 2 * size] = 1.0  # torch's order of the gates: input, forget, cell, output


class AlternatingLSTM(nn.Module):
    """LSTM layers with highway connections, which read in turn left to right and right to left.

    Every block of every weight starts orthogonal, forget biases at 1, all others at 0. Source: He et al. 2017, section
    3; the equations are in `elmo.ops.alternating_lstm`.
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
        masks = None
        if self.training and self.recurrent_dropout > 0:
            masks = vectors.new_empty(len(layers), len(vectors), self.output_dim)
            masks = kept(masks, self.recurrent_dropout).div_(1 - self.recurrent_dropout)
        return alternating_lstm(vectors, mask.sum(dim=1), layers, masks)


class HighwayLayer(nn.Module):
    """The weights of one layer. The input has no bias of its own, so that the linear path has none, as in the paper."""

    def __init__(self, input_dim: int, size: int) -> None:
        super().__init__()
        self.input_weight = nn.Parameter(torch.empty(6 * size, input_dim))
        self.state_weight = nn.Parameter(torch.empty(5 * size, size))
        self.state_bias = nn.Parameter(torch.zeros(5 * size))
        for weight in (self.input_weight, self.state_weight):
            for block in weight.data.split(size):
                set_orthogonal(block)
        self.state_bias.data[size : 2 * size] = 1.0  # the blocks are i, f, g, o, r

    def weights(self) -> HighwayWeights:
        """As the operation takes them."""
        return HighwayWeights(self.input_weight, None, self.state_weight, self.state_bias)


_INITIAL_DEVIATION = 0.05


class BiGRU(nn.Module):
    """Vectors -> forward and backward hidden states, side by side.

    Input and recurrent weights begin as a truncated normal distribution of standard deviation 0.05, biases at 0.
    Source: Clark and Gardner 2018, whose GRU is cuDNN's and torch's: the reset gate is applied after the recurrent
    product, which has a bias of its own.
    """

    def __init__(self, input_dim: int, size: int) -> None:
        """`size`: hidden units of each direction."""
        super().__init__()
        # Each direction by itself on whole rows, which are nearly of one length: no packing.
        self.forward_gru = nn.GRU(input_dim, size, batch_first=True)
        self.backward_gru = nn.GRU(input_dim, size, batch_first=True)
        self.output_dim = 2 * size
        for gru in (self.forward_gru, self.backward_gru):
            _initialize_gru(gru)

    def forward(
        self, vectors: Float[Tensor, "batch tokens input_dim"], mask: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch tokens output_dim"]:
        """Zero where `mask`, true at the first tokens of each row, is false; vectors there have no effect."""
        if mask.numel() == 0:
            return vectors.new_zeros(*mask.shape, self.output_dim)
        places = reversed_places(mask)
        vectors = torch.where(mask[:, :, None], vectors, 0)
        ahead, _ = self.forward_gru(vectors)
        back, _ = self.backward_gru(reorder(vectors, places))
        return torch.where(mask[:, :, None], torch.cat([ahead, reorder(back, places)], dim=2), 0)


def _initialize_gru(gru: nn.GRU) -> None:
    for name, parameter in gru.named_parameters():
        if name.startswith("weight"):
            deviation = _INITIAL_DEVIATION
            nn.init.trunc_normal_(parameter, std=deviation, a=-2 * deviation, b=2 * deviation)
        else:
            nn.init.zeros_(parameter)


_GATES = 3


class CoupledLSTM(nn.Module):
    """A bidirectional LSTM whose input and forget gates are one: vectors -> hidden states, side by side.

        [i j o] = W x + U (h m) + b
        c' = (1 - sigmoid(i)) c + sigmoid(i) tanh(j)
        h' = sigmoid(o) tanh(c')

    m is a dropout mask, one for all steps of a sentence; the first h and c are learned. Both directions take a step
    together, and sentences that have ended leave the batch, so the time grows with the tokens, not with the longest
    sentence. Source: Lee et al. 2017, and their code for the learned states.
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
                set_orthogonal(gate)

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
