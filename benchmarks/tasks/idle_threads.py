"""Training a small tagger with idle threads that spin, as OpenMP's do unless they are told not to, or that sleep.

    python benchmarks/tasks/idle_threads.py          # 3 rounds, alone and beside 2 busy processes: 5 minutes

`elmo task train ner` on 200 made-up sentences, 2 epochs with the bundled model, as a process of its own each time. The
contestants take turns: "spin" is libgomp's own default (GOMP_SPINCOUNT=300000), "ours" what the command line sets for
itself, "sleep" OMP_WAIT_POLICY=PASSIVE, "one thread" OMP_NUM_THREADS=1. Busy processes count as fast as they can.
"""

import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

from record import ROOT, Record, Table, parser

from elmo.process.resources import IDLE_THREAD_VARIABLES

CONTESTANTS = {
    "spin": {"GOMP_SPINCOUNT": "300000"},
    "ours": {},
    "sleep": {"OMP_WAIT_POLICY": "PASSIVE"},
    "one thread": {"OMP_NUM_THREADS": "1"},
}
_PLACES = ["Rome", "Paris", "Lima", "Oslo"]
_WORDS = ["the", "old", "train", "from", "a", "bridge", "near", "our", "house", "left", "before", "many", "people"]


def main() -> int:
    """Measures and writes the record."""
    arguments = parser(__doc__)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--sentences", type=int, default=200)
    arguments.add_argument("--epochs", type=int, default=2)
    arguments.add_argument("--busy", nargs="+", type=int, default=[0, 2], help="numbers of busy processes")
    given = arguments.parse_args()
    rows, gains = [], []
    with tempfile.TemporaryDirectory() as folder:
        data = written(Path(folder), given.sentences)
        for num_busy in given.busy:
            with busy_processes(num_busy):
                found = in_turn(data, given.rounds, given.epochs)
            for name, times in found.items():
                wall, cpu = ([one[part] for one in times] for part in (0, 1))
                rows.append([num_busy, name, *map(spread, (wall, cpu))])
            spin, ours = (statistics.median(wall for wall, _ in found[name]) for name in ("spin", "ours"))
            gains.append(f"{spin / ours:.2f} times beside {num_busy} busy processes")
    table = Table(["busy processes", "idle threads", "wall, s", "processor, s"], rows)
    sentence = (
        f"Where threads spin as libgomp lets them, training takes this many times as long as with ours: "
        f"{', '.join(gains)} (wall time, medians; lowest and highest in brackets). What else ran on the machine is in "
        "the load above."
    )
    settings = {"rounds": given.rounds, "sentences": given.sentences, "epochs": given.epochs}
    Record("idle-threads", "Idle threads in training", [table], sentence, settings).write(given.results)
    return 0


def written(folder: Path, num_sentences: int) -> Path:
    """Made-up sentences with a place in each."""
    chosen = random.Random(1)
    path = folder / "places.conll"
    with path.open("w", encoding="utf-8") as file:
        for _ in range(num_sentences):
            words = [(word, "O") for word in chosen.choices(_WORDS, k=18)]
            words.insert(chosen.randrange(18), (chosen.choice(_PLACES), "B-LOC"))
            file.writelines(f"{word} {tag}\n" for word, tag in words)
            file.write("\n")
    return path


def in_turn(data: Path, rounds: int, epochs: int) -> dict[str, list[tuple[float, float]]]:
    """(wall, processor) seconds of each training."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in CONTESTANTS}
    for number in range(rounds):
        for name, variables in CONTESTANTS.items():
            found[name].append(trained(data, data.parent / f"{name[:3]}-{number}-{time.time_ns()}", variables, epochs))
    return found


def trained(data: Path, run: Path, variables: dict[str, str], epochs: int) -> tuple[float, float]:
    """(wall, processor) seconds of a training in a process of its own."""
    ours = {
        name: value for name, value in os.environ.items() if name not in (*IDLE_THREAD_VARIABLES, "OMP_NUM_THREADS")
    }
    path = os.pathsep.join(filter(None, [str(ROOT / "src"), ours.get("PYTHONPATH")]))
    command = [sys.executable, "-m", "elmo", "task", "train", "ner", "--train", str(data), "-o", str(run), "--quiet"]
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        [*command, "--epochs", str(epochs)],
        env=ours | variables | {"PYTHONPATH": path},
        check=True,
        capture_output=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - begun, processor


@contextmanager
def busy_processes(number: int) -> Iterator[None]:
    """So many processes that need a processor each."""
    started = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(number)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def spread(values: list[float]) -> str:
    """The median, the lowest and the highest."""
    return f"{statistics.median(values):.1f} ({min(values):.1f} to {max(values):.1f})"


if __name__ == "__main__":
    raise SystemExit(main())
