"""A context index: how long building one takes, how long opening it, and how long a search.

    python benchmarks/vectors/context_index.py
    python benchmarks/vectors/context_index.py --tokens 50000 --model small-ko --text TEXT

The tokens of a text are embedded and written once; vectors of the same sentences are computed alone beside it, so that
the rest is what the index itself costs. Searches are for random tokens of the text, each kind of search in turn; the
first search of a layer, which loads it, stands apart. Seconds of the processor say more than those of the clock on a
busy machine.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

import numpy as np
from record import Record, Table, parser
from sentences import TEXT

from elmo.analysis.neighbors.build import build_index
from elmo.analysis.neighbors.context_index import ContextIndex
from elmo.embed.embedder import Embedder
from elmo.ops.native.threads import num_threads
from elmo.text.sentences import read_sentences

KINDS = ("any", "same", "other")


def main() -> int:
    """Measures and writes the record."""
    arguments = parser(__doc__)
    arguments.add_argument("--model", default="small-en", help="name, folder or hub id (default: %(default)s)")
    arguments.add_argument("--text", type=Path, default=TEXT)
    arguments.add_argument("--tokens", type=int, default=200_000)
    arguments.add_argument("--dtype", default="auto")
    arguments.add_argument("--searches", type=int, default=50, help="of each kind and layer (default: %(default)s)")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        record = _measured(given.model, given.text, given.tokens, given.dtype, given.searches, Path(folder) / "index")
    record.write(given.results)
    return 0


def _measured(model: str, text: Path, tokens: int, dtype: str, searches: int, folder: Path) -> Record:
    embedder = Embedder.from_pretrained(model, dtype=dtype)
    sentences = list(_first(text, tokens))
    Embedder.from_pretrained(model, dtype=dtype).embed(sentences[:50])  # whatever is loaded once
    built = _timed(lambda: build_index(sentences, embedder, folder, model=model, max_tokens=tokens))
    # A new one: the first remembers the vectors of words.
    alone = Embedder.from_pretrained(model, dtype=dtype)
    embedded = _timed(lambda: sum(1 for _ in alone.embed_iter(sentences)))
    opened = _timed(lambda: ContextIndex(folder))
    index = ContextIndex(folder)
    size = sum(path.stat().st_size for path in folder.iterdir())
    steps = {"build the index": built, "of that, embed alone": embedded, "open it": opened}
    found, slowest = [], 0.0
    for layer in range(index.num_layers):
        first = _timed(lambda layer=layer: index.search(index.vectors(np.array([0]), layer)[0], layer))[0]
        medians = [_medians(_searches(index, layer, kind, searches)) for kind in KINDS]
        slowest = max(slowest, *(cpu for _, cpu in medians))
        found.append([layer, f"{1000 * first:.0f}", *(f"{wall:.1f} ({cpu:.1f})" for wall, cpu in medians)])
    tables = [
        Table(
            ("step", "seconds", "of the processor"),
            [(name, f"{wall:.1f}", f"{cpu:.1f}") for name, (wall, cpu) in steps.items()],
            "Building",
        ),
        Table(
            ("layer", "first search, ms", *(f"{kind}, ms" for kind in KINDS)),
            found,
            "Searching: medians by the clock, and of the processor",
        ),
    ]
    sentence = (
        f"{len(index):,} tokens take {built[0]:.0f} s to index ({built[1]:.0f} s of the processor, "
        f"{embedded[1]:.0f} of them for the vectors) and {size / 1e6:.0f} MB; the slowest kind of search takes "
        f"{slowest:.0f} ms of the processor. Searches are exact and one at a time, of vectors that are in memory."
    )
    settings = {"model": model, "dtype": embedder.dtype, "text": text.name, "threads": num_threads()}
    return Record("context-index", "A context index", tables, sentence, settings)


def _first(text: Path, tokens: int) -> list[list[str]]:
    """Sentences up to so many tokens."""
    counts = 0
    taken = []
    for sentence in islice(read_sentences(text), tokens):
        counts += len(sentence)
        if counts > tokens:
            break
        taken.append(list(sentence))
    return taken


def _timed(step: Callable[[], object]) -> tuple[float, float]:
    """Seconds by the clock, and of the processor."""
    wall, cpu = time.perf_counter(), time.process_time()
    step()
    return time.perf_counter() - wall, time.process_time() - cpu


def _medians(searches: list[tuple[float, float]]) -> tuple[float, float]:
    """Milliseconds by the clock, and of the processor."""
    wall, cpu = (1000 * statistics.median(seconds) for seconds in zip(*searches, strict=True))
    return wall, cpu


def _searches(index: ContextIndex, layer: int, which: str, count: int) -> list[tuple[float, float]]:
    """Seconds of each search by the clock, and of the processor."""
    found = []
    for token in np.random.default_rng(0).integers(len(index), size=count):
        sentence, position = index.place(int(token))
        tokens, vector = index.sentences[sentence], index.vectors(np.array([token]), layer)[0]
        search = {"word": tokens[position], "which": which, "not_sentence": tokens}
        found.append(_timed(lambda v=vector, s=search: index.search(v, layer, count=6, **s)))
    return found


if __name__ == "__main__":
    raise SystemExit(main())
