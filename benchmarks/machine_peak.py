"""What this machine can do at most: instructions, matrix products and memory, measured for the other benchmarks.

    python benchmarks/machine_peak.py

Instructions: multiply-and-add on registers, all threads for a quarter of a second at the same time, the best of four
rounds. This is the peak that floors are computed from. As a check of it, products of large square matrices: the native
library's with its weight laid out beforehand, torch's plain one in float32 (MKL) and bfloat16, oneDNN's with its weight
laid out beforehand in float32 and bfloat16, and int8 with activations quantized on the way. Each with 1 and 2 threads.
A peak below the fastest product, or of two threads below that of one, was measured wrongly.
Memory: a copy between arrays far larger than the caches, reading and writing counted.
"""

import statistics
import time
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from functools import partial

import torch
from record import Record, Table, parser
from speed import measured_peak
from torch import Tensor
from torch.nn import functional

from elmo.engine.native import NativeProduct
from elmo.ops.native.kinds import ComputeType, native_types

Work = Callable[[], object]


def main() -> int:
    """Measures and writes the record; the exit code."""
    arguments = parser(__doc__)
    arguments.add_argument("--size", type=int, default=2048, help="rows and columns of the matrices")
    arguments.add_argument("--megabytes", type=int, default=256, help="of each array that is copied")
    arguments.add_argument("--rounds", type=int, default=7)
    arguments.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    given = arguments.parse_args()
    kinds = {**products(given.size), "memory copy": memory_copy(given.megabytes << 20)}
    found = {
        (name, threads): measure(work, threads, given.rounds)
        for threads in given.threads
        for name, (work, _) in kinds.items()
    }
    peaks = [measured_peak(threads) for threads in given.threads]
    rows = [
        [f"{dtype} instructions", *(f"{peak[dtype] / 1e9:,.0f} GFLOP/s" for peak in peaks)] for dtype in native_types()
    ]
    rows += [
        [name, *(_shown(name, kinds[name][1], found[name, threads]) for threads in given.threads)] for name in kinds
    ]
    columns = ["", *(f"{threads} thread{'s' * (threads > 1)}" for threads in given.threads)]
    sentence = (
        "Instructions: the best of four rounds. Products: medians, lowest and highest round in brackets. Other "
        "work on the machine lowers all figures, those of several threads most: each product waits for its slowest "
        "thread. The highest round comes nearest to what the machine can do."
    )
    tables = [Table(columns, rows)]
    settings = {"products": f"{given.size} x {given.size} x {given.size}", "rounds": given.rounds}
    Record("machine-peak", "What the machine can do", tables, sentence, settings).write(given.results)
    return 0


def products(size: int) -> dict[str, tuple[Work, float]]:
    """Each kind of product as (work, operations of one); what torch lacks here is left out."""
    inputs, weight = torch.randn(size, size), torch.randn(size, size)
    narrow = inputs.bfloat16(), weight.bfloat16()
    made: dict[str, Callable[[], Work]] = {
        "float32 plain": lambda: partial(functional.linear, inputs, weight),
        "float32 oneDNN prepacked": lambda: _prepacked(inputs, weight),
        "bfloat16 plain": lambda: partial(functional.linear, *narrow),
        "bfloat16 oneDNN prepacked": lambda: _prepacked(*narrow),
        "int8 torch": lambda: _int8(inputs, weight),
    }
    for dtype in native_types():
        made[f"{dtype} native prepacked"] = partial(_native, inputs, weight, dtype)
    found = {}
    for name, make in made.items():
        try:
            work = make()
            work()
        except (RuntimeError, AttributeError) as error:
            print(f"{name}: not here: {str(error).splitlines()[0]}")
            continue
        found[name] = (work, 2.0 * size**3)
    return found


def _native(inputs: Tensor, weight: Tensor, dtype: ComputeType) -> Work:
    return partial(NativeProduct(weight.numpy(), dtype), inputs.numpy())


def _prepacked(inputs: Tensor, weight: Tensor) -> Work:
    packed = torch.ops.mkldnn._reorder_linear_weight(weight, None)
    return partial(torch.ops.mkldnn._linear_pointwise, inputs, packed, None, "none", [], "")


def _int8(inputs: Tensor, weight: Tensor) -> Work:
    scales = weight.abs().amax(dim=1) / 127
    zeros = torch.zeros_like(scales, dtype=torch.long)
    with warnings.catch_warnings(action="ignore"):  # torch says that these functions will be replaced one day
        whole = torch._make_per_channel_quantized_tensor((weight / scales[:, None]).round().char(), scales, zeros, 0)
    packed = torch.ops.quantized.linear_prepack(whole, None)
    return partial(torch.ops.quantized.linear_dynamic, inputs, packed)


def memory_copy(num_bytes: int) -> tuple[Work, float]:
    """A copy as (work, bytes read and written)."""
    source = torch.ones(num_bytes // 4)
    return partial(torch.empty_like(source).copy_, source), 2.0 * num_bytes


def measure(work: Work, threads: int, rounds: int = 7) -> list[float]:
    """Seconds of each round, after one that isn't counted."""
    with num_threads(threads):
        work()
        return [seconds(work) for _ in range(rounds)]


def seconds(work: Work) -> float:
    """Wall time of one call."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


@contextmanager
def num_threads(number: int):  # noqa: ANN201 - a context manager of nothing
    """torch's threads inside the block."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _shown(name: str, operations: float, times: list[float]) -> str:
    unit = "GB/s" if name == "memory copy" else "GFLOP/s"
    speeds = [operations / time_of_one / 1e9 for time_of_one in times]
    return f"{statistics.median(speeds):,.0f} {unit} ({min(speeds):,.0f} - {max(speeds):,.0f})"


if __name__ == "__main__":
    raise SystemExit(main())
