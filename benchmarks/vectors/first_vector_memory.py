"""How much memory a process takes until the first vector is there, beside the bytes that it can't do without.

    python benchmarks/vectors/first_vector_memory.py
    python benchmarks/vectors/first_vector_memory.py --size small --rounds 1

A model of random weights is stored in each form; for each form and each dtype a process of its own reads it, embeds one
sentence of eight words and states its peak. "floor" is what a process has at its peak that has only imported the
package (interpreter, numpy, elmo), and the bytes of the weights in the dtype that is computed in.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

from record import BENCHMARKS, Record, Table, parser
from speed import random_bilm

from elmo.weights.allennlp.write import write as write_allennlp
from elmo.weights.checkpoint import Checkpoint
from elmo.weights.native.write import write as write_native

BARE = """
from elmo.embed.embedder import Embedder
from peak_memory import peak_memory
print(peak_memory())
"""
ONE = """
import json, sys, time
from elmo.embed.embedder import Embedder
from peak_memory import peak_memory
model, dtype = sys.argv[1:]
embedder = Embedder.from_pretrained(model, dtype=dtype)
read = peak_memory()
embedder.embed(["He went to the bank to get money ."])
print(json.dumps({"read": read, "peak": peak_memory(), "cpu": time.process_time()}))
"""
_FORMS = (("AllenNLP", "float32"), ("own", "float32"), ("own", "bfloat16"), ("own", "int8"))
_COMPUTED = {
    ("AllenNLP", "float32"): ("float32",),
    ("own", "float32"): ("float32", "bfloat16", "int8"),
    ("own", "bfloat16"): ("bfloat16",),
    ("own", "int8"): ("int8", "float32"),
}


def main() -> int:
    """Measures and writes the record."""
    arguments = parser(__doc__)
    arguments.add_argument("--size", choices=("small", "original"), default="original")
    arguments.add_argument("--rounds", type=int, default=3)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as name:
        sizes = _stored(given.size, Path(name))
        bare = int(_run(BARE))
        rows = list(_rows(Path(name), sizes, bare, given.rounds))
    columns = ["format", "stored as", "computed in", "when read", "peak", "weights computed with", "floor", "CPU s"]
    sentence = (
        f"A process that has only imported the package takes {bare / 1e6:,.0f} MB. A model that is computed in fewer "
        "bits than it is stored in keeps what is stored as well."
    )
    settings = {"size": given.size, "rounds": f"{given.rounds}, the largest peak and the median CPU time count"}
    Record("first-vector-memory", "Memory at the first vector", [Table(columns, rows)], sentence, settings).write(
        given.results
    )
    return 0


def _stored(size: str, folder: Path) -> dict[str, int]:
    """Writes the model in every form; the bytes of the weights in each type."""
    checkpoint: Checkpoint = random_bilm(size).to_checkpoint()
    for form, dtype in _FORMS:
        if form == "own":
            write_native(checkpoint, folder / f"{form}-{dtype}", dtype=dtype)  # type: ignore[arg-type]
        else:
            write_allennlp(checkpoint, folder / f"{form}-{dtype}")
    return {
        dtype: (folder / f"own-{dtype}" / "model.safetensors").stat().st_size for form, dtype in _FORMS if form == "own"
    }


def _rows(folder: Path, sizes: dict[str, int], bare: int, rounds: int) -> Iterator[list[str]]:
    for (form, stored), dtypes in _COMPUTED.items():
        for dtype in dtypes:
            runs = [json.loads(_run(ONE, str(folder / f"{form}-{stored}"), dtype)) for _ in range(rounds)]
            read, peak = (max(run[key] for run in runs) for key in ("read", "peak"))
            cpu = sorted(run["cpu"] for run in runs)[rounds // 2]
            figures = (read, peak, sizes[dtype], bare + sizes[dtype])
            yield [form, stored, dtype, *(f"{figure / 1e6:,.0f} MB" for figure in figures), f"{cpu:.2f}"]


def _run(code: str, *arguments: str) -> str:
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=BENCHMARKS)
    return done.stdout


if __name__ == "__main__":
    raise SystemExit(main())
