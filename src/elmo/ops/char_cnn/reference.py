"""The char CNN's convolutions, plainly, over every window of the row.

Source: bilm-tf `bilm/model.py`; spec: "valid" cross-correlation, maximum over all positions including those of the
padding inside the token (which has a learned vector), then bias and activation.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional


def char_cnn_reference(
    character_ids: Int[Tensor, "types characters"],
    embedding: Float[Tensor, "alphabet dim"],
    filters: Sequence[tuple[Float[Tensor, "number dim width"], Float[Tensor, " number"]]],
    activation: str,
) -> Float[Tensor, "types filters"]:
    """`filters` holds (weight (number, dim, width), bias (number,)) for each width; results stand side by side."""
    vectors = functional.embedding(character_ids, embedding).transpose(1, 2)  # (types, dim, characters)
    pooled = [functional.conv1d(vectors, weight, bias).amax(dim=2) for weight, bias in filters]
    return activate(torch.cat(pooled, dim=1), activation)


def activate(values: Float[Tensor, "*shape"], activation: str) -> Float[Tensor, "*shape"]:
    """relu or tanh."""
    return torch.relu(values) if activation == "relu" else torch.tanh(values)
