"""Gradients of a step: of whole tensors, and of the few rows of a large table that occur in it.

A step reads some thousand rows of the softmax, perhaps of 800,000: gradient, norm, clip and the optimizer's rule see
those rows alone. The rows' numbers stay on the CPU, also where the values are on a GPU: sorting and merging them there
would make the host wait for the GPU.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional

from elmo.errors import ElmoError
from elmo.ops.transfer import on_device
from elmo.pretrain.ranks.distributed import Ranks


@dataclass(frozen=True)
class RowGradient:
    """The gradient of some rows of a table; all other rows have a gradient of zero."""

    rows: Int[Tensor, " rows"]
    """Distinct, ascending; on the CPU."""
    values: Float[Tensor, "rows ..."]
    """On the table's device."""

    def whole(self, table: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """The gradient of the whole table, zero in the other rows."""
        return torch.zeros_like(table).index_add_(0, on_device(self.rows, table.device), self.values)


Gradient = Float[Tensor, "..."] | RowGradient


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

    The rule is the optimizer's own, applied to a small parameter that holds those rows. With adagrad and sgd the table
    is the same, bit for bit, as after a step with the whole gradient; adamw becomes lazy.
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


class RanksDiffer(ElmoError):  # noqa: N818 - what happened
    """The ranks' weights are no longer the same."""

    exit_code = 1


class Reduced(NamedTuple):
    """The results that are the same on all ranks."""

    losses: Mapping[str, Float[Tensor, ""]]
    """Each direction's mean loss over the rows of all ranks."""
    gradients: dict[str, Gradient]
    stop_signal: int
    """The largest signal that a rank was asked to stop by; 0: none was."""


class Reduction:
    """Adds up the gradients of all ranks: whole tensors in one buffer; of a table, the rows that some rank has read.

    The table of the softmax is never sent. What else the ranks must agree on in a step is in its first message: the
    losses, a check that their weights are still equal, and whether one of them was asked to stop. `dtype`: of the
    gradients while they are sent; None: their own.
    """

    def __init__(self, ranks: Ranks, dtype: torch.dtype | None = None) -> None:
        self.ranks = ranks
        self.dtype = dtype
        self._last_norm = 0.0

    def add_up(
        self, number: int, losses: Mapping[str, Float[Tensor, ""]], gradients: dict[str, Gradient], stop_signal: int = 0
    ) -> Reduced:
        """The sums over the ranks, where losses and gradients are those of each rank's share in the loss.

        `number`: of the step. Raises RanksDiffer if the ranks did not find the same global norm of the gradients in the
        step before. With one rank nothing is sent, and the losses are not read from the device.
        """
        if self.ranks.size == 1:
            return Reduced(losses, gradients, stop_signal)
        # Tensors of one table's rows: all of the softmax's have the rows of the targets and negatives.
        rows = {_table(name): part.rows for name, part in gradients.items() if isinstance(part, RowGradient)}
        own = [self._last_norm, stop_signal, *map(float, losses.values()), *map(len, rows.values())]
        reported = self.ranks.gather(own)
        self._require_equal(number, reported[:, 0])
        sums = dict(zip(losses, reported[:, 2 : 2 + len(losses)].sum(dim=0), strict=True))
        counts = reported[:, 2 + len(losses) :].long().t().tolist()
        union = {table: self.ranks.union(own, count) for (table, own), count in zip(rows.items(), counts, strict=True)}
        spread = {
            name: _spread(part, union[_table(name)]) if isinstance(part, RowGradient) else part
            for name, part in gradients.items()
        }
        values = [part.values if isinstance(part, RowGradient) else part for part in spread.values()]
        added = dict(zip(spread, self._sum(values), strict=True))
        summed = {
            name: RowGradient(part.rows, added[name]) if isinstance(part, RowGradient) else added[name]
            for name, part in spread.items()
        }
        return Reduced(sums, summed, int(reported[:, 1].max()))

    def remember(self, norm: float) -> None:
        """The norm of a step's gradients, which must be the same on all ranks, bit for bit."""
        self._last_norm = norm

    def _sum(self, values: list[Float[Tensor, "..."]]) -> list[Float[Tensor, "..."]]:
        """One message for all of them; the sums are views into it."""
        dtype = values[0].dtype
        flat = self.ranks.add_up_(torch.cat([value.flatten().to(self.dtype or dtype) for value in values])).to(dtype)
        parts = flat.split([value.numel() for value in values])
        return [part.view(value.shape) for part, value in zip(parts, values, strict=True)]

    def _require_equal(self, number: int, norms: Float[Tensor, " ranks"]) -> None:
        # NaN differs from itself: a skipped step has the same NaN on all ranks.
        if bool(((norms == norms[0]) | (norms.isnan() & norms[0].isnan())).all()):
            return
        raise RanksDiffer(
            f"step {number - 1}: the ranks' gradients had different norms ({norms.tolist()}), so their weights differ. "
            "Compare 'elmo doctor' on the machines, then resume from the last checkpoint."
        )


def _table(name: str) -> str:
    """The part of a name that tensors with the same rows share: the softmax's begin with head."""
    return name.partition(".")[0]


def _spread(own: RowGradient, union: Int[Tensor, " union"]) -> RowGradient:
    """The same gradient, zero in the other ranks' rows."""
    values = own.values.new_zeros(len(union), *own.values.shape[1:])
    places = on_device(torch.searchsorted(union, own.rows), values.device)
    return RowGradient(union, values.index_copy_(0, places, own.values))
