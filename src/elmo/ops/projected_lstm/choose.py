"""Which version of the layer runs."""

import torch

from elmo.ops.projected_lstm.packed import projected_lstm_packed
from elmo.ops.projected_lstm.reference import projected_lstm_reference


def choose(*, needs_gradient: bool | None = None):  # noqa: ANN201 - both versions share the reference's signature
    """The fastest version that can do what is asked; by default whether gradients are needed is torch's own state."""
    if needs_gradient is None:
        needs_gradient = torch.is_grad_enabled()
    return projected_lstm_reference if needs_gradient else projected_lstm_packed
