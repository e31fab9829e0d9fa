"""Memory: `elmo prepare` and `elmo pretrain` on a corpus of 2 GB, within 2 GB of memory.

    python benchmarks/pretraining/training_memory.py --text /work/shared/data/lm-en/train.txt.xz

Repeats a text until it has so many bytes (repeated sentences are as long and as many as real ones would be; distinct
words are those of the text, where ten times the text would have some three times as many), prepares it, and trains some
steps of a tiny model. Memory is what all processes of a command hold together, looked at many times a second: RSS, and
apart from it the share that is memory-mapped from files, which the system may take back at any time.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

from record import ROOT, Record, Table, parser

from elmo.text.sentences import read_sentences

BOUND = 2e9
TINY = [
    *("--cell-size", "64", "--projection-size", "16", "--filters", "1", "8", "2", "8", "--num-highway", "1"),
    *("--batch-size", "32", "--num-negative-samples", "64", "--evaluate-every", "0", "--save-every", "25"),
]


def main() -> int:
    """Measures and writes the record; exit code 1 if the bound is exceeded."""
    arguments = parser(__doc__)
    arguments.add_argument("--text", type=Path, required=True, help="tokenized, one sentence a line, packed or not")
    arguments.add_argument("--megabytes", type=float, default=2000)
    arguments.add_argument("--workers", type=int, default=2)
    arguments.add_argument("--vocab-size", type=int, default=50_000)
    arguments.add_argument("--steps", type=int, default=50)
    arguments.add_argument("--folder", help="where to work: about three times the corpus is needed")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        work = Path(folder)
        size = _repeat(given.text, work / "corpus.txt", given.megabytes * 1e6)
        prepare = ["prepare", "corpus.txt", "-o", "data", "--vocab-size", given.vocab_size, "--workers", given.workers]
        prepared = watched(prepare, work)
        (work / "corpus.txt").unlink()
        pretrain = ["pretrain", "--data", "data", "-o", "run", "--max-steps", given.steps, *TINY]
        trained = watched(pretrain, work)
        train = json.loads((work / "data" / "data.json").read_text(encoding="utf-8"))["splits"]["train"]
        model = sum(path.stat().st_size for path in (work / "run" / "model").rglob("*.safetensors"))
    rows = [prepared.row(f"elmo prepare --workers {given.workers}"), trained.row(f"elmo pretrain, {given.steps} steps")]
    held = max(prepared.total, trained.total) <= BOUND
    sentence = (
        f"Preparing and training from {size / 1e9:.2f} GB of text stay within {BOUND / 1e9:.0f} GB, Python, torch and "
        f"the tiny model (weights of {model / 1e6:.1f} MB) included: {'yes' if held else 'NO'}. The text repeats "
        "itself, so it has fewer distinct words than a real one of this size."
    )
    settings = {
        "corpus": f"{given.text.name} repeated to {size / 1e9:.2f} GB",
        **{name: f"{train[key]:,}" for name, key in (("sentences",) * 2, ("tokens",) * 2, ("distinct words", "types"))},
    }
    columns = ["command", "peak RSS", "of it memory-mapped files", "most processes", "seconds"]
    Record("training-memory", "Memory of preparing and training", [Table(columns, rows)], sentence, settings).write(
        given.results
    )
    return 0 if held else 1


def _repeat(text: Path, corpus: Path, num_bytes: float) -> int:
    """Writes the text again and again, to the end of a sentence; the bytes written."""
    with corpus.open("wb") as file:
        while file.tell() < num_bytes:
            for sentence in read_sentences(text):
                file.write((" ".join(sentence) + "\n").encode())
                if file.tell() >= num_bytes:
                    break
        return file.tell()


@dataclass
class Peak:
    """What a command held at most, in bytes."""

    total: int = 0
    mapped: int = 0
    processes: int = 0
    seconds: float = 0.0

    def row(self, name: str) -> list[str]:
        """For the table."""
        return [name, *(f"{value / 1e6:,.0f} MB" for value in (self.total, self.mapped)), str(self.processes),
                f"{self.seconds:,.0f}"]  # fmt: skip


def watched(command: list[object], work: Path) -> Peak:
    """Runs `elmo COMMAND` and looks at its memory. SystemExit if it fails."""
    arguments = [sys.executable, "-m", "elmo", *map(str, command), "--quiet"]
    begun = time.monotonic()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*filter(None, sys.path), str(ROOT / "src")])}
    process = subprocess.Popen(arguments, cwd=work, env=environment)
    peak, ended = Peak(), threading.Event()
    looking = threading.Thread(target=_look, args=(process.pid, peak, ended))
    looking.start()
    code = process.wait()
    ended.set()
    looking.join()
    if code:
        raise SystemExit(f"elmo {command[0]} ended with {code}")
    peak.seconds = time.monotonic() - begun
    return peak


def _look(root: int, peak: Peak, ended: threading.Event) -> None:
    while not ended.wait(0.05):
        found = [_memory(process) for process in _family(root)]
        total, mapped = (sum(parts) for parts in zip(*found, strict=True)) if found else (0, 0)
        if total > peak.total:
            peak.total, peak.mapped = total, mapped
        peak.processes = max(peak.processes, len(found))


def _family(root: int) -> list[int]:
    """A process and all that it started, and they started."""
    found = [root]
    for process in found:
        for children in Path(f"/proc/{process}/task").glob("*/children"):
            try:
                found += map(int, children.read_text().split())
            except OSError:
                continue
    return found


def _memory(process: int) -> tuple[int, int]:
    """Resident bytes, and those of them that are of files."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0, 0
    values = {line.split(":")[0]: int(line.split()[1]) << 10 for line in lines if line.endswith(" kB")}
    return values.get("VmRSS", 0), values.get("RssFile", 0)


if __name__ == "__main__":
    raise SystemExit(main())
