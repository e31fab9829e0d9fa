"""The LSTMs' share of the processor's peak with few sentences a call, every word being remembered.

    python benchmarks/vectors/few_sentences.py                        two minutes; run it on a quiet machine
    python benchmarks/vectors/few_sentences.py --beside ../main       in turn with another checkout, its library built

The peak is that of the type's instructions, measured in the same run with as many threads. Sentences are taken as they
come, so that with n sentences a call fewer than n have a token at most steps. For one sentence, reading the weights is
the floor: the last table says how fast memory of that size is read.
"""

from pathlib import Path
from typing import Any

from engine_table import Process
from native_peak import bytes_per_second
from record import ROOT, Record, Table, parser
from speed import DTYPES

_CALLS = 8


def main() -> int:
    """Measures and writes the record; the exit code."""
    arguments = parser(__doc__)
    arguments.add_argument("--size", default="small", choices=("small", "original"))
    arguments.add_argument("--sentences", type=int, nargs="+", default=[1, 2, 4, 8, 16, 32, 64])
    arguments.add_argument("--instructions", nargs="+", default=["all", "avx2"])
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--rounds", type=int, default=2)
    arguments.add_argument("--seconds", type=float, default=1.0, help="of each measurement")
    arguments.add_argument("--beside", type=Path, help="another checkout, measured in turn")
    given = arguments.parse_args()
    rows = [row for instructions in given.instructions for row in _rows(given, instructions)]
    beside = [f"{name} beside" for name in ("words/s", "share")] + ["times"] if given.beside else []
    tables = [
        Table(["instructions", "dtype", "peak, GFLOP/s", "sentences", "words/s", "share", *beside], rows),
        _reading(given.threads),
    ]
    sentence = "The best of all rounds. Boundaries are tokens to the LSTMs and are counted as words here."
    settings = {"size": given.size, "threads": given.threads, "rounds": given.rounds}
    Record("few-sentences", "Few sentences a call", tables, sentence, settings).write(given.results)
    return 0


def _rows(given: Any, instructions: str) -> list[list[object]]:
    checkouts = [ROOT, *([given.beside.resolve()] if given.beside else [])]
    processes = [Process(checkout, instructions) for checkout in checkouts]
    found: dict[tuple[str, int], list[dict[str, Any]]] = {}
    processes[0].ask(peak=given.threads)
    peak = processes[0].answer()
    for _ in range(given.rounds):
        for dtype in DTYPES:
            for batch in given.sentences:
                answers = [_measured(process, given, dtype, batch) for process in processes]
                best = found.setdefault((dtype, batch), answers)
                found[dtype, batch] = [
                    min(pair, key=lambda one: one["seconds"]) for pair in zip(best, answers, strict=True)
                ]
    for process in processes:
        process.end()
    return [_row(instructions, dtype, batch, peak[dtype], best) for (dtype, batch), best in found.items()]


def _measured(process: Process, given: Any, dtype: str, batch: int) -> dict[str, Any]:
    request = {"size": given.size, "dtype": dtype, "first": _CALLS * max(batch, 4), "batch": batch}
    process.ask(**request, threads=given.threads, remembered=given.seconds)
    return process.answer()


def _row(instructions: str, dtype: str, batch: int, peak: float, best: list[dict[str, Any]]) -> list[object]:
    speeds = [one["tokens"] / one["seconds"] for one in best]
    shares = [f"{speed * best[0]['operations'] / peak:.2f}" for speed in speeds]
    shown: list[object] = [instructions, dtype, f"{peak / 1e9:,.0f}", batch]
    for speed, share in zip(speeds, shares, strict=True):
        shown += [f"{speed:,.0f}", share]
    return shown + ([f"{speeds[0] / speeds[1]:.2f}"] if len(speeds) > 1 else [])


def _reading(threads: int) -> Table:
    """Of memory of some sizes, by the processor's widest loads."""
    sizes = [1 << power for power in range(20, 26)]
    rows = [[size >> 20, *(f"{bytes_per_second(size, each) / 1e9:,.0f}" for each in (1, threads))] for size in sizes]
    return Table(["MB", "one thread, GB/s", f"{threads} threads"], rows, "Reading")


if __name__ == "__main__":
    raise SystemExit(main())
