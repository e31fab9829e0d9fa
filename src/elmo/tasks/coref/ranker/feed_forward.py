"""Feed-forward stacks: ReLU layers with dropout, and a linear layer at the end."""

from collections.abc import Sequence
from itertools import pairwise

from torch import nn

from elmo.ops.dropout import Dropout
from elmo.tasks.layers.linear import linear


def after_first_layer(sizes: Sequence[int], output_dim: int, dropout: float = 0.0) -> nn.Sequential:
    """A stack of hidden layers of these sizes without the first linear one: ReLU, dropout, linear, ... , linear.

    For stacks whose first product is computed in parts: see `elmo.tasks.coref.ranker.span_scores`.
    """
    layers: list[nn.Module] = []
    for read, written in pairwise([*sizes, output_dim]):
        layers += [nn.ReLU(), Dropout(dropout), linear(read, written)]
    return nn.Sequential(*layers)
