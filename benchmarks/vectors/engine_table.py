"""The speed of vectors on this machine, compared with its floors and the goals: sizes, dtypes, one call or many.

    python benchmarks/vectors/engine_table.py                        some minutes; run it on a quiet machine
    python benchmarks/vectors/engine_table.py --beside ../main       in turn with another checkout, its library built
    python benchmarks/vectors/engine_table.py --clock cpu --threads 1     on a busy machine: CPU time, no floors

Floors: the time of the matrix products alone at the peak that is measured in the same run, with one thread and with
all, on the same instruction set. For one sentence a call: the time of reading the recurrent weights at every step, if
that is longer. Each checkout and instruction set has a process of its own. Every row is measured in every round, the
checkouts in turn, and the best round counts: it comes nearest to what a quiet machine gives. The last table has two
processes at once, each with all threads: threads that wait must not keep the other process from computing.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

from record import ROOT, Record, Table, parser

_SIZES = {"original": "published size (4096/512)", "small": "small size (1024/128)"}
_DTYPES = ("float32", "bfloat16", "int8")
_ALL, _BATCH, _ONE = "all in one call", "64 a call, as they come", "one a call"
_BATCHES = {_ALL: 0, _BATCH: 64, _ONE: 1}
# Shares of the floor, or words per second, with all threads: design goals of the engine.
_GOALS: dict[tuple[str, str], tuple[float, float, float]] = {
    ("original", _ALL): (0.85, 0.8, 0.7),
    ("original", _BATCH): (0.7, 0.65, 0.5),
    ("original", _ONE): (240, 800, 1500),
    ("small", _ALL): (0.6, 0.6, 0.6),
    ("small", _ONE): (5000, 8000, 12000),
}
_GOALS_AVX2 = (0.8, None, 0.6)


class Row(NamedTuple):
    """One figure of the table."""

    size: str
    instructions: str
    dtype: str
    call: str
    threads: int


class Process:
    """A checkout's engine_worker.py on one instruction set."""

    def __init__(self, checkout: Path, instructions: str) -> None:
        environment = os.environ | {"PYTHONPATH": str(checkout / "src"), "ELMO_INSTRUCTIONS": instructions}
        command = [sys.executable, str(Path(__file__).with_name("engine_worker.py"))]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def ask(self, **request: object) -> None:
        """Begins a measurement."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """Waits for it."""
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def end(self) -> None:
        """Ends the process."""
        self._process.communicate()


def main() -> int:
    """Measures and writes the record; the exit code."""
    arguments = parser(__doc__)
    arguments.add_argument("--sizes", nargs="+", default=list(_SIZES), choices=_SIZES)
    arguments.add_argument("--dtypes", nargs="+", default=list(_DTYPES), choices=_DTYPES)
    arguments.add_argument("--calls", nargs="+", default=["all", "64", "1"], choices=("all", "64", "1"))
    arguments.add_argument("--instructions", nargs="+", default=["all", "avx2"], help="avx2: all in one call only")
    arguments.add_argument("--sentences", type=int, default=2000, help="of the one big call")
    arguments.add_argument("--single", type=int, default=60, help="sentences that are embedded one by one")
    arguments.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--beside", type=Path, help="another checkout, measured in turn")
    arguments.add_argument("--clock", choices=("wall", "cpu"), default="wall")
    given = arguments.parse_args()
    checkouts = [ROOT, *([given.beside.resolve()] if given.beside else [])]
    best: dict[tuple[Row, Path], dict[str, Any]] = {}
    peaks: dict[tuple[str, int], dict[str, float]] = {}
    for instructions in given.instructions:
        processes = {checkout: Process(checkout, instructions) for checkout in checkouts}
        for threads in given.threads:
            processes[ROOT].ask(peak=threads)
            peaks[instructions, threads] = processes[ROOT].answer()
        for row in _rows(given, instructions):
            for turn in range(given.rounds):
                for checkout, process in processes.items():
                    process.ask(**_request(row, given))
                    found = process.answer()
                    found["speed"] = found["words"] / found["seconds" if given.clock == "wall" else "cpu"]
                    key = row, checkout
                    best[key] = max(found, best.get(key, found), key=lambda one: one["speed"])
                    print(f"round {turn + 1}: {checkout.name}, {', '.join(map(str, row))}: {found['speed']:,.0f}")
                    sys.stdout.flush()
        for process in processes.values():
            process.end()
    tables = [_figures(best, given.beside, given.clock), _peaks(peaks)]
    if max(given.threads) > 1:
        tables.append(_two_processes(given))
    settings = {"sentences": given.sentences, "rounds": given.rounds, "clock": given.clock}
    if given.beside:
        settings["beside"] = _commit_of(given.beside)
    sentence = "The best of all rounds; words seen in an earlier round are forgotten. Other work lowers all figures."
    Record("engine", "Vectors per second", tables, sentence, settings).write(given.results)
    return 0


def _rows(given: Any, instructions: str) -> list[Row]:
    """Models one after the other: each process keeps one."""
    calls = [name for name, batch in _BATCHES.items() if (str(batch) if batch else "all") in given.calls]
    calls = calls if instructions == "all" else calls[:1]
    return [
        Row(size, instructions, dtype, call, threads)
        for size in given.sizes
        for dtype in given.dtypes
        for call in calls
        for threads in given.threads
    ]


def _request(row: Row, given: Any) -> dict[str, object]:
    first = {_ALL: given.sentences, _BATCH: min(640, given.sentences), _ONE: given.single}[row.call]
    return {
        "size": row.size,
        "dtype": row.dtype,
        "first": first,
        "batch": _BATCHES[row.call],
        "threads": row.threads,
    }


def _figures(best: dict[tuple[Row, Path], dict[str, Any]], beside: Path | None, clock: str) -> Table:
    columns = ["model", "instructions", "dtype", "sentences", "threads", "words/s", "floor", "share", "goal"]
    rows = []
    for row in dict.fromkeys(row for row, _ in best):
        found = best[row, ROOT]
        bound = min(found["floor"], found["reading"] or found["floor"])
        # Floors are measured by the clock on the wall, so CPU time isn't compared with them.
        compared = [f"{bound:,.0f}", f"{found['speed'] / bound:.2f}"] if clock == "wall" else ["", ""]
        shown = [f"{found['speed']:,.0f}", *compared, _goal(row)]
        if beside:
            before = best[row, beside.resolve()]["speed"]
            shown += [f"{before:,.0f}", f"{found['speed'] / before:.2f}"]
        rows.append([_SIZES[row.size], *row[1:], *shown])
    return Table(columns + (["words/s beside", "times"] if beside else []), rows)


def _goal(row: Row) -> str:
    """Goals are for all threads."""
    goals = _GOALS_AVX2 if row.instructions == "avx2" else _GOALS.get((row.size, row.call), (None,) * 3)
    goal = goals[_DTYPES.index(row.dtype)]
    return "" if goal is None else f"{goal:,}"


def _peaks(peaks: dict[tuple[str, int], dict[str, float]]) -> Table:
    dtypes = list(next(iter(peaks.values())))
    rows = [[name, threads, *(f"{peak[one] / 1e9:,.0f}" for one in dtypes)] for (name, threads), peak in peaks.items()]
    return Table(["instructions", "threads", *dtypes], rows, "Peak, GFLOP/s")


def _two_processes(given: Any) -> Table:
    """One process with all threads, and two of them at once, over calls of 64 sentences and of one."""
    pair = [Process(ROOT, "all"), Process(ROOT, "all")]
    rows = []
    for size in given.sizes:
        for call in (_BATCH, _ONE):
            request = _request(Row(size, "all", given.dtypes[-1], call, max(given.threads)), given)
            alone, together = 0.0, 0.0
            for _ in range(given.rounds):
                alone = max(alone, _together(pair[:1], request))
                together = max(together, _together(pair, request))
            figures = f"{alone:,.0f}", f"{together:,.0f}", f"{together / alone:.2f}"
            rows.append([_SIZES[size], given.dtypes[-1], call, *figures])
    for process in pair:
        process.end()
    columns = ["model", "dtype", "sentences", "one process, words/s", "two at once, together", "times"]
    return Table(columns, rows, f"Two processes of {max(given.threads)} threads each")


def _together(processes: list[Process], request: dict[str, object]) -> float:
    """Words per second of all processes added up."""
    for process in processes:
        process.ask(**request)
    answers = [process.answer() for process in processes]
    return sum(answer["words"] / answer["seconds"] for answer in answers)


def _commit_of(checkout: Path) -> str:
    command = ["git", "-C", str(checkout), "rev-parse", "--short=10", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    raise SystemExit(main())
