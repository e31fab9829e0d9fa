"""A training step of a bidirectional GRU beside torch.nn.GRU: forward and backward.

    python benchmarks/tasks/gru.py          # 9 rounds of two sizes: 1 minute

Contestants: ours (both directions take each step together, their own backward), torch.nn.GRU once in each direction,
and the plain loop under autograd. The floor is the time of the matrix products alone at the machine's measured peak:
in training each weight is multiplied three times with each token.

Seconds are those of the processor on one thread, so that other programs on the machine count little.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

import torch
from in_turn import processor_seconds
from record import Record, Table, parser
from torch import Tensor, nn

from elmo.embed.speed import measured_peak
from elmo.ops.gru import GRUWeights, gru_reference, grus_side_by_side


class Shape(NamedTuple):
    """Two GRUs, one for each direction, and their batch."""

    dim: int
    size: int
    batch: int
    tokens: int

    def __str__(self) -> str:
        return f"{self.dim} -> 2 x {self.size}, {self.batch} rows of {self.tokens} tokens"

    @property
    def operations(self) -> int:
        """Of the products of a step, forward and backward; a multiply-and-add is two."""
        return 6 * 2 * self.batch * self.tokens * 3 * self.size * (self.dim + self.size)


def main() -> int:
    """Measures and writes the record."""
    arguments = parser(__doc__)
    arguments.add_argument("--rounds", type=int, default=9)
    arguments.add_argument("--dims", nargs="+", type=int, default=[200, 360], help="dimensions of the input")
    arguments.add_argument("--size", type=int, default=90)
    arguments.add_argument("--batch", type=int, default=16)
    arguments.add_argument("--tokens", type=int, default=152)
    given = arguments.parse_args()
    torch.set_num_threads(1)
    peak = measured_peak(threads=1)["float32"]
    rows, factors = [], []
    for dim in given.dims:
        shape = Shape(dim, given.size, given.batch, given.tokens)
        seconds, floor = processor_seconds(steps_of(shape), given.rounds), shape.operations / peak
        factors.append(seconds["ours"] / seconds["library"])
        times = [f"{1000 * one:.1f}" for one in (seconds["ours"], seconds["library"], seconds["loop"], floor)]
        rows.append([shape, *times, f"{factors[-1]:.2f}", f"{floor / seconds['ours']:.2f}"])
    columns = ["GRUs and batch", "ours, ms", "torch.nn.GRU, ms", "plain loop, ms", "floor, ms"]
    table = Table([*columns, "ours / torch.nn.GRU", "floor / ours"], rows)
    sentence = (
        f"A step takes {min(factors):.2f} to {max(factors):.2f} of the time of torch.nn.GRU. Processor time of one "
        "thread; GPUs use cuDNN's."
    )
    settings = {"peak, float32": f"{peak / 1e9:.0f} GFLOP/s", "rounds": given.rounds}
    Record("gru", "The bidirectional GRU", [table], sentence, settings).write(given.results)
    return 0


def steps_of(shape: Shape) -> dict[str, Callable[[], None]]:
    """Forward and backward of each contestant on the same input."""
    torch.manual_seed(0)
    library = [nn.GRU(shape.dim, shape.size), nn.GRU(shape.dim, shape.size)]
    weights = [GRUWeights(*gru.parameters()) for gru in library]
    inputs = torch.randn(2, shape.tokens, shape.batch, shape.dim, requires_grad=True)

    def each(read: Callable[[int], Tensor]) -> None:
        torch.stack([read(0), read(1)]).sum().backward()

    return {
        "ours": lambda: grus_side_by_side(inputs, weights).sum().backward(),
        "library": lambda: each(lambda number: library[number](inputs[number])[0]),
        "loop": lambda: each(lambda number: gru_reference(inputs[number], weights[number])),
    }


if __name__ == "__main__":
    raise SystemExit(main())
