"""A training step of the alternating highway LSTM beside a stack of torch.nn.LSTM: forward and backward.

    python benchmarks/tasks/alternating_lstm.py          # 5 rounds of three sizes: 1 minute

Contestants: ours (packed rows, its own backward), the plain loop under autograd, and as many torch.nn.LSTM layers of
the same size that read in turn from left and from right. Our layer has 6 blocks where the library's has 4, of which 5
read the state: about 1.4 times the multiplications. Rows of full length, on which the library needs no packing, and
rows of half to full length, whose padding it reads too.

Seconds are those of the processor on one thread, so that other programs on the machine count little.
"""

import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

import torch
from in_turn import processor_seconds
from record import Record, Table, parser
from torch import Tensor, nn

from elmo.ops.alternating_lstm import HighwayWeights, alternating_lstm_packed, alternating_lstm_reference

TARGET = 2.0


class Shape(NamedTuple):
    """A stack and its batch."""

    layers: int
    size: int
    dim: int
    batch: int
    tokens: int
    is_full: bool

    def __str__(self) -> str:
        lengths = "full rows" if self.is_full else "rows of half to full length"
        return f"{self.layers} x {self.size}, input {self.dim}, {self.batch} {lengths} of {self.tokens} tokens"


def main() -> int:
    """Measures and writes the record."""
    arguments = parser(__doc__)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--sizes", nargs="+", default=["4x128", "8x100", "8x300"], help="layers x units")
    arguments.add_argument("--dim", type=int, default=406, help="dimensions of the input")
    arguments.add_argument("--batch", type=int, default=80)
    arguments.add_argument("--tokens", type=int, default=25)
    given = arguments.parse_args()
    torch.set_num_threads(1)
    sizes = [tuple(map(int, size.split("x"))) for size in given.sizes]
    shapes = [
        Shape(layers, size, given.dim, given.batch, given.tokens, is_full)
        for (layers, size), is_full in itertools.product(sizes, (True, False))
    ]
    rows, factors = [], []
    for shape in shapes:
        seconds = processor_seconds(steps_of(shape), given.rounds)
        factors.append(seconds["ours"] / seconds["library"])
        rows.append(
            [shape, *(f"{1000 * seconds[name]:.0f}" for name in ("ours", "library", "loop")), f"{factors[-1]:.2f}"]
        )
    table = Table(["stack and batch", "ours, ms", "torch.nn.LSTM, ms", "plain loop, ms", "ours / torch.nn.LSTM"], rows)
    sentence = (
        f"A step takes {min(factors):.2f} to {max(factors):.2f} times as long as the library's LSTM; the target was at "
        f"most {TARGET:g}. Processor time of one thread; on a GPU nothing was measured."
    )
    Record("alternating-lstm", "The alternating highway LSTM", [table], sentence, {}).write(given.results)
    return 0


def steps_of(shape: Shape) -> dict[str, Callable[[], None]]:
    """Forward and backward of each contestant on the same input."""
    torch.manual_seed(0)
    inputs = torch.randn(shape.batch, shape.tokens, shape.dim, requires_grad=True)
    shortest = shape.tokens if shape.is_full else (shape.tokens + 1) // 2
    lengths = torch.randint(shortest, shape.tokens + 1, (shape.batch,))
    dims = [shape.dim] + [shape.size] * (shape.layers - 1)
    layers = [highway_weights(dim, shape.size) for dim in dims]
    library = [nn.LSTM(dim, shape.size) for dim in dims]
    masks = torch.ones(shape.layers, shape.batch, shape.size)
    return {
        "ours": lambda: alternating_lstm_packed(inputs, lengths, layers, None, masks)[0].sum().backward(),
        "library": lambda: read_in_turn(library, inputs).sum().backward(),
        "loop": lambda: alternating_lstm_reference(inputs, lengths, layers, None, masks)[0].sum().backward(),
    }


def highway_weights(dim: int, size: int) -> HighwayWeights:
    """Random weights of a layer, with gradients."""
    input_weight, state_weight = torch.randn(6 * size, dim) * dim**-0.5, torch.randn(5 * size, size) * size**-0.5
    trained = [tensor.requires_grad_() for tensor in (input_weight, state_weight, torch.zeros(5 * size))]
    return HighwayWeights(trained[0], None, trained[1], trained[2])


def read_in_turn(layers: list[nn.LSTM], inputs: Tensor) -> Tensor:
    """The library's layers, odd ones from the right. Rows are read to their padded end."""
    vectors = inputs.transpose(0, 1)
    for number, layer in enumerate(layers):
        hidden, _ = layer(vectors.flip(0) if number % 2 else vectors)
        vectors = hidden.flip(0) if number % 2 else hidden
    return vectors


if __name__ == "__main__":
    raise SystemExit(main())
