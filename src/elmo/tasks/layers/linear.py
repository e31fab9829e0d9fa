"""A linear layer as the models of the tasks begin with."""

from torch import nn


def linear(input_dim: int, output_dim: int) -> nn.Linear:
    """With Glorot's uniform weights and zero biases."""
    layer = nn.Linear(input_dim, output_dim)
    nn.init.xavier_uniform_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer
