"""ProjectedLSTM: one direction's stack of LSTM layers, with skip connections.

Source: paper section 3.1 and 3.4; Sak et al. 2014; bilm-tf `bilm/model.py` and `bilm/training.py`.
Both directions are the same stack: the backward language model reads its sentences reversed.
"""

import math
from collections.abc import Callable
from typing import cast

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from elmo.config import BiLMConfig
from elmo.ops.projected_lstm import (
    LayerWeights,
    projected_lstm_packed,
    projected_lstm_padded,
    projected_lstm_reference,
    projected_lstm_window,
)
from elmo.ops.projected_lstm.window import Window
from elmo.ops.tracing import has_values

Drop = Callable[[Tensor], Tensor]


class ProjectedLSTMLayer(nn.Module):
    """One layer of one direction."""

    projection_weight: nn.Parameter | None

    def __init__(self, config: BiLMConfig) -> None:
        super().__init__()
        self.settings = config.lstm_settings
        gates, size = 4 * config.cell_size, config.projection_size
        self.input_weight = nn.Parameter(torch.empty(gates, size))
        self.recurrent_weight = nn.Parameter(torch.empty(gates, size))
        self.bias = nn.Parameter(torch.zeros(gates))
        projection = nn.Parameter(torch.empty(size, config.cell_size)) if config.has_lstm_projection else None
        self.register_parameter("projection_weight", projection)
        # TensorFlow 1 keeps input and recurrent weights in one matrix, and Glorot's bound is that matrix's.
        bound = math.sqrt(6 / (2 * size + gates))
        nn.init.uniform_(self.input_weight, -bound, bound)
        nn.init.uniform_(self.recurrent_weight, -bound, bound)
        if self.projection_weight is not None:
            nn.init.xavier_uniform_(self.projection_weight)

    def forward(
        self,
        inputs: Float[Tensor, "batch tokens projection"],
        lengths: Int[Tensor, " batch"],
        hidden: Float[Tensor, "batch projection"],
        cell: Float[Tensor, "batch cell"],
        padded: bool = False,
    ) -> tuple[
        Float[Tensor, "batch tokens projection"], Float[Tensor, "batch projection"], Float[Tensor, "batch cell"]
    ]:
        """Read rows of `lengths` tokens in reading order: the outputs, zero beyond its length, and the new state."""
        # Traces and gradients know the plain loop alone.
        plain = torch.is_grad_enabled() or not has_values(lengths)
        without_gradients = projected_lstm_padded if padded else projected_lstm_packed
        run = projected_lstm_reference if plain else without_gradients
        return run(inputs, lengths, hidden, cell, self.weights, self.settings)

    def extra_repr(self) -> str:
        """Its sizes, for `repr`."""
        gates, size = self.input_weight.shape
        return f"projection_size={size}, cell_size={gates // 4}"

    @property
    def weights(self) -> LayerWeights:
        """As the operations take them."""
        return LayerWeights(self.input_weight, self.recurrent_weight, self.bias, self.projection_weight)


class ProjectedLSTM(nn.Module):
    """The layers of one direction. State is an argument and a result, never kept."""

    def __init__(self, config: BiLMConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(ProjectedLSTMLayer(config) for _ in range(config.num_layers))
        self.skip_connections = config.skip_connections

    def forward(
        self,
        inputs: Float[Tensor, "batch tokens projection"],
        lengths: Int[Tensor, " batch"],
        hidden: Float[Tensor, "layers batch projection"],
        cell: Float[Tensor, "layers batch cell"],
        padded: bool = False,
    ) -> tuple[
        Float[Tensor, "layers batch tokens projection"],
        Float[Tensor, "layers batch projection"],
        Float[Tensor, "layers batch cell"],
    ]:
        """Read rows of `lengths` tokens in reading order: each layer's outputs, and the new (hidden, cell).

        Outputs are zero beyond a row's length: so are a layer's own, and a skip connection only adds such outputs.
        `padded`: by operations that don't depend on the lengths, see `BiLM.contextualize`.
        """
        outputs, hiddens, cells = [], [], []
        for index, layer in enumerate(self.layers):
            result, new_hidden, new_cell = layer(inputs, lengths, hidden[index], cell[index], padded)
            inputs = result + inputs if self.skips(index) else result
            outputs.append(inputs)
            hiddens.append(new_hidden)
            cells.append(new_cell)
        return torch.stack(outputs), torch.stack(hiddens), torch.stack(cells)

    def read_window(
        self,
        inputs: Float[Tensor, "tokens batch projection"],
        hidden: Float[Tensor, "layers batch projection"],
        cell: Float[Tensor, "layers batch cell"],
        drop: Drop | None = None,
        keep: Float[Tensor, "tokens batch"] | None = None,
        product_dtype: torch.dtype | None = None,
        read: Window = projected_lstm_window,
    ) -> tuple[
        Float[Tensor, "tokens batch projection"],
        Float[Tensor, "layers batch projection"],
        Float[Tensor, "layers batch cell"],
    ]:
        """Pretraining's pass over a full window, time first: the top outputs and the new (hidden, cell).

        `drop` is the dropout. It is applied to every layer's input and to the top output, anew at each token; the skip
        connection adds the input after its dropout, as in bilm-tf `bilm/training.py`. `keep` is 0 where the state is
        forgotten before a token. `read`: what reads a layer's window, `projected_lstm_window` or its `WindowGraphs`.
        """
        hiddens, cells = [], []
        for index, layer in enumerate(cast(list[ProjectedLSTMLayer], list(self.layers))):
            inputs = inputs if drop is None else drop(inputs)
            result, new_hidden, new_cell = read(
                inputs, hidden[index], cell[index], layer.weights, layer.settings, keep, product_dtype
            )
            inputs = result + inputs if self.skips(index) else result
            hiddens.append(new_hidden)
            cells.append(new_cell)
        return inputs if drop is None else drop(inputs), torch.stack(hiddens), torch.stack(cells)

    def skips(self, index: int) -> bool:
        """Whether layer `index` adds its input to its output: never the first, which reads the token vectors."""
        return self.skip_connections and index > 0
