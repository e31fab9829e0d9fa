"""The gradients of all ranks, added up: whole tensors in one buffer, of a table those rows alone that some rank read.

Source: design/scale.md 4.2: the table of the softmax is never sent.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from elmo.errors import ElmoError
from elmo.pretrain.ranks.distributed import Ranks
from elmo.pretrain.ranks.gradients import Gradient, RowGradient


class RanksDiffer(ElmoError):  # noqa: N818 - what happened
    """The ranks' weights are no longer the same."""

    exit_code = 1


class Reduction:
    """Adds up what the ranks of a run found. `dtype`: of the gradients on their way; None leaves them as they are."""

    def __init__(self, ranks: Ranks, dtype: torch.dtype | None = None) -> None:
        self.ranks = ranks
        self.dtype = dtype
        self._last_norm = 0.0

    def add_up(
        self, number: int, losses: Mapping[str, float], gradients: dict[str, Gradient]
    ) -> tuple[dict[str, float], dict[str, Gradient]]:
        """The sums over the ranks; the gradients are those of each rank's share in the loss.

        Raises RanksDiffer if the ranks did not find the same norm of the gradients in the step before.
        """
        if self.ranks.size == 1:
            return dict(losses), gradients
        # Tensors of one table's rows: those of the softmax all have the rows of the targets and negatives.
        rows = {_table(name): part.rows for name, part in gradients.items() if isinstance(part, RowGradient)}
        told = self.ranks.gather([self._last_norm, *losses.values(), *map(len, rows.values())])
        self._require_equal(number, told[:, 0])
        sums = dict(zip(losses, told[:, 1 : 1 + len(losses)].sum(dim=0).tolist(), strict=True))
        counts = told[:, 1 + len(losses) :].long().t().tolist()
        union = {table: self.ranks.union(own, count) for (table, own), count in zip(rows.items(), counts, strict=True)}
        spread = {
            name: _spread(part, union[_table(name)]) if isinstance(part, RowGradient) else part
            for name, part in gradients.items()
        }
        values = [part.values if isinstance(part, RowGradient) else part for part in spread.values()]
        added = dict(zip(spread, self._sum(values), strict=True))
        return sums, {
            name: RowGradient(part.rows, added[name]) if isinstance(part, RowGradient) else added[name]
            for name, part in spread.items()
        }

    def remember(self, norm: float) -> None:
        """The norm of a step's gradients, which must be the same on all ranks, bit for bit."""
        self._last_norm = norm

    def _sum(self, values: list[Tensor]) -> list[Tensor]:
        """One message for all of them; the sums are views into it."""
        dtype = values[0].dtype
        flat = self.ranks.add_up_(torch.cat([value.flatten().to(self.dtype or dtype) for value in values])).to(dtype)
        parts = flat.split([value.numel() for value in values])
        return [part.view(value.shape) for part, value in zip(parts, values, strict=True)]

    def _require_equal(self, number: int, norms: Tensor) -> None:
        # NaN differs from itself: a skipped step has the same NaN on all ranks.
        if bool(((norms == norms[0]) | (norms.isnan() & norms[0].isnan())).all()):
            return
        raise RanksDiffer(
            f"step {number - 1}: the ranks' gradients had the norms {norms.tolist()}, which must be the same, so their "
            "weights are no longer equal. Faulty memory or different versions of torch do that. Compare 'elmo doctor' "
            "on the machines, then resume from the last checkpoint."
        )


def _table(name: str) -> str:
    """What tensors with the same rows have in common: those of the softmax are all named head."""
    return name.partition(".")[0]


def _spread(own: RowGradient, union: Tensor) -> RowGradient:
    """The same gradient, zero in the other ranks' rows."""
    values = own.values.new_zeros(len(union), *own.values.shape[1:])
    return RowGradient(union, values.index_copy_(0, torch.searchsorted(union, own.rows), own.values))
