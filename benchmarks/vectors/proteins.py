"""How fast proteins become vectors, in a network of SeqVec's size with random weights: residues a second of one core.

    python benchmarks/vectors/proteins.py

Proteins are made up: 24 of about 350 residues, as in Swiss-Prot, in one call; and one of 1,000 alone. All times are
those of the processor, so that what else the machine does hardly counts, and of one thread. The floor is the time of
the products alone at the speed of the processor's multiply-and-add instructions in the same run; for a protein alone
it is the time of reading the recurrent weights at every step, which is longer.
"""

import random
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

import numpy as np
import torch
from record import Record, Table, parser
from speed import floor, random_bilm, words_of

from elmo.config import BiLMConfig
from elmo.embed.embedder import Embedder
from elmo.ops import native
from elmo.ops.native.kinds import FACTORS_IN_32_BITS

_LETTERS, _SHARES = (
    "LAGVESIKRDTPNQFYMHCW",
    (97, 83, 71, 69, 67, 66, 59, 58, 55, 55, 54, 47, 41, 39, 39, 29, 24, 23, 14, 11),
)
_ROUNDS = 100_000


def main() -> int:
    """Measures and writes the record; the exit code."""
    arguments = parser(__doc__)
    arguments.add_argument("--dtypes", nargs="+", default=["float32", "bfloat16"])
    arguments.add_argument("--rounds", type=int, default=3)
    given = arguments.parse_args()
    torch.set_num_threads(1)
    chance = random.Random(1)
    many = [chance.choices(_LETTERS, _SHARES, k=max(30, int(chance.gammavariate(2, 175)))) for _ in range(24)]
    alone = [chance.choices(_LETTERS, _SHARES, k=1000)]
    rows = []
    bilm = random_bilm("original")
    for dtype in given.dtypes:
        embedder = Embedder(bilm, dtype=dtype)
        peak = {dtype: _peak(dtype)}
        for name, proteins in {f"{len(many)} proteins": many, "one protein": alone}.items():
            speeds = [_speed(embedder, proteins) for _ in range(given.rounds)]
            bound = floor(bilm.config, {"float32": peak[dtype], **peak}, dtype, proteins)
            if len(proteins) == 1:
                bound = min(bound, _read_per_second(bilm.config, dtype))
            best = max(speeds)
            figures = [statistics.median(speeds), best, bound]
            rows.append([dtype, name, words_of(proteins), *(f"{it:,.0f}" for it in figures), f"{best / bound:.2f}"])
    columns = ["dtype", "in a call", "residues", "residues/s, median", "best round", "floor", "share of it"]
    sentence = (
        "Residues a second of processor time, of one thread. Other processes take the memory's bandwidth and the "
        "caches too, so on a busy machine all figures are lower than on a quiet one, and the floors with them."
    )
    settings = {"model": "original (SeqVec's size), random weights", "threads": 1, "layers": "1,1,1"}
    Record("proteins", "Proteins to vectors", [Table(columns, rows)], sentence, settings).write(given.results)
    return 0


def _peak(dtype: str) -> float:
    """Multiplications and additions a second of processor time: the best of some rounds."""
    library, kind = native.required_library(), FACTORS_IN_32_BITS[dtype]  # type: ignore[index]
    seconds = []
    for _ in range(5):
        begun = time.thread_time()
        library.peak(kind, _ROUNDS)
        seconds.append(time.thread_time() - begun)
    return _ROUNDS * library.peak_operations(kind) / min(seconds)


def _read_per_second(config: BiLMConfig, dtype: str) -> float:
    """How often in a second of processor time the recurrent weights of all layers can be read: once a residue."""
    together = 5 * config.cell_size * config.projection_size * 4 // FACTORS_IN_32_BITS[dtype] * len(config.directions)  # type: ignore[index]
    library, weights, seconds = native.required_library(), np.ones(together, np.uint8), []
    for _ in range(20):
        begun = time.thread_time()
        library.read(weights)
        seconds.append(time.thread_time() - begun)
    return 1 / (config.num_layers * min(seconds))


def _speed(embedder: Embedder, proteins: list[list[str]]) -> float:
    embedder.forget_words()
    begun = time.process_time()
    embedder.embed(proteins, [1, 1, 1])
    return words_of(proteins) / (time.process_time() - begun)


if __name__ == "__main__":
    raise SystemExit(main())
