"""Gradients of a step: of whole tensors, and of the few rows of a large table that occur in it.

A step reads some thousand rows of the softmax, perhaps of 800,000. Made whole, the gradient, the norm, the clip and the
optimizer's rule would each walk over the whole table; here they see those rows alone.

The numbers of rows are known before anything is computed, so they stay on the CPU, also where the values are on a GPU:
sorting and merging them there would make the host wait for the GPU.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import cast

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor, nn
from torch.nn import functional


@dataclass(frozen=True)
class RowGradient:
    """The gradient of some rows of a table; that of all other rows is zero."""

    rows: Int[Tensor, " rows"]
    """Distinct, ascending; on the CPU."""
    values: Float[Tensor, "rows ..."]
    """On the table's device."""

    def whole(self, table: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """The gradient of the whole table, zero in the other rows."""
        return torch.zeros_like(table).index_add_(0, on_device(self.rows, table.device), self.values)


Gradient = Float[Tensor, "..."] | RowGradient


def on_device(host: Shaped[Tensor, "*shape"], device: torch.device) -> Shaped[Tensor, "*shape"]:
    """A tensor of the CPU on `device`, without waiting for what the device still has to do."""
    return host.to(device, non_blocking=True)


def add_up(gradients: Sequence[Gradient], table: Float[Tensor, "..."]) -> Gradient:
    """The sum of gradients of one tensor, added in their order: a RowGradient if all of them are."""
    if len(gradients) == 1:
        return gradients[0]
    by_row = [gradient for gradient in gradients if isinstance(gradient, RowGradient)]
    if len(by_row) < len(gradients):
        whole = [g.whole(table) if isinstance(g, RowGradient) else g for g in gradients]
        return sum(whole[1:], start=whole[0])
    rows, places = torch.cat([gradient.rows for gradient in by_row]).unique(return_inverse=True)
    values = table.new_zeros(len(rows), *table.shape[1:])
    parts = on_device(places, table.device).split([len(gradient.rows) for gradient in by_row])
    for place, gradient in zip(parts, by_row, strict=True):
        values.index_add_(0, place, gradient.values)
    return RowGradient(rows, values)


def shifted_by_padding(gradient: Gradient) -> Gradient:
    """The softmax's gradient as that of the word embedding it is tied to, whose row 0 is padding."""
    if isinstance(gradient, RowGradient):
        return RowGradient(gradient.rows + 1, gradient.values)
    return functional.pad(gradient, (0, 0, 1, 0))


def clip_(gradients: Iterable[Gradient], bound: float) -> Float[Tensor, ""]:
    """Scales all gradients in place so that their global norm is at most `bound`; returns the norm before.

    Rows without a gradient add nothing to it, so it is the norm over all variables.
    """
    values = [gradient.values if isinstance(gradient, RowGradient) else gradient for gradient in gradients]
    norm = torch.nn.utils.get_total_norm(values)
    factor = torch.clamp(bound / (norm + 1e-6), max=1.0)
    for tensor in values:
        tensor.mul_(factor)
    return norm


class RowOptimizer:
    """The steps of an optimizer for some rows of its tables; the rest of a table is neither read nor written.

    The rule is the optimizer's own, applied to a small parameter that holds those rows. Where it changes nothing
    without a gradient (adagrad, sgd) the table is the same, bit for bit, as after a step with the whole gradient. adamw
    becomes lazy: in a row without a gradient, momentum and weight decay rest too.
    """

    def __init__(self, optimizer: torch.optim.Optimizer) -> None:
        self.optimizer = optimizer
        self._small: dict[nn.Parameter, tuple[torch.optim.Optimizer, nn.Parameter]] = {}

    @torch.no_grad()
    def step(self, table: nn.Parameter, gradient: RowGradient) -> None:
        """One step for the rows of `gradient`."""
        own = self.optimizer.state[table]
        rows = on_device(gradient.rows, table.device)
        small, part = self._small_of(table)
        small.param_groups[0] |= {**self.optimizer.param_groups[0], "params": [part]}
        part.data, part.grad = table[rows], None
        part.grad = gradient.values
        small.state[part] = {key: value[rows] if value.dim() else value for key, value in own.items()}
        small.step()
        table.index_copy_(0, rows, part)
        for key, value in small.state.pop(part).items():
            if value.dim() == 0:
                own[key] = value
                continue
            if key not in own:
                own[key] = torch.zeros_like(table)
            own[key].index_copy_(0, rows, value)
        part.grad, part.data = None, table.new_empty(0)

    def _small_of(self, table: nn.Parameter) -> tuple[torch.optim.Optimizer, nn.Parameter]:
        """The optimizer of the rows of `table`, with its only parameter."""
        if table not in self._small:
            part = nn.Parameter(table.new_empty(0))
            make = cast(Callable[..., torch.optim.Optimizer], type(self.optimizer))
            self._small[table] = make([{**self.optimizer.param_groups[0], "params": [part]}]), part
        return self._small[table]
