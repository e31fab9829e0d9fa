"""A text to a file of vectors: the writers beside memory, ten times the text, and peak memory.

    python benchmarks/vectors/corpus.py                                   the bundled model
    python benchmarks/vectors/corpus.py --model original --sentences 300  published size, random weights

Each measurement is a process of its own, so that peak memory is its own; kinds take turns, round by round. "memory" is
`Embedder.embed_iter` over the same sentences, which keeps nothing. Seconds are those of embedding and writing (syncs
included), without start and model.
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

import torch
from peak_memory import peak_memory
from record import ROOT, Record, Table, parser
from sentences import TEXT, first_sentences
from speed import random_bilm

from elmo.config import PUBLISHED_SIZES
from elmo.embed.corpus.embed_corpus import embed_corpus
from elmo.embed.embedder import Embedder

KINDS = {"memory": "", "HDF5": ".h5", "npy": ".npy", "Parquet": ".parquet"}


def main() -> int:
    """Measures and writes the record."""
    arguments = parser(__doc__)
    arguments.add_argument("--model", default="small-en", help=f"name, folder, or random: {', '.join(PUBLISHED_SIZES)}")
    arguments.add_argument("--text", type=Path, default=TEXT)
    arguments.add_argument("--sentences", type=int, default=1500, help="of the short text; the long one has ten times")
    arguments.add_argument("--dtype", default="float32")
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--one", nargs=3, metavar=("KIND", "TEXT", "FOLDER"), help="one measurement, as JSON")
    given = arguments.parse_args()
    if given.one:
        print(json.dumps(_one(given, *given.one)))
        return 0
    with tempfile.TemporaryDirectory(dir=ROOT) as name:
        folder = Path(name)
        texts = _texts(given, folder)
        found: dict[tuple[str, str], list[dict[str, float]]] = {}
        for turn in range(given.rounds):
            for kind in KINDS:
                found.setdefault((kind, "short"), []).append(_in_a_process(given, kind, texts["short"], folder))
            print(f"round {turn + 1} of {given.rounds}", file=sys.stderr, flush=True)
        for _ in range(max(1, given.rounds // 2)):
            for kind in ("memory", "HDF5", "Parquet"):
                found.setdefault((kind, "long"), []).append(_in_a_process(given, kind, texts["long"], folder))
    _record(given, found)
    return 0


def _texts(given: Any, folder: Path) -> dict[str, Path]:
    """The long text: the file's first sentences, repeated if they are too few; the short one: every tenth of them."""
    some = [" ".join(sentence) + "\n" for sentence in first_sentences(given.text, 10 * given.sentences)]
    some = [some[place % len(some)] for place in range(10 * given.sentences)]
    texts = {"short": folder / "short.txt", "long": folder / "long.txt"}
    texts["short"].write_text("".join(some[::10]), encoding="utf-8")
    texts["long"].write_text("".join(some), encoding="utf-8")
    return texts


def _in_a_process(given: Any, kind: str, text: Path, folder: Path) -> dict[str, float]:
    command = [sys.executable, __file__, "--model", given.model, "--dtype", given.dtype]
    command += ["--threads", str(given.threads), "--one", kind, str(text), str(folder)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout))


def _one(given: Any, kind: str, text: str, folder: str) -> dict[str, float]:
    torch.set_num_threads(given.threads)
    if given.model in PUBLISHED_SIZES:
        embedder = Embedder(random_bilm(given.model), dtype=given.dtype)
    else:
        embedder = Embedder.from_pretrained(given.model, dtype=given.dtype)
    sentences = [line.split() for line in Path(text).read_text(encoding="utf-8").splitlines()]
    words = sum(map(len, sentences))
    embedder.embed(sentences[:1])
    embedder.forget_words()
    begun, cpu = time.perf_counter(), time.process_time()
    num_bytes = 0
    if kind == "memory":
        for array in embedder.embed_iter(sentences):
            num_bytes += array.nbytes
    else:
        output = Path(folder) / f"vectors{KINDS[kind]}"
        num_bytes = embed_corpus(embedder, text, output, force=True)["bytes"]
    return {
        "words": words,
        "seconds": time.perf_counter() - begun,
        "cpu": time.process_time() - cpu,
        "bytes": num_bytes,
        "peak": peak_memory(),
    }


def _record(given: Any, found: dict[tuple[str, str], list[dict[str, float]]]) -> None:
    base = {part: _median(found["memory", part], "seconds") for part in ("short", "long")}
    rows = []
    for (kind, part), runs in found.items():
        words, seconds = runs[0]["words"], _median(runs, "seconds")
        slowest, fastest = max(run["seconds"] for run in runs), min(run["seconds"] for run in runs)
        peak = max(run["peak"] for run in runs) / 1e6
        rows.append(
            [kind, f"{words:,}", f"{words / seconds:,.0f}", f"{seconds:.2f} ({fastest:.2f} - {slowest:.2f})"]
            + [f"{_median(runs, 'cpu'):.2f}", f"{runs[0]['bytes'] / 1e6:,.0f} MB", f"{seconds / base[part]:.3f}"]
            + [f"{peak:,.0f} MB"]
        )
    columns = ["to", "words", "words/s", "seconds (range)", "CPU s", "numbers", "of memory's time", "peak memory"]
    times = {}
    for kind in ("memory", "HDF5", "Parquet"):
        times[kind] = _median(found[kind, "long"], "seconds") / _median(found[kind, "short"], "seconds")
    sentence = (
        f"Ten times the text took {times['memory']:.2f} times as long to memory and {times['HDF5']:.2f} times to HDF5. "
        "It has fewer than ten times as many distinct words, and only those go through the char CNN."
    )
    settings = {"model": given.model, "dtype": given.dtype, "threads": given.threads, "text": given.text.name}
    Record("corpus", "A text to a file of vectors", [Table(columns, rows)], sentence, settings).write(given.results)


def _median(runs: list[dict[str, float]], name: str) -> float:
    return statistics.median(run[name] for run in runs)


if __name__ == "__main__":
    raise SystemExit(main())
