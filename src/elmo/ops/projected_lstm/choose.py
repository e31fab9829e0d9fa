"""Which version of the layer runs."""

from functools import partial

import torch

from elmo.ops.product import ComputeType
from elmo.ops.projected_lstm.packed import projected_lstm_packed
from elmo.ops.projected_lstm.reference import projected_lstm_reference


def choose(  # noqa: ANN201 - all share the reference's signature
    *, needs_gradient: bool | None = None, dtype: ComputeType = "float32"
):
    """The fastest torch version that can do what is asked; whether gradients are needed is by default torch's state.

    `dtype`: what the factors of products are rounded to, where no gradient is needed.
    """
    if needs_gradient is None:
        needs_gradient = torch.is_grad_enabled()
    if needs_gradient:
        return projected_lstm_reference
    return projected_lstm_packed if dtype == "float32" else partial(projected_lstm_packed, dtype=dtype)
