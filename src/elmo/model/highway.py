"""Highway layer. Source: Srivastava et al. 2015; bilm-tf `bilm/model.py`."""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Highway(nn.Module):
    """y = g * relu(W_t x + b_t) + (1 - g) * x with g = sigmoid(W_g x + b_g).

    The inner non-linearity is always relu, regardless of the char CNN's. A new layer starts near the identity
    (gate bias -2).
    """

    def __init__(self, size: int) -> None:
        super().__init__()
        self.transform = nn.Linear(size, size)
        self.gate = nn.Linear(size, size)
        for layer, bias in ((self.transform, 0.0), (self.gate, -2.0)):
            nn.init.normal_(layer.weight, 0, math.sqrt(1 / size))
            nn.init.constant_(layer.bias, bias)

    def forward(self, inputs: Float[Tensor, "types size"]) -> Float[Tensor, "types size"]:
        """One layer."""
        gate = torch.sigmoid(self.gate(inputs))
        return gate * torch.relu(self.transform(inputs)) + (1 - gate) * inputs
