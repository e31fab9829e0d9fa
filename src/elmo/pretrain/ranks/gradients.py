"""Gradients of a step: of whole tensors, and of the few rows of a large table that occur in it.

A step reads some thousand rows of the softmax, of 800,000 perhaps. Made whole, the gradient, the norm, the clip and the
optimizer's rule would each walk over the whole table; here they see those rows alone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional


@dataclass(frozen=True)
class RowGradient:
    """The gradient of some rows of a table. It has none for the others."""

    rows: Int[Tensor, " rows"]
    """Distinct, ascending."""
    values: Float[Tensor, "rows ..."]

    def whole(self, table: Tensor) -> Tensor:
        """The gradient of the whole table, zero in the other rows."""
        return torch.zeros_like(table).index_add_(0, self.rows, self.values)


Gradient = Tensor | RowGradient


def add_up(gradients: Sequence[Gradient], table: Tensor) -> Gradient:
    """The sum of gradients of one tensor, in their order: of rows, if all are."""
    if len(gradients) == 1:
        return gradients[0]
    if any(isinstance(gradient, Tensor) for gradient in gradients):
        return sum(g.whole(table) if isinstance(g, RowGradient) else g for g in gradients)
    rows, places = torch.cat([gradient.rows for gradient in gradients]).unique(return_inverse=True)
    values = table.new_zeros(len(rows), *table.shape[1:])
    parts = places.split([len(gradient.rows) for gradient in gradients])
    for place, gradient in zip(parts, gradients, strict=True):
        values.index_add_(0, place, gradient.values)
    return RowGradient(rows, values)


def behind_padding(gradient: Gradient) -> Gradient:
    """The softmax's gradient as one of the words' vectors, whose row 0 is no word."""
    if isinstance(gradient, RowGradient):
        return RowGradient(gradient.rows + 1, gradient.values)
    return functional.pad(gradient, (0, 0, 1, 0))


def clip_(gradients: Iterable[Gradient], bound: float) -> Tensor:
    """Scales all gradients in place so that their common norm is `bound` at most; the norm before.

    Rows without a gradient add nothing to a norm: it is that of all the variables.
    """
    values = [gradient.values if isinstance(gradient, RowGradient) else gradient for gradient in gradients]
    norm = torch.nn.utils.get_total_norm(values)
    factor = torch.clamp(bound / (norm + 1e-6), max=1.0)
    for tensor in values:
        tensor.mul_(factor)
    return norm


@torch.no_grad()
def update_rows(optimizer: torch.optim.Optimizer, parameter: nn.Parameter, gradient: RowGradient) -> None:
    """One step of `optimizer` for the rows of `gradient`; the rest of the table is neither read nor written.

    The rule is the optimizer's own, applied to a small parameter of those rows. Where it changes nothing without a
    gradient (adagrad, sgd) the table is the same, bit for bit, as after a step with the whole gradient. adamw becomes
    lazy: in a row without a gradient momentum and weight decay rest too.
    """
    own = optimizer.state[parameter]
    rows = nn.Parameter(parameter[gradient.rows])
    rows.grad = gradient.values
    small = type(optimizer)([{**optimizer.param_groups[0], "params": [rows]}])
    small.state[rows].update({key: value[gradient.rows] if value.dim() else value for key, value in own.items()})
    small.step()
    parameter.index_copy_(0, gradient.rows, rows)
    for key, value in small.state[rows].items():
        if value.dim() == 0:
            own[key] = value
            continue
        if key not in own:
            own[key] = torch.zeros_like(parameter)
        own[key].index_copy_(0, gradient.rows, value)
