"""elmo.js in node beside the engine: words per CPU second on one thread, as ratios of one run.

    python benchmarks/vectors/javascript.py                      needs node; two minutes on a quiet machine

Both take turns in processes of their own, each of which measures several rounds of the same sentences, one by one and
all in one call; the best round counts, in CPU seconds of the process, since neighbors on the machine cost wall time.
Both remember token vectors. int8 is compared with the engine limited to AVX2.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

from record import Record, Table, parser
from sentences import first_sentences

import elmo
from elmo.embed.embedder import Embedder
from elmo.explorer.texts import bundled_text

_PACKAGE = Path(elmo.__file__).parent
_CASES = (("exact", "float32", ""), ("int8", "int8", "avx2"))


def main() -> int:
    """Measures and writes the record; exit code 2 without node."""
    arguments = parser(__doc__)
    arguments.add_argument("--sentences", type=int, default=64)
    arguments.add_argument("--rounds", type=int, default=4)
    arguments.add_argument("--turns", type=int, default=2)
    arguments.add_argument("--worker", nargs=3, help=run_worker.__doc__)
    given = arguments.parse_args()
    if given.worker:
        run_worker(*given.worker, rounds=given.rounds)
        return 0
    node = shutil.which("node")
    if node is None:
        print("there is no node here, which runs elmo.js. Install node 18 or newer.", file=sys.stderr)
        return 2
    rows, starts = [], []
    with tempfile.TemporaryDirectory() as folder:
        for language in ("en", "ko"):
            sentences = first_sentences(bundled_text(language).path, given.sentences)
            file = Path(folder) / f"{language}.json"
            file.write_text(json.dumps(sentences), encoding="utf-8")
            words = sum(map(len, sentences))
            for kind, dtype, instructions in _CASES:
                theirs, ours = [], []
                for _ in range(given.turns):
                    theirs.append(_python(language, file, dtype, instructions, given.rounds))
                    ours.append(_node(node, language, file, kind, given.rounds))
                rows += _rows(language, kind, instructions or "all", words, theirs, ours)
                best = min(ours, key=lambda one: one["load"] + one["first"])
                starts.append((f"small-{language}", kind, f"{best['load']:.0f}", f"{best['first']:.0f}"))
    Record(
        "javascript",
        "elmo.js in node beside the engine",
        [
            Table(("model", "arithmetic", "engine's instructions", "sentences", "elmo.js", "engine", "ratio"), rows),
            Table(("model", "arithmetic", "load", "first sentence"), starts, "Wall milliseconds in node, files cached"),
        ],
        "Words per CPU second on one thread, the best of all rounds; the engine computes float32 for exact. The ratios "
        "are of this processor: one without AVX-512 has a slower engine, and wasm's 128 bits stay as they are.",
        {"sentences": f"the first {given.sentences} of each bundled text", "node": _version(node)},
    ).write(given.results)
    return 0


def _version(node: str) -> str:
    return subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout.strip()


def _node(node: str, language: str, file: Path, kind: str, rounds: int) -> dict:
    script, model = _PACKAGE / "browser" / "elmo.js", _PACKAGE / "bundled" / f"small-{language}"
    given = [str(script), str(model), str(file), str(int(kind == "exact")), str(rounds)]
    command = [node, str(Path(__file__).with_suffix(".mjs")), *given]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def _python(language: str, file: Path, dtype: str, instructions: str, rounds: int) -> dict:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "ELMO_INSTRUCTIONS": instructions}
    if not instructions:
        del environment["ELMO_INSTRUCTIONS"]
    command = [sys.executable, __file__, "--rounds", str(rounds), "--worker", language, str(file), dtype]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout)


def run_worker(language: str, file: str, dtype: str, rounds: int) -> None:
    """LANGUAGE FILE DTYPE: what the script calls itself with for the engine's turn"""
    sentences = json.loads(Path(file).read_text(encoding="utf-8"))
    model = _PACKAGE / "bundled" / f"small-{language}"
    embedder = Embedder.from_pretrained(model, device="cpu", dtype=dtype)
    assert embedder.products == "native", "the native library is not built"
    embedder.embed(sentences)
    found = []
    for _ in range(rounds):
        start = time.process_time()
        for sentence in sentences:
            embedder.embed([sentence])
        middle = time.process_time()
        embedder.embed(sentences)
        found.append({"apart": middle - start, "together": time.process_time() - middle})
    print(json.dumps({"rounds": found}))


def _rows(
    language: str, kind: str, instructions: str, words: int, theirs: Sequence[dict], ours: Sequence[dict]
) -> list[tuple[object, ...]]:
    found = []
    for name, which in (("one by one", "apart"), ("in one call", "together")):
        mine, other = (words / min(one[which] for turn in turns for one in turn["rounds"]) for turns in (ours, theirs))
        model = f"small-{language}"
        found.append((model, kind, instructions, name, f"{mine:.0f}", f"{other:.0f}", f"{mine / other:.2f}"))
    return found


if __name__ == "__main__":
    sys.exit(main())
