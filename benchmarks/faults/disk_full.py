"""Reliability R5: the disk fills up in eleven places; the message says so with path and figures, and nothing is lost.

    sudo python benchmarks/faults/disk_full.py      # mounts a tmpfs of 64 MB under a temporary folder

On a small disk of its own lie prepared data, a run with a whole checkpoint, and a large file that leaves as much room
as a place needs to fail. Where a program asks for room before it writes, and where the room goes away while it writes
(another program was faster), both are places. Each must end with an ElmoError that names the path, the bytes needed (or
written) and the bytes free; the run's checkpoint, and the finished things that stood there, must be what they were, bit
for bit; and the hidden unfinished ones must be gone.
"""

import contextlib
import hashlib
import io
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

import tiny_run
import torch
from record import Record, Table, parser

import elmo.corpus.prepare
import elmo.disk.atomic
import elmo.embed.corpus.run
from elmo.cli.main import main as elmo_command
from elmo.corpus.shards import TrainingData
from elmo.model.bilm import BiLM
from elmo.pretrain.run.loop import Loop
from elmo.pretrain.run.run_folder import RunFolder
from elmo.pretrain.step.trainer import Trainer

DISK_BYTES = 64 << 20
_CHANGING = ("balloon", "metrics.jsonl", "log.txt", "stderr.txt", "latest")
FIGURES = re.compile(r"(needed|written).*free|free.*needed", re.DOTALL)


def main() -> int:
    """Runs the test and writes the record; exit code 1 if a place failed, 2 if no small disk can be made."""
    arguments = parser(__doc__)
    arguments.add_argument("--places", nargs="*", choices=list(PLACES), default=list(PLACES), metavar="PLACE")
    given = arguments.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        disk = Path(folder) / "disk"
        disk.mkdir()
        if problem := _mount(disk):
            print(f"no tmpfs can be mounted here ({problem}); run this test as root", file=sys.stderr)
            return 2
        try:
            found = [_once(place, Path(folder), disk) for place in given.places]
        finally:
            subprocess.run(["umount", "--lazy", str(disk)], check=True)
    good = sum(one[-1] == "yes" for one in found)
    columns = ["place", "exit code", "path", "figures", "kept whole", "passed"]
    sentence = (
        f"In {good} of {len(found)} places the message named path, needed (or written) and free bytes, and checkpoint "
        "and finished files were what they had been."
    )
    settings = {"disk": f"tmpfs of {DISK_BYTES >> 20} MB"}
    Record("fault-disk", "Faults: a full disk (R5)", [Table(columns, found)], sentence, settings).write(given.results)
    return 0 if good == len(found) else 1


def _mount(disk: Path) -> str:
    """Why it didn't work, or nothing."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(disk)]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stderr.strip()
    except OSError as error:
        return str(error)


def _once(place: str, folder: Path, disk: Path) -> list[object]:
    for path in disk.iterdir():
        subprocess.run(["rm", "-rf", str(path)], check=True)
    _furnish(folder, disk)
    before, error = _content(disk), io.StringIO()
    with contextlib.redirect_stderr(error), contextlib.redirect_stdout(io.StringIO()):
        code, about = PLACES[place](folder, disk)
    (disk / "balloon").unlink(missing_ok=True)
    after, message = _content(disk), error.getvalue().strip().splitlines()[-1:]
    text = message[0] if message else ""
    kept = all(after.get(name) == digest for name, digest in before.items())
    left = [name for name in after if "unfinished" in name]
    names, figures = str(about) in text, bool(FIGURES.search(text)) and bool(re.search(r"\d", text))
    good = code not in (0, None) and names and figures and kept and not left
    print(f"{place}: exit code {code}: {text}{f' LEFT: {left}' if left else ''}", flush=True)
    shown = ["yes" if value else "NO" for value in (names, figures, kept, good)]
    return [place, code, *shown]


def _furnish(folder: Path, disk: Path) -> None:
    """Data and a run of 20 steps with its checkpoint on the disk, a text beside it."""
    (disk / "work").mkdir()
    tiny_run.write_data(disk / "work")
    data = TrainingData.open(disk / "work" / "data")
    config = tiny_run.config(max_steps=40, save_every=20, evaluate_every=0)
    trainer, run = Trainer(config, data), RunFolder(disk / "run")
    run.begin(config, {})
    for _ in range(20):
        run.record(step=trainer.step_number + 1, loss=trainer.step().loss)
    run.save(trainer, 2)
    text = folder / "text.txt"
    if not text.is_file():
        chance = random.Random(3)
        words = [f"{word}{number}" for word in tiny_run.WORDS for number in range(3000)]
        text.write_text("".join(" ".join(chance.choices(words, k=20)) + "\n" for _ in range(20_000)), encoding="utf-8")


def _content(disk: Path) -> dict[str, str]:
    """Every file but those that grow, the pointer that moves on with each checkpoint, and the balloon."""
    files = (path for path in sorted(disk.rglob("*")) if path.is_file())
    kept = (path for path in files if path.name not in _CHANGING)
    return {str(path.relative_to(disk)): hashlib.sha256(path.read_bytes()).hexdigest() for path in kept}


def _fill(disk: Path, leave: int) -> None:
    """A file that leaves so many bytes free."""
    path = disk / "balloon"
    path.unlink(missing_ok=True)
    state = os.statvfs(disk)
    with path.open("wb") as balloon, contextlib.suppress(OSError):
        os.posix_fallocate(balloon.fileno(), 0, max(1, state.f_bavail * state.f_frsize - leave))


def _unasked() -> AbstractContextManager[object]:
    """The room that was there when a program asked is gone when it writes."""
    return patch.object(elmo.disk.atomic, "_require_space", lambda *_: None)


def _filled_before(
    owner: object, name: str, disk: Path, leave: int = 0, when: Callable[..., bool] = lambda *_: True
) -> AbstractContextManager[object]:
    """Fills the disk when a function is called, the first time that `when` says so of what it is called with."""
    plain, done = getattr(owner, name), []

    def filling(*arguments: Any, **settings: Any) -> Any:
        if not done and when(*arguments):
            done.append(True)
            _fill(disk, leave)
        return plain(*arguments, **settings)

    return patch.object(owner, name, filling)


Outcome = tuple[int, Path]


def _prepare(folder: Path, disk: Path) -> Outcome:
    return elmo_command(["prepare", str(folder / "text.txt"), "-o", str(disk / "new"), "--quiet"]), disk / "new"


def _prepare_asked(folder: Path, disk: Path) -> Outcome:
    _fill(disk, 1 << 20)
    return _prepare(folder, disk)


def _prepare_parts(folder: Path, disk: Path) -> Outcome:
    _fill(disk, 300_000)
    with _unasked():
        return _prepare(folder, disk)


def _prepare_shards(folder: Path, disk: Path) -> Outcome:
    with _filled_before(elmo.corpus.prepare, "write_shards", disk, leave=100_000):
        return _prepare(folder, disk)


def _pretrain(disk: Path, *arguments: str) -> int:
    return elmo_command(["pretrain", "--data", str(disk / "work" / "data"), *arguments, "--quiet"])


def _new_run(_: Path, disk: Path) -> Outcome:
    _fill(disk, 0)
    return _pretrain(disk, str(disk / "work" / "tiny.toml"), "-o", str(disk / "second")), disk / "second"


def _resumed(disk: Path) -> int:
    return _pretrain(disk, "-o", str(disk / "run"), "--resume")


def _checkpoint_asked(_: Path, disk: Path) -> Outcome:
    with _filled_before(Loop, "save", disk, leave=500_000):
        return _resumed(disk), disk / "run" / "checkpoints"


def _checkpoint_unasked(_: Path, disk: Path) -> Outcome:
    with _unasked(), _filled_before(Loop, "save", disk, leave=20_000):
        return _resumed(disk), disk / "run" / "checkpoints"


def _appended(name: str, disk: Path) -> Outcome:
    """A file of the run that grows. A full disk still takes the rest of a file's last page, so both such files would
    fill theirs, in no known order: the other one is left alone, and this one meets the full disk as soon as it is
    there."""
    plain = RunFolder._append

    def appending(self: RunFolder, file: str, text: str) -> None:
        if os.statvfs(self.path).f_bavail:
            plain(self, file, text)
        elif file == name:
            plain(self, file, text + " " * 4096)  # a page more than the last one has room for

    filled = _filled_before(Trainer, "step", disk, when=lambda trainer, *_: trainer.step_number == 25)
    with patch.object(RunFolder, "_append", appending), filled:
        return _resumed(disk), disk / "run" / name


def _finished_model(_: Path, disk: Path) -> Outcome:
    with _filled_before(RunFolder, "finish", disk):
        return _resumed(disk), disk / "run" / "model"


def _embed(folder: Path, disk: Path, leave: int) -> Outcome:
    short, model = folder / "short.txt", folder / "model"
    if not short.is_file():
        lines = (folder / "text.txt").read_text(encoding="utf-8").splitlines(keepends=True)
        short.write_text("".join(lines[:1000]), encoding="utf-8")
        BiLM(tiny_run.config(cell_size=64, projection_size=64).architecture(50)).save_pretrained(model)
    _fill(disk, leave)
    return elmo_command(["embed", str(short), "-o", str(disk / "vectors.h5"), "-m", str(model), "--quiet"]), disk


def _embed_asked(folder: Path, disk: Path) -> Outcome:
    return _embed(folder, disk, 1 << 20)


def _embed_unasked(folder: Path, disk: Path) -> Outcome:
    with patch.object(elmo.embed.corpus.run, "require_space", lambda *_, **__: None):
        return _embed(folder, disk, 5 << 20)


PLACES: dict[str, Callable[[Path, Path], Outcome]] = {
    "prepare, asked before": _prepare_asked,
    "prepare, its parts": _prepare_parts,
    "prepare, its shards": _prepare_shards,
    "a new run": _new_run,
    "checkpoint, asked before": _checkpoint_asked,
    "checkpoint, while written": _checkpoint_unasked,
    "metrics.jsonl": lambda _, disk: _appended("metrics.jsonl", disk),
    "log.txt": lambda _, disk: _appended("log.txt", disk),
    "the finished model": _finished_model,
    "vectors, asked before": _embed_asked,
    "vectors, while written": _embed_unasked,
}


if __name__ == "__main__":
    raise SystemExit(main())
