"""WindowGraphs: on a GPU, a layer's whole window in one launch.

Step by step, a window of 20 tokens is some thousand small kernels for each layer, each of which takes longer to launch
than to run. Here a layer's window is recorded as CUDA graphs, forward and back, and replayed.
"""

import warnings
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from elmo.config import LSTMSettings
from elmo.ops.projected_lstm.reference import LayerWeights
from elmo.ops.projected_lstm.window import Window, projected_lstm_window


class WindowGraphs:
    """`projected_lstm_window` for layers that read windows of the same shape again and again.

    The first window of a layer is recorded and every later one replayed, so a layer's weights must stay where they are
    in memory. What a window gives is overwritten by the layer's next one: take its gradient before that.
    """

    def __init__(self) -> None:
        self._recorded: dict[Any, Window] = {}

    def __call__(
        self,
        inputs: Float[Tensor, "tokens batch dim"],
        hidden: Float[Tensor, "batch projection"],
        cell: Float[Tensor, "batch cell"],
        weights: LayerWeights,
        settings: LSTMSettings,
        keep: Float[Tensor, "tokens batch"] | None = None,
        product_dtype: torch.dtype | None = None,
    ) -> tuple[
        Float[Tensor, "tokens batch projection"], Float[Tensor, "batch projection"], Float[Tensor, "batch cell"]
    ]:
        """As `projected_lstm_window`."""
        read = (inputs, hidden, cell) if keep is None else (inputs, hidden, cell, keep)
        trained = tuple(weight for weight in weights if weight is not None)
        places = tuple((weight.data_ptr(), weight.shape) for weight in trained)
        key = places, inputs.shape, keep is None, settings, product_dtype
        if key not in self._recorded:

            def window(*tensors: Tensor) -> tuple[Tensor, Tensor, Tensor]:
                inputs, hidden, cell, *others = tensors[: len(read)]
                own = LayerWeights(*tensors[len(read) :], *[None] * (weights.projection_weight is None))
                again = others[0] if others else None
                return projected_lstm_window(inputs, hidden, cell, own, settings, again, product_dtype)

            # Apart from the parameters, whose gradients would be accumulated in the stream that records.
            samples = [tensor.detach().clone().requires_grad_(tensor.requires_grad) for tensor in read]
            samples += [weight.detach().requires_grad_() for weight in trained]
            with warnings.catch_warnings():
                # torch 2.11: it keeps the tries it makes before it records; the parameters themselves aren't in them.
                warnings.filterwarnings("ignore", "The AccumulateGrad node's stream")
                self._recorded[key] = torch.cuda.make_graphed_callables(window, tuple(samples))  # type: ignore[assignment]
        outputs, hidden, cell = self._recorded[key](*read, *trained)
        return outputs, hidden.detach(), cell.detach()
