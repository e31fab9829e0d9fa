"""How fast sentences become vectors: words a second by dtype and batch, beside what the machine's products allow.

    python benchmarks/vectors/embedding.py                          published size, random weights; takes minutes
    python benchmarks/vectors/embedding.py --size small --against   beside the plain operations (plain_embedding.py)

Sentences are lines of real text in their natural lengths. Every kind is timed in every round, so that what else the
machine does falls on all of them; figures are medians over the rounds, and of each kind the best round. The floor is
the time of the products alone at the speed that the processor's multiply-and-add instructions reach in the same run;
for one sentence a call, it is the time of reading the recurrent weights once a step, if that is longer.
"""

import statistics
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

import torch
from peak_memory import peak_memory
from plain_embedding import PlainEmbedder
from record import Record, Table, parser
from sentences import TEXT, first_sentences
from speed import (
    DTYPES,
    MachinePeak,
    floor,
    measured_peak,
    random_bilm,
    reading_floor,
    words_of,
)

from elmo.embed.embedder import Embedder

_PLAIN_BATCH = 64


def main() -> int:
    """Measures and writes the record; the exit code."""
    arguments = parser(__doc__)
    arguments.add_argument("--size", choices=("small", "original"), default="original")
    arguments.add_argument("--model", help="a model's name or folder instead of random weights of --size")
    arguments.add_argument("--text", type=Path, default=TEXT, help="one sentence a line, .xz or plain")
    arguments.add_argument("--sentences", type=int, default=2000, help="of the one big call")
    arguments.add_argument("--dtypes", nargs="+", default=list(DTYPES), choices=DTYPES)
    arguments.add_argument("--batches", type=int, nargs="+", default=[1, 16, 64, 128, 0], help="0: all in one call")
    arguments.add_argument("--words", type=int, default=1500, help="at least as many in a round of small batches")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--against", action="store_true", help="also the plain operations, batches of 64, unsorted")
    given = arguments.parse_args()
    torch.set_num_threads(given.threads)
    sentences = first_sentences(given.text, given.sentences)
    bilm = None if given.model else random_bilm(given.size)
    embedders = {
        dtype: Embedder.from_pretrained(given.model, dtype=dtype) if bilm is None else Embedder(bilm, dtype=dtype)
        for dtype in given.dtypes
    }
    kinds = [(dtype, batch) for dtype in given.dtypes for batch in given.batches]
    found: dict[tuple[str, int], list[float]] = {kind: [] for kind in kinds}
    plain = PlainEmbedder(next(iter(embedders.values())).bilm) if given.against else None
    plainly: list[float] = []
    peaks: list[MachinePeak] = []
    for turn in range(given.rounds):
        peaks.append(measured_peak(given.threads))
        for dtype, batch in kinds:
            chosen = sentences if batch == 0 else _share(sentences, given.words, batch, turn)
            found[dtype, batch].append(_speed(embedders[dtype], chosen, batch))
            print(f"round {turn}: {dtype}, batch {batch or 'all'}: {found[dtype, batch][-1]:,.0f} words/s", flush=True)
        if plain is not None:
            plainly.append(_speed(plain, _share(sentences, given.words, _PLAIN_BATCH, turn), _PLAIN_BATCH))
            print(f"round {turn}: plain, batch {_PLAIN_BATCH}: {plainly[-1]:,.0f} words/s", flush=True)
    peak = {dtype: max(one[dtype] for one in peaks) for dtype in peaks[0]}
    config = next(iter(embedders.values())).bilm.config
    words = words_of(sentences)
    bounds = {(dtype, batch): floor(config, peak, dtype, sentences) for dtype, batch in kinds}
    for dtype, batch in kinds:
        if batch == 1 and (reading := reading_floor(config, dtype, words, len(sentences), given.threads)):
            bounds[dtype, batch] = min(reading, bounds[dtype, batch])
    rows = [
        [dtype, batch or f"all {len(sentences)}", *_figures(found[dtype, batch], bounds[dtype, batch])]
        for dtype, batch in kinds
    ]
    if plainly:
        rows.append(["plain, float32", _PLAIN_BATCH, *_figures(plainly, floor(config, peak, "float32", sentences))])
    columns = ["dtype", "sentences a call", "words/s, median", "best round", "floor", "share of it, best round"]
    facts = Table(
        ["", "multiplications and additions, all threads"], [[k, f"{v / 1e9:,.0f} G/s"] for k, v in peak.items()]
    )
    memory = peak_memory() / 1e9
    settings: dict[str, Any] = {
        "model": given.model or f"{given.size}, random weights",
        "text": f"{len(sentences)} sentences, {words_of(sentences)} words, of {given.text.name}",
        "threads": given.threads,
        "products": {dtype: one.describe()["products"] for dtype, one in embedders.items()},
        "peak memory": f"{memory:.2f} GB, all dtypes together",
    }
    sentence = (
        "The median is what this machine gave in its present company; the best round comes nearest to what a quiet one "
        "gives. Small calls take words not seen in the round before, the big call starts with an empty cache."
    )
    Record("embedding", "Sentences to vectors", [Table(columns, rows), facts], sentence, settings).write(given.results)
    return 0


def _share(sentences: list[list[str]], words: int, batch: int, turn: int) -> list[list[str]]:
    """Whole batches of about as many words, other ones each round."""
    mean = words_of(sentences) / len(sentences)
    count = max(batch, round(words / mean / batch) * batch)
    start = turn * count % max(1, len(sentences) - count)
    return sentences[start : start + count]


def _speed(embedder: Embedder | PlainEmbedder, sentences: list[list[str]], batch: int) -> float:
    if batch == 0 and isinstance(embedder, Embedder):
        embedder.forget_words()
    size = batch or len(sentences)
    begun = time.perf_counter()
    for start in range(0, len(sentences), size):
        embedder.embed(sentences[start : start + size])
    return words_of(sentences) / (time.perf_counter() - begun)


def _figures(speeds: list[float], bound: float) -> list[str]:
    best = max(speeds)
    return [f"{statistics.median(speeds):,.0f}", f"{best:,.0f}", f"{bound:,.0f}", f"{best / bound:.2f}"]


if __name__ == "__main__":
    raise SystemExit(main())
