"""A context index that FAISS searches: how many of the exact search's hits it finds, and how long both take.

    python benchmarks/vectors/approximate_index.py --text TEXT --tokens 200000

The same index is searched both ways for random tokens of its text. Recall at 10: of the ten hits, how many are as near
as the exact search's tenth. Needs FAISS: pip install 'pyelmo[faiss]'.
"""

import dataclasses
import statistics
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

import numpy as np
from record import Record, Table, parser
from sentences import TEXT

from elmo.analysis.neighbors.build import build_index
from elmo.analysis.neighbors.context_index import ContextIndex
from elmo.embed.embedder import Embedder
from elmo.text.sentences import read_sentences

COUNT = 10


def main() -> int:
    """Measures and writes the record."""
    arguments = parser(__doc__)
    arguments.add_argument("--model", default="small-en")
    arguments.add_argument("--text", type=Path, default=TEXT)
    arguments.add_argument("--tokens", type=int, default=200_000)
    arguments.add_argument("--searches", type=int, default=100, help="of each kind and layer (default: %(default)s)")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "index"
        sentences = islice(read_sentences(given.text), given.tokens)
        start = time.process_time()
        embedder = Embedder.from_pretrained(given.model)
        build_index(sentences, embedder, folder, max_tokens=given.tokens, approximate=True)
        built = time.process_time() - start
        exact, found = ContextIndex(folder), ContextIndex(folder)
        exact.facts = dataclasses.replace(exact.facts, sha256={})
        rows = [
            (which, str(layer), *_compared(exact, found, layer, which, given.searches))
            for which in ("any", "other")
            for layer in range(1, exact.num_layers)
        ]
        sizes = {
            ending: sum(it.stat().st_size for it in folder.glob(f"layer-[1-9].{ending}")) for ending in ("npy", "faiss")
        }
        tokens = len(exact)
    columns = ["hits", "layer", "recall at 10", "exact, CPU ms", "FAISS, CPU ms"]
    sentence = (
        f"{tokens:,} tokens, built in {built:.0f} CPU s; the layers' vectors have {sizes['npy'] / 1e6:.0f} MB, FAISS's "
        f"files {sizes['faiss'] / 1e6:.0f} MB. {given.searches} searches of each kind."
    )
    Record("approximate-index", "Searching a context index by FAISS", [Table(columns, rows)], sentence).write(
        given.results
    )
    return 0


def _compared(exact: ContextIndex, found: ContextIndex, layer: int, which: str, searches: int) -> tuple[str, str, str]:
    shared: list[float] = []
    times: dict[ContextIndex, list[float]] = {exact: [], found: []}
    for token in np.random.default_rng(layer).integers(len(exact), size=searches):
        sentence, position = exact.place(int(token))
        own = exact.sentences[sentence]
        (vector,) = exact.vectors(np.array([token]), layer)
        hits = {}
        for index in (exact, found):
            start = time.process_time()
            hits[index] = index.search(
                vector,
                layer,
                count=COUNT,
                word=own[position],
                which=which,
                not_sentence=own,  # type: ignore[arg-type]
            )
            times[index].append(1000 * (time.process_time() - start))
        last = hits[exact][-1].cosine
        shared.append(sum(hit.cosine >= last - 1e-6 for hit in hits[found]) / len(hits[exact]))
    low, high = (np.mean(shared) + sign * 1.96 * np.std(shared) / len(shared) ** 0.5 for sign in (-1, 1))
    medians = (f"{statistics.median(times[index]):.1f}" for index in (exact, found))
    return f"{np.mean(shared):.3f} ({low:.3f} to {min(1, high):.3f})", *medians


if __name__ == "__main__":
    raise SystemExit(main())
