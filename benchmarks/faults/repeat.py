"""Numbers N3: two runs with the same seed are the same, bit for bit.

    python benchmarks/faults/repeat.py --steps 500

Each recipe twice, in processes of their own: loss of every step, every evaluation, and the finished model. "wider" has
products large enough for torch to share out among threads. The processes use as many threads as they find.
"""

import random
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

import tiny_run
from record import Record, Table, parser

RECIPES: dict[str, dict[str, Any]] = {
    "tiny, float32": {},
    "tiny, bfloat16 products": {"product_dtype": "bfloat16"},
    "wider, float32": {"cell_size": 256, "projection_size": 64, "batch_size": 32, "unroll_steps": 20},
    "tiny, full softmax, Adagrad": {"softmax": "full", "optimizer": "adagrad", "learning_rate": 0.2},
}


def main() -> int:
    """Runs the test and writes the record; exit code 1 if two runs differ."""
    arguments = parser(__doc__)
    arguments.add_argument("--steps", type=int, default=500)
    arguments.add_argument("--recipes", nargs="*", choices=list(RECIPES), default=list(RECIPES), metavar="RECIPE")
    given = arguments.parse_args()
    rows, good = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for name in given.recipes:
            work = Path(folder) / name.replace(" ", "-").replace(",", "")
            work.mkdir()
            tiny_run.write_data(work, random.Random(1), max_steps=given.steps, **RECIPES[name])
            for run in ("first", "second"):
                tiny_run.start(work, work / run).finish()
            (first, model), (second, other_model) = (tiny_run.outcome(work / run) for run in ("first", "second"))
            equal = sum(a == b for a, b in zip(first, second, strict=True))
            same = first == second and model == other_model
            good += same
            rows.append([name, f"{equal} of {len(first)}", "equal" if model == other_model else "NOT equal"])
            print(rows[-1], flush=True)
    sentence = f"{good} of {len(rows)} recipes gave the same bits twice in {given.steps} steps, on the CPU."
    table = Table(["recipe", "equal lines of metrics.jsonl", "finished models"], rows)
    Record("fault-repeat", "Numbers: the same run twice (N3)", [table], sentence).write(given.results)
    return 0 if good == len(rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
