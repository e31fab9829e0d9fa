"""The gradients of all ranks, added up: whole tensors in one buffer, of a table those rows alone that some rank read.

The table of the softmax is never sent. What else the ranks have to agree upon in a step travels with its first message:
the losses, a check that their weights are still equal, and whether one of them was asked to stop.
"""

from collections.abc import Mapping
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from elmo.errors import ElmoError
from elmo.pretrain.ranks.distributed import Ranks
from elmo.pretrain.ranks.gradients import Gradient, RowGradient, on_device


class RanksDiffer(ElmoError):  # noqa: N818 - what happened
    """The ranks' weights are no longer the same."""

    exit_code = 1


class Reduced(NamedTuple):
    """What is the same on all ranks."""

    losses: Mapping[str, Float[Tensor, ""]]
    """Each direction's mean loss over the rows of all ranks."""
    gradients: dict[str, Gradient]
    stop_signal: int
    """The largest signal that a rank was asked to stop by; 0: none was."""


class Reduction:
    """Adds up what the ranks of a run found. `dtype`: of the gradients on their way; None leaves them as they are."""

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
        # Tensors of one table's rows: those of the softmax all have the rows of the targets and negatives.
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
            f"step {number - 1}: the ranks' gradients had the norms {norms.tolist()}, which must be the same, so their "
            "weights are no longer equal. Faulty memory or different versions of torch can cause this. Compare 'elmo "
            "doctor' on the machines, then resume from the last checkpoint."
        )


def _table(name: str) -> str:
    """What tensors with the same rows have in common: those of the softmax are all named head."""
    return name.partition(".")[0]


def _spread(own: RowGradient, union: Int[Tensor, " union"]) -> RowGradient:
    """The same gradient, zero in the other ranks' rows."""
    values = own.values.new_zeros(len(union), *own.values.shape[1:])
    places = on_device(torch.searchsorted(union, own.rows), values.device)
    return RowGradient(union, values.index_copy_(0, places, own.values))
