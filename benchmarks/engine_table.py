"""The speed of vectors on this machine, compared with its floors: both sizes, every dtype, one call or many.

    python benchmarks/engine_table.py                       takes some minutes; run it on a quiet machine
    ELMO_INSTRUCTIONS=avx2 python benchmarks/engine_table.py --dtypes float32 int8       another tier

Floors: the time of the matrix products alone at the peak that is measured in the same run, with one thread and with
all. For one sentence a call: the time of reading the recurrent weights at every step, if that is longer. Every row is
measured in every round, and the best round counts: it comes nearest to what a quiet machine gives.
"""

import torch
from embedding import TEXT, _sentences, _speed
from record import Record, Table, parser

from elmo.embed.embedder import Embedder
from elmo.embed.speed import DTYPES, floor, measured_peak, random_bilm, reading_floor, words_of
from elmo.ops import native

_SIZES = {"original": "published size (4096/512)", "small": "small size (1024/128)"}
_ALL, _BATCH, _ONE = "all in one call", "64 a call, as they come", "one a call"


def main() -> int:
    """Measures and writes the record; the exit code."""
    arguments = parser(__doc__)
    arguments.add_argument("--sizes", nargs="+", default=list(_SIZES), choices=_SIZES)
    arguments.add_argument("--dtypes", nargs="+", default=list(DTYPES), choices=DTYPES)
    arguments.add_argument("--sentences", type=int, default=2000, help="of the one big call")
    arguments.add_argument("--single", type=int, default=60, help="sentences that are embedded one by one")
    arguments.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    arguments.add_argument("--rounds", type=int, default=3)
    given = arguments.parse_args()
    sentences = _sentences(TEXT, given.sentences)
    calls = {_ALL: (sentences, 0), _BATCH: (sentences[:640], 64), _ONE: (sentences[: given.single], 1)}
    peaks = {threads: measured_peak(threads) for threads in given.threads}
    rows = []
    for size in given.sizes:
        bilm = random_bilm(size)
        embedders = {dtype: Embedder(bilm, dtype=dtype) for dtype in given.dtypes}
        best: dict[tuple[str, str, int], float] = {}
        for turn in range(given.rounds):
            for dtype, embedder in embedders.items():
                for name, (chosen, batch) in calls.items():
                    for threads in given.threads:
                        torch.set_num_threads(threads)
                        embedder.forget_words()
                        speed = _speed(embedder, chosen, batch)
                        key = dtype, name, threads
                        best[key] = max(speed, best.get(key, 0.0))
                        print(f"round {turn + 1}: {size}, {dtype}, {name}, {threads}: {speed:,.0f} words/s", flush=True)
        for (dtype, name, threads), speed in best.items():
            chosen, batch = calls[name]
            bound = floor(bilm.config, peaks[threads], dtype, chosen)
            if batch == 1:
                reading = reading_floor(bilm.config, dtype, words_of(chosen), len(chosen), threads)
                bound = min(bound, reading or bound)
            figures = f"{speed:,.0f}", f"{bound:,.0f}", f"{speed / bound:.2f}"
            rows.append([_SIZES[size], dtype, name, threads, *figures])
    columns = ["model", "dtype", "sentences", "threads", "words/s, best", "floor", "share"]
    shown = [[f"{threads}", *(f"{peak[dtype] / 1e9:,.0f}" for dtype in peak)] for threads, peak in peaks.items()]
    peak_table = Table(["threads", *next(iter(peaks.values()))], shown, "Peak, GFLOP/s")
    settings = {"instructions": native.instructions(), "sentences": len(sentences), "rounds": given.rounds}
    sentence = "The best of all rounds; words seen in an earlier round are forgotten. Other work lowers all figures."
    Record("engine", "Vectors per second", [Table(columns, rows), peak_table], sentence, settings).write(given.results)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
