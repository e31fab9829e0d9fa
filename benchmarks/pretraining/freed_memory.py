"""A step of pretraining whose freed memory is kept for the next one, and one whose memory glibc gives back.

    python benchmarks/pretraining/freed_memory.py --data DATA        # 3 rounds of two processes: 2 minutes

Every figure comes from a process of its own, both kinds taking turns; medians of the rounds. A page fault is a page
that the system fills with zeros: those of a step that keeps its memory are the floor. DATA is what `elmo prepare`
made.
"""

import json
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

from record import BENCHMARKS, Record, Table, parser

FILTERS = [[1, 32], [2, 32], [3, 64], [4, 128], [5, 256]]  # small-en's
GIVEN_BACK, KEPT = "given back", "kept"
ONE = """
import json, resource, sys, time
import torch
from elmo.corpus.shards import TrainingData
from elmo.pretrain.settings.config import PretrainConfig
from elmo.pretrain.step.trainer import Trainer
from elmo.process.resources import keep_freed_memory
from peak_memory import peak_memory
how, data, settings, steps = sys.argv[1], TrainingData.open(sys.argv[2]), json.loads(sys.argv[3]), int(sys.argv[4])
torch.set_num_threads(1)
if how == "kept":
    keep_freed_memory()
config = PretrainConfig(**settings)
trainer = Trainer(config, data)
for _ in range(3):
    trainer.step()
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
before, begun = faults(), time.perf_counter()
for _ in range(steps):
    trainer.step()
seconds = (time.perf_counter() - begun) / steps
print(json.dumps({"tokens": config.batch_size * config.unroll_steps / seconds, "faults": (faults() - before) / steps,
                  "peak": peak_memory()}))
"""


def main() -> int:
    """Measures and writes the record."""
    arguments = parser(__doc__)
    arguments.add_argument("--data", type=Path, required=True, help="folder that `elmo prepare` made")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--steps", type=int, default=30)
    for name, default in (
        ("cell-size", 1024), ("projection-size", 128), ("batch-size", 128), ("unroll-steps", 20), ("negatives", 2048)
    ):  # fmt: skip
        arguments.add_argument(f"--{name}", type=int, default=default)
    given = arguments.parse_args()
    settings = {
        "filters": FILTERS,
        "num_highway": 1,
        "cell_size": given.cell_size, "projection_size": given.projection_size, "batch_size": given.batch_size,
        "unroll_steps": given.unroll_steps, "num_negative_samples": given.negatives, "product_dtype": "bfloat16",
    }  # fmt: skip
    found: dict[str, list[dict[str, float]]] = {GIVEN_BACK: [], KEPT: []}
    for _ in range(given.rounds):
        for how, figures in found.items():
            figures.append(_measured(how, given.data, settings, given.steps))
    rows = [_row(how, figures) for how, figures in found.items()]
    speeds = {how: statistics.median(one["tokens"] for one in figures) for how, figures in found.items()}
    sentence = (
        f"Kept memory makes a step {speeds[KEPT] / speeds[GIVEN_BACK]:.2f} times as fast. Tokens are predictions of "
        "each direction, which compute side by side."
    )
    table = Table(["freed memory", "tokens per second (range)", "page faults a step", "peak memory, MB"], rows)
    facts = {**settings, "data": given.data.name, "rounds": f"{given.rounds}, of {given.steps} steps"}
    Record("freed-memory", "Memory that a training step frees", [table], sentence, facts).write(given.results)
    return 0


def _measured(how: str, data: Path, settings: dict[str, object], steps: int) -> dict[str, float]:
    command = [sys.executable, "-c", ONE, how, str(data.resolve()), json.dumps(settings), str(steps)]
    done = subprocess.run(command, capture_output=True, check=True, cwd=BENCHMARKS)
    return json.loads(done.stdout)


def _row(how: str, figures: list[dict[str, float]]) -> list[str]:
    tokens = [one["tokens"] for one in figures]
    faults, peak = (statistics.median(one[name] for one in figures) for name in ("faults", "peak"))
    speeds = f"{statistics.median(tokens):,.0f} ({min(tokens):,.0f} to {max(tokens):,.0f})"
    return [how, speeds, f"{faults:,.0f}", f"{peak / 1e6:,.0f}"]


if __name__ == "__main__":
    raise SystemExit(main())
