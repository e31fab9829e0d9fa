"""How long a person waits, and how much memory it takes: import, --help, the first vector, the next ones.

    python benchmarks/vectors/start_up.py
    python benchmarks/vectors/start_up.py --models small-en original --sentences 50

Every figure comes from processes of its own, kinds taking turns; medians of the rounds. A model of random weights
("small", "medium", "original") is first stored in a folder. "first vector" is what a process needs from its start
until the first sentence's vectors are there, Python and reading the model included; the next sentences come one a call.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

from record import BENCHMARKS, Record, Table, parser
from sentences import TEXT
from speed import DTYPES, random_bilm

from elmo.config import PUBLISHED_SIZES

ONE = """
import json, lzma, statistics, sys, time
from elmo import Embedder
from peak_memory import peak_memory
model, dtype, text, count = sys.argv[1:]
embedder = Embedder.from_pretrained(model, dtype=dtype)
embedder.embed(["He went to the bank to get money ."])
first, times, words = time.time(), [], 0
with lzma.open(text, "rt", encoding="utf-8") as lines:
    sentences = [line.split() for line, _ in zip(lines, range(int(count)))]
for sentence in sentences:
    begun = time.perf_counter()
    embedder.embed([sentence])
    times.append(time.perf_counter() - begun)
    words += len(sentence)
peak = peak_memory()
print(json.dumps({"first": first, "median": statistics.median(times), "words": words / sum(times), "peak": peak}))
"""


def main() -> int:
    """Measures and writes the record."""
    arguments = parser(__doc__)
    arguments.add_argument("--models", nargs="+", default=["small-en", "original"], help="names, folders or sizes")
    arguments.add_argument("--text", type=Path, default=TEXT)
    arguments.add_argument("--sentences", type=int, default=50)
    arguments.add_argument("--rounds", type=int, default=5)
    given = arguments.parse_args()
    bare = {"python -c pass": ["-c", "pass"], "import elmo": ["-c", "import elmo"], "elmo --help": ["-m", "elmo", "-h"]}
    bare["import torch"] = ["-c", "import torch"]
    waits: dict[str, list[float]] = {name: [] for name in bare}
    found: dict[tuple[str, str], list[dict[str, float]]] = {}
    with tempfile.TemporaryDirectory() as name:
        places = {model: _stored(model, Path(name)) for model in given.models}
        for turn in range(given.rounds):
            for what, command in bare.items():
                waits[what].append(_seconds(command))
            for model in given.models:
                for dtype in DTYPES:
                    one = _embed(places[model], dtype, given.text, given.sentences)
                    found.setdefault((model, dtype), []).append(one)
            print(f"round {turn + 1} of {given.rounds}", file=sys.stderr, flush=True)
    rows = [
        [what, f"{statistics.median(times):.2f} s ({min(times):.2f} - {max(times):.2f})"]
        for what, times in waits.items()
    ]
    table = [[model, dtype, *_figures(runs)] for (model, dtype), runs in found.items()]
    columns = ["model", "dtype", "first vector", "a sentence, median", "words/s, one sentence a call", "peak memory"]
    sentence = (
        "A process that is started again finds its files in the system's cache; the very first start takes longer."
    )
    tables = [Table(["", "seconds, median (range)"], rows), Table(columns, table)]
    Record("start-up", "Waiting for the first vector", tables, sentence, {"rounds": given.rounds}).write(given.results)
    return 0


def _stored(model: str, folder: Path) -> str:
    if model not in PUBLISHED_SIZES:
        return model
    random_bilm(model).save_pretrained(folder / model)
    return str(folder / model)


def _seconds(command: list[str]) -> float:
    begun = time.perf_counter()
    subprocess.run([sys.executable, *command], check=True, capture_output=True)
    return time.perf_counter() - begun


def _embed(model: str, dtype: str, text: Path, count: int) -> dict[str, float]:
    begun = time.time()
    command = [sys.executable, "-c", ONE, model, dtype, str(text.resolve()), str(count)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=BENCHMARKS)
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures | {"first": figures["first"] - begun}


def _figures(runs: list[dict[str, float]]) -> list[str]:
    def median(name: str) -> float:
        return statistics.median(run[name] for run in runs)

    peak = max(run["peak"] for run in runs) / 1e6
    return [
        f"{median('first'):.2f} s",
        f"{1e3 * median('median'):.1f} ms",
        f"{median('words'):,.0f}",
        f"{peak:,.0f} MB",
    ]


if __name__ == "__main__":
    raise SystemExit(main())
