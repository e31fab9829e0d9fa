"""`elmo.maxsim` beside the matrix product that is in it, in pairs of one after the other.

    python benchmarks/vectors/maxsim.py

The product is that of all tokens of the queries with those of the documents, in blocks of that size; the vectors are
random, and texts have half to one and a half times the mean number of tokens. CPU seconds; the ratio is the median of
the pairs, with the lowest and the highest.
"""

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

import numpy as np
from record import Record, Table, parser

from elmo import maxsim

# Queries and documents, mean tokens of each, dimensions.
SIZES = [(100, 1000, 12, 120, 512), (1, 1000, 12, 120, 512), (100, 1000, 12, 120, 256), (100, 8000, 12, 15, 512)]
_BLOCK = 1 << 24


def main() -> int:
    """Measures and writes the record."""
    arguments = parser(__doc__)
    arguments.add_argument("--pairs", type=int, default=9)
    given = arguments.parse_args()
    chance = np.random.default_rng(0)

    def texts(count: int, tokens: int, dim: int) -> list[np.ndarray]:
        lengths = chance.integers(tokens // 2, tokens * 3 // 2, count)
        return [chance.standard_normal((length, dim)).astype(np.float32) for length in lengths]

    rows = []
    for queries, documents, query_tokens, document_tokens, dim in SIZES:
        asked, known = texts(queries, query_tokens, dim), texts(documents, document_tokens, dim)
        a, b = np.concatenate(asked), np.concatenate(known)
        step = max(1, _BLOCK // len(a))

        def product(a: np.ndarray = a, b: np.ndarray = b, step: int = step) -> None:
            for start in range(0, len(b), step):
                a @ b[start : start + step].T

        def scores(asked: list[np.ndarray] = asked, known: list[np.ndarray] = known) -> None:
            maxsim(asked, known)

        pairs = [(_seconds(product), _seconds(scores)) for _ in range(given.pairs)]
        ratios = sorted(second / first for first, second in pairs)
        sizes = f"{queries:,} of {query_tokens}", f"{documents:,} of {document_tokens}", dim
        shown = f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        rows.append((*sizes, f"{statistics.median(first for first, _ in pairs):.3f}", shown))
    columns = ["queries of tokens", "documents of tokens", "dim", "product, CPU s", "maxsim / product"]
    sentence = f"The slowest takes {max(float(row[-1].split()[0]) for row in rows):.2f} times its product."
    Record("maxsim", "MaxSim beside a matrix product", [Table(columns, rows)], sentence).write(given.results)
    return 0


def _seconds(step: Callable[[], None]) -> float:
    start = time.process_time()
    step()
    return time.process_time() - start


if __name__ == "__main__":
    raise SystemExit(main())
