"""Dropout of a training step beside torch's: forward and backward.

    python benchmarks/tasks/dropout.py          # 9 rounds of three sizes: half a minute

Contestants: ours (on a CPU the mask comes from uniform numbers) and torch.nn.Dropout. The floor is reading the values
and the mask and writing the result, forward and backward, at the memory's measured bandwidth; values that fit into a
cache can be below it.

Seconds are those of the processor on one thread, so that other programs on the machine count little.
"""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

import torch
from in_turn import processor_seconds
from record import Record, Table, parser
from torch import nn

from elmo.ops.dropout import Dropout

_BANDWIDTH_BYTES = 1 << 29
_REPEATS = 20
"""Of a step: the processor's clock is coarse."""


def main() -> int:
    """Measures and writes the record."""
    arguments = parser(__doc__)
    arguments.add_argument("--rounds", type=int, default=9)
    arguments.add_argument("--dropped", type=float, default=0.4)
    given = arguments.parse_args()
    torch.set_num_threads(1)
    bandwidth = _bandwidth(given.rounds)
    rows, factors = [], []
    for shape in ((32, 1, 512), (32, 20, 256), (20, 128, 512)):
        found = processor_seconds(steps_of(shape, given.dropped), given.rounds)
        seconds = {name: one / _REPEATS for name, one in found.items()}
        floor = 2 * 3 * 4 * torch.Size(shape).numel() / bandwidth
        factors.append(seconds["ours"] / seconds["torch"])
        times = [f"{1e6 * one:,.0f}" for one in (seconds["ours"], seconds["torch"], floor)]
        rows.append([" x ".join(map(str, shape)), *times, f"{factors[-1]:.2f}", f"{floor / seconds['ours']:.2f}"])
    table = Table(["values", "ours, µs", "torch.nn.Dropout, µs", "floor, µs", "ours / torch", "floor / ours"], rows)
    sentence = f"A step takes {min(factors):.2f} to {max(factors):.2f} of the time of torch.nn.Dropout."
    settings = {"dropped": given.dropped, "rounds": given.rounds, "bandwidth": f"{bandwidth / 1e9:.1f} GB/s"}
    Record("dropout", "Dropout", [table], sentence, settings).write(given.results)
    return 0


def steps_of(shape: Sequence[int], dropped: float) -> dict[str, Callable[[], None]]:
    """Forward and backward of each contestant on the same values."""
    torch.manual_seed(0)
    values = torch.randn(*shape, requires_grad=True)

    def step(layer: nn.Module) -> None:
        for _ in range(_REPEATS):
            layer(values).sum().backward()

    ours, library = Dropout(dropped), nn.Dropout(dropped)
    return {"ours": lambda: step(ours), "torch": lambda: step(library)}


def _bandwidth(rounds: int) -> float:
    """Bytes per second of a copy that no cache holds, read and written."""
    source = torch.zeros(_BANDWIDTH_BYTES // 4)
    target = torch.zeros_like(source)
    return 2 * _BANDWIDTH_BYTES / processor_seconds({"copy": lambda: target.copy_(source)}, rounds)["copy"]


if __name__ == "__main__":
    raise SystemExit(main())
