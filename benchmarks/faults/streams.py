"""Streams, paths and endless inputs of the text verbs (E6): pipes, devices, bombs, closed streams, input as output.

    python benchmarks/faults/streams.py

Every command runs in a shell of its own, in a folder with a model, a text and somebody's files. What must hold: the
exit code and the message that are written here, no traceback and no "bug", at most 2 GB of memory, an end within a
minute, and no file changed that was there before.
"""

import lzma
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

import tiny_run
from record import ROOT, Record, Table, parser

from elmo.weights.catalogue import bundled_folders

SECONDS = 60
BYTES = 2_000_000_000


class Case(NamedTuple):
    """A command, and what must come of it."""

    command: str
    code: int
    message: str
    """In its output or its messages."""


CASES = (
    Case("elmo embed 'some text'", 0, "2 x 16"),
    Case("elmo embed \"$(printf 'word %.0s' {1..60})\"", 0, "60 x 16"),
    Case("elmo embed \"$(printf 'word %.0s' {1..60})\" -o o.h5", 2, "too long for the name of a file"),
    Case("elmo embed t.txt -o $(printf 'y%.0s' {1..300}).h5", 2, "can't be the name of an output"),
    Case("elmo embed <(cat t.txt) -o o.h5", 0, "5 rows"),
    Case("elmo embed /dev/stdin -o o.h5 < t.txt", 0, "5 rows"),
    Case("cat t.txt | elmo embed /dev/stdin -o o.h5", 0, "5 rows"),
    Case("cat t.txt | elmo embed - -o o.npy", 0, "5 rows"),
    Case("elmo embed /dev/zero -o o.h5", 2, "/dev/zero:1: the line has more than"),
    Case("elmo embed - -o o.h5 < /dev/zero", 2, "ELMO_NO_LIMITS=1"),
    Case("cat /dev/zero | elmo embed -", 2, "stdin:1: the line has more than"),
    Case("elmo embed bomb.xz -o o.h5", 2, "bomb.xz:1: the line has more than 16,777,216 bytes"),
    Case("elmo perplexity small-en bomb.xz", 2, "bomb.xz:1: the line has more than"),
    Case("elmo perplexity small-en /dev/zero", 2, "/dev/zero:1: the line has more than"),
    Case("elmo scores small-en bomb.xz", 2, "bomb.xz:1: the line has more than"),
    Case("elmo prepare bomb.xz -o o", 2, "bomb.xz:1: the line has more than"),
    Case("elmo prepare /dev/zero -o o", 2, "/dev/zero:1: the line has more than"),
    Case("elmo prepare <(cat t.txt) -o o", 0, "words in the vocabulary"),
    Case("elmo static bomb.xz -o o.txt", 2, "bomb.xz:1: the line has more than"),
    Case("elmo static t.txt -o t.txt --force", 2, "is the input itself"),
    Case("elmo perplexity small-en t.txt --per-token t.txt --force", 2, "is the text itself"),
    Case("elmo embed t.txt -o t.txt --to npy --force", 2, "is the text itself"),
    Case("elmo embed t.txt -o hard.npy --force", 2, "is the text itself"),
    Case("elmo embed t.txt -o soft.npy --force", 2, "is the text itself"),
    Case("elmo embed t.txt -o taken.npy", 2, "taken.npy.metadata.json: exists already"),
    Case("elmo embed t.txt -o taken.npy --force", 0, "5 rows"),
    Case("elmo embed 'a b' >&-", 2, "standard output: can't be written: it is closed"),
    Case("elmo embed 'a b' > /dev/full", 2, "standard output: can't be written: No space left"),
    Case("elmo embed - <&-", 2, "standard input is closed"),
    Case("elmo embed - -o o.h5 <&-", 2, "standard input is closed"),
    Case("elmo embed t.txt -o o.h5 2>&-", 0, "5 rows"),
    Case("elmo embed t.txt -o o.h5 <&- 2>&- >&-", 2, ""),
    Case("elmo embed nosuchfile.txt", 2, "there is no such file"),
    Case("elmo embed ''", 2, "the text is empty"),
    Case("elmo embed ids.conllu -o o.h5", 2, "ids.conllu:1: column 1 is"),
)


def main() -> int:
    """Runs them all and writes the record; exit code 1 if one did anything else."""
    arguments = parser(__doc__)
    arguments.add_argument("--only", default="", help="only commands with this text in them")
    given = arguments.parse_args()
    rows, bad = [], 0
    with tempfile.TemporaryDirectory() as folder:
        _fill(Path(folder))
        for case in CASES:
            if given.only in case.command:
                found, seconds = _tried(case, Path(folder))
                rows.append([f"`{case.command}`", case.code, f"{seconds:.0f}", found or "as it should"])
                bad += bool(found)
                print(rows[-1], flush=True)
    sentence = f"{len(rows)} commands, {bad} of which ended otherwise than they should."
    table = Table(["command", "exit code", "seconds", "outcome"], rows)
    Record("fault-streams", "Faults: streams, paths and endless inputs (E6)", [table], sentence).write(given.results)
    return 1 if bad else 0


def _fill(folder: Path) -> None:
    tiny_run.tiny_model().save_pretrained(folder / "model")
    (folder / "small-en").symlink_to(bundled_folders()["small-en"])
    (folder / "t.txt").write_text("the cat sat\n\nthe dog\nthe cat\na bank\n", encoding="utf-8")
    (folder / "ids.conllu").write_text("\t".join(["9" * 5000, "word", *"________"]) + "\n", encoding="utf-8")
    (folder / "precious.txt").write_text("somebody else's\n", encoding="utf-8")
    (folder / "taken.npy.metadata.json").symlink_to("precious.txt")
    (folder / "soft.npy").symlink_to("t.txt")
    (folder / "hard.npy").hardlink_to(folder / "t.txt")
    with lzma.open(folder / "bomb.xz", "wb") as file:
        for _ in range(300):
            file.write(b"\0" * 1_000_000)


def _tried(case: Case, folder: Path) -> tuple[str, float]:
    """What was not as it should be, and the seconds it took."""
    before = _contents(folder)
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "ELMO_MODEL": "model", "OMP_NUM_THREADS": "1"}
    command = f'elmo() {{ "{sys.executable}" -m elmo "$@"; }}; {case.command}'
    begun = time.perf_counter()
    process = subprocess.Popen(
        ["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
    )  # fmt: skip
    try:
        told, _ = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.communicate()
        return f"no end in {SECONDS} s", time.perf_counter() - begun
    seconds = time.perf_counter() - begun
    memory = 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    after = _contents(folder)
    problems = [
        f"exit code {process.returncode}" if process.returncode != case.code else "",
        f"not said: {told.strip()[-200:]!r}" if case.message not in told else "",
        "a traceback or a bug" if "Traceback" in told or "it is a bug" in told else "",
        f"{memory / 1e9:.1f} GB" if memory > BYTES else "",
        *(f"{name} changed" for name, content in before.items() if after.get(name) != content),
    ]
    if case.code and case.message and (new := after.keys() - before.keys()):
        problems.append(f"left behind: {sorted(new)}")
    _tidy(folder, set(before))
    return "; ".join(filter(None, problems)), seconds


def _contents(folder: Path) -> dict[str, bytes | str]:
    """Of every file what is in it, of every link where it leads; a side file may be replaced where --force says so."""
    return {
        path.name: str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else "folder"
        for path in folder.iterdir()
        if path.name != "taken.npy.metadata.json"
    }


def _tidy(folder: Path, kept: set[str]) -> None:
    for path in folder.iterdir():
        if path.name not in kept and path.name != "taken.npy.metadata.json":
            subprocess.run(["rm", "-rf", str(path)], check=True)


if __name__ == "__main__":
    raise SystemExit(main())
