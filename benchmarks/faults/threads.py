"""One Embedder in many threads (E5): every vector must be that of one thread, bit for bit.

    python benchmarks/faults/threads.py --calls 2000

Fresh and warm, with a small and a large cache and none, by dtype; threads take turns every microsecond.
"""

import copy
import random
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

import torch
from record import Record, Table, parser

from elmo.config import BiLMConfig
from elmo.embed.embedder import Embedder
from elmo.model.bilm import BiLM
from elmo.ops.native.kinds import native_types

CACHES = {"none": 0, "small": 20_000, "large": 64 << 20}
SENTENCES = 60


def main() -> int:
    """Runs all kinds and writes the record; exit code 1 if one bit differed."""
    arguments = parser(__doc__)
    arguments.add_argument("--threads", type=int, default=16)
    arguments.add_argument("--calls", type=int, default=2000, help="of all threads together, for each kind")
    arguments.add_argument("--switch-interval", type=float, default=1e-6, help="seconds (default: %(default)s)")
    given = arguments.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    config = BiLMConfig(cell_size=64, projection_size=16, filters=((1, 8), (2, 8), (3, 16)), character_dim=8)
    bilm = BiLM(config).requires_grad_(False)
    chance = random.Random(1)
    words = [f"{chance.choice('abcdefgh')}{number}" for number in range(400)]
    texts = [[chance.choices(words, k=chance.randint(1, 12)) for _ in range(2)] for _ in range(SENTENCES)]
    rows, bad = [], 0
    sys.setswitchinterval(given.switch_interval)
    for dtype in ("float32", *(dtype for dtype in ("bfloat16", "int8") if dtype in native_types())):
        expected = [_bytes(Embedder(copy.deepcopy(bilm), dtype=dtype, cache_bytes=0), text) for text in texts]
        for name, cache_bytes in CACHES.items():
            for start in ("fresh", "warm"):
                embedder = Embedder(copy.deepcopy(bilm), dtype=dtype, cache_bytes=cache_bytes)
                for text in texts if start == "warm" else ():
                    embedder.embed(text)
                begun = time.perf_counter()
                wrong = _wrong_calls(embedder, texts, expected, given.threads, given.calls)
                seconds = time.perf_counter() - begun
                after = sum(_bytes(embedder, text) != one for text, one in zip(texts, expected, strict=True))
                rows.append([dtype, name, start, given.calls, f"{seconds:.1f}", wrong, after])
                bad += wrong + after
                print(rows[-1], flush=True)
    columns = ["dtype", "cache", "start", "calls", "seconds", "wrong calls", "wrong afterwards, one thread"]
    sentence = (
        f"{sum(row[3] for row in rows):,} calls from {given.threads} threads, {bad} with other bits than one thread's."
    )
    Record("fault-threads", "Faults: one Embedder in many threads (E5)", [Table(columns, rows)], sentence).write(
        given.results
    )
    return 1 if bad else 0


def _bytes(embedder: Embedder, text: Sequence[Sequence[str]]) -> list[bytes]:
    return [array.tobytes() for array in embedder.embed(text)]


def _wrong_calls(
    embedder: Embedder,
    texts: Sequence[Sequence[Sequence[str]]],
    expected: Sequence[list[bytes]],
    threads: int,
    calls: int,
) -> int:
    """Calls whose bits differ, or that failed."""
    wrong, barrier = [], threading.Barrier(threads)

    def work(rank: int) -> None:
        chance = random.Random(rank)
        barrier.wait()
        for _ in range(rank, calls, threads):
            place = chance.randrange(len(texts))
            try:
                is_right = _bytes(embedder, texts[place]) == expected[place]
            except Exception as error:
                print(f"{type(error).__name__}: {error}", flush=True)
                is_right = False
            if not is_right:
                wrong.append(place)

    running = [threading.Thread(target=work, args=(rank,)) for rank in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    return len(wrong)


if __name__ == "__main__":
    raise SystemExit(main())
