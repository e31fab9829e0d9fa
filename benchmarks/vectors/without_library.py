"""How fast numpy computes vectors where there is no native library, beside the library: in turn, in one process.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/vectors/without_library.py

Words per second of CPU time, with the bundled small-en: 64 sentences one by one, and all in one call. The best of all
rounds; words seen in an earlier round are forgotten.
"""

import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

from record import Record, Table, parser
from sentences import TEXT, first_sentences

from elmo.embed.embedder import Embedder
from elmo.ops import native

_KINDS = [("native", "float32"), ("numpy", "float32"), ("native", "int8"), ("numpy", "int8")]
_CALLS = {"one by one": 1, "64 in one call": 64}


def main() -> int:
    """Measures and writes the record; the exit code."""
    arguments = parser(__doc__)
    arguments.add_argument("--rounds", type=int, default=6)
    given = arguments.parse_args()
    sentences = first_sentences(TEXT, 64)
    embedders = {kind: _embedder(*kind, sentences) for kind in _KINDS}
    seconds: dict[tuple[tuple[str, str], str], float] = {}
    for _ in range(given.rounds):
        for call, size in _CALLS.items():
            for kind, embedder in embedders.items():
                embedder.forget_words()
                begun = time.process_time()
                for start in range(0, len(sentences), size):
                    embedder.embed(sentences[start : start + size])
                key = kind, call
                seconds[key] = min(seconds.get(key, float("inf")), time.process_time() - begun)
    words = sum(map(len, sentences))
    rows = [
        [*kind, call, f"{words / seconds[kind, call]:,.0f}", f"{seconds[kind, call] / seconds[_KINDS[0], call]:.2f}"]
        for call in _CALLS
        for kind in _KINDS
    ]
    table = Table(["computed by", "dtype", "64 sentences", "words/s", "time, float32 of the library = 1"], rows)
    sentence = "CPU time on a machine that other work shares: figures within 10 % of each other are equal."
    settings = {"threads": os.environ.get("OMP_NUM_THREADS", "not set"), "rounds": given.rounds}
    Record("without-library", "Vectors without the native library", [table], sentence, settings).write(given.results)
    return 0


def _embedder(backend: str, dtype: str, sentences: list[list[str]]) -> Embedder:
    """With its weights laid out by the library or by numpy, which stays so."""
    os.environ["ELMO_NATIVE"] = "1" if backend == "native" else "0"
    native.library.cache_clear()
    embedder = Embedder.from_pretrained("small-en", device="cpu", dtype=dtype)
    embedder.embed(sentences[:1])
    return embedder


if __name__ == "__main__":
    raise SystemExit(main())
