"""Reliability R2: whatever fails while a checkpoint is saved, a whole one is there to go on from.

    python benchmarks/faults/save_faults.py --times 20      # 20 at each of five places: 100 saves

A save is made of operations on files: open, write, fsync, rename, fsync of a folder. In turn, a random one of each kind
fails, in one of two ways:

    error    it raises OSError (disk full or input/output error), everything after it works: cleaning up, for instance
    crash    it raises, and from then on every operation that changes the disk does: what is left is what a machine
             leaves that lost its power just then

After each, what the folder offers as its newest checkpoint must load into a fresh trainer and be, bit for bit, the
state that was saved at its step: the one before, or the new one if only its leavings failed. A failed write leaves half
of the bytes behind.
"""

import builtins
import contextlib
import errno
import hashlib
import io
import os
import random
import shutil
import stat
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

import tiny_run
import torch
from record import Record, Table, parser
from safetensors import SafetensorError

import elmo.pretrain.run.saved_training
import elmo.weights.native.tensor_file
from elmo.corpus.shards import TrainingData
from elmo.errors import ElmoError
from elmo.pretrain.run.run_folder import RunFolder
from elmo.pretrain.step.trainer import Trainer

PLACES = ("open", "write", "fsync", "rename", "folder fsync")
WAYS = ("error", "crash")
KEPT = 2


def main() -> int:
    """Runs the test and writes the record; exit code 1 if a checkpoint was lost."""
    arguments = parser(__doc__)
    arguments.add_argument("--times", type=int, default=20, help="at each place")
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--folder", help="where to work")
    given = arguments.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        found = _all(Path(folder), given.times, random.Random(given.seed))
    rows = []
    for place in PLACES:
        own = [one for one in found if one["place"] == place]
        told = sum(one["told"] for one in own)
        new = sum(one["is_new"] for one in own)
        rows.append([place, own[0]["count"], f"{sum(one['good'] for one in own)} of {len(own)}", told, new])
    good = sum(one["good"] for one in found)
    columns = ["place", "of them in a save", "whole and loadable", "told as an error", "already the new one"]
    sentence = (
        f"In {good} of {len(found)} saves with a fault a whole checkpoint was there afterwards, equal to what was "
        "saved; half of the faults cut off every operation after them, as a loss of power does. What a disk "
        "itself loses after an fsync that it confirmed is beyond this test."
    )
    Record("fault-save", "Faults: while saving (R2)", [Table(columns, rows)], sentence).write(given.results)
    return 0 if good == len(found) else 1


def _all(work: Path, times: int, chance: random.Random) -> list[dict[str, Any]]:
    tiny_run.write_data(work, random.Random(1))
    data = TrainingData.open(work / "data")
    trainer = Trainer(tiny_run.config(), data)
    run = RunFolder.create(work / "run", tiny_run.config(), {})
    states: dict[str, str] = {}
    _save(run, trainer, states)
    with Faults(run.path) as faults:
        _save(run, trainer, states)
    counts, found = faults.seen, []
    for index in range(times * len(PLACES)):
        place, way = PLACES[index % len(PLACES)], WAYS[index // len(PLACES) % len(WAYS)]
        one = _once(run, trainer, data, states, Faults(run.path, place, chance.randint(1, counts[place]), way))
        found.append({"place": place, "way": way, "count": counts[place], **one})
        print(f"{index + 1}/{times * len(PLACES)}: {found[-1]}", flush=True)
        run = RunFolder.existing(run.path)  # what a resumed run clears away
        _save(run, trainer, states)  # and the next one begins with whole checkpoints again
    return found


def _save(run: RunFolder, trainer: Trainer, states: dict[str, str]) -> None:
    """One step on, and its checkpoint."""
    trainer.step()
    states[f"step-{trainer.step_number:08d}"] = _digest(trainer)
    run.save(trainer, KEPT)


def _once(run: RunFolder, trainer: Trainer, data: TrainingData, states: dict[str, str], faults: "Faults") -> dict:
    told = False
    try:
        with faults:
            _save(run, trainer, states)
    except (ElmoError, OSError):
        told = True
    if not faults.happened:
        raise SystemExit(f"{faults.place}: the fault was not reached")
    resumed = RunFolder.existing(run.path)
    latest, fresh = resumed.latest, Trainer(tiny_run.config(), data)
    good = latest is not None
    if latest is not None:
        elmo.pretrain.run.saved_training.restore_from(latest, fresh)
        good = _digest(fresh) == states[latest.name] and fresh.step_number >= trainer.step_number - 1
    return {"good": good, "told": told, "is_new": fresh.step_number == trainer.step_number}


def _digest(trainer: Trainer) -> str:
    """Of everything that the next step depends on."""
    tensors = {**trainer.named_parameters, **trainer.tensors()}
    found = hashlib.sha256(repr(trainer.position.to_dict()).encode())
    for name in sorted(tensors):
        found.update(name.encode() + tensors[name].detach().contiguous().numpy().tobytes())
    return found.hexdigest()


class Faults:
    """Counts the operations on files below a folder, and has the `number`-th of one kind fail."""

    def __init__(self, folder: Path, place: str = "", number: int = 0, way: str = "error") -> None:
        self.folder, self.place, self.number, self.way = str(folder), place, number, way
        self.seen: Counter[str] = Counter()
        self.happened = False
        self._patches = contextlib.ExitStack()

    def __enter__(self) -> "Faults":
        for owner, name, make in (
            (io, "open", self._open), (builtins, "open", self._open), (os, "open", self._os_open),
            (os, "fsync", self._fsync), (os, "rename", self._rename), (os, "replace", self._rename),
            (os, "unlink", self._other), (os, "rmdir", self._other), (os, "mkdir", self._other),
            (shutil, "rmtree", self._other), (elmo.weights.native.tensor_file, "save_file", self._save_file),
            (elmo.pretrain.run.saved_training, "save_file", self._save_file),
        ):  # fmt: skip
            self._patches.enter_context(_replaced(owner, name, make(getattr(owner, name))))
        return self

    def __exit__(self, *_: object) -> None:
        self._patches.close()

    def _strike(self, place: str, path: Any) -> None:
        """Raises if it is time."""
        if not str(path).startswith(self.folder):
            return
        self.seen[place] += 1
        if self.happened and self.way == "crash":
            raise OSError(errno.EIO, "the power was gone before", str(path))
        if place == self.place and self.seen[place] == self.number:
            self.happened = True
            raise OSError(errno.ENOSPC if self.number % 2 else errno.EIO, "a fault that was injected", str(path))

    def _open(self, plain: Callable) -> Callable:
        def opening(path: Any, mode: str = "r", *arguments: Any, **settings: Any) -> Any:
            if set(mode).isdisjoint("wax+"):
                return plain(path, mode, *arguments, **settings)
            self._strike("open", path)
            return _Writing(plain(path, mode, *arguments, **settings), lambda: self._strike("write", path))

        return opening

    def _os_open(self, plain: Callable) -> Callable:
        def opening(path: Any, *arguments: Any, **settings: Any) -> int:
            self._strike("open", path)
            return plain(path, *arguments, **settings)

        return opening

    def _fsync(self, plain: Callable) -> Callable:
        def syncing(descriptor: int) -> None:
            is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
            self._strike("folder fsync" if is_folder else "fsync", Path(f"/proc/self/fd/{descriptor}").readlink())
            plain(descriptor)

        return syncing

    def _rename(self, plain: Callable) -> Callable:
        def renaming(source: Any, *arguments: Any, **settings: Any) -> None:
            self._strike("rename", source)
            plain(source, *arguments, **settings)

        return renaming

    def _other(self, plain: Callable) -> Callable:
        def working(path: Any, *arguments: Any, **settings: Any) -> None:
            if self.happened and self.way == "crash":
                raise OSError(errno.EIO, "the power was gone before", str(path))
            plain(path, *arguments, **settings)

        return working

    def _save_file(self, plain: Callable) -> Callable:
        """The library writes outside Python: half of the file stands for a write that failed."""

        def saving(tensors: Any, path: Any, **settings: Any) -> None:
            try:
                self._strike("open", path)
                self._strike("write", path)
            except OSError as error:
                if self.seen["write"] == self.number and self.place == "write":
                    plain(tensors, path, **settings)
                    os.truncate(path, Path(path).stat().st_size // 2)
                raise SafetensorError(str(error)) from error
            plain(tensors, path, **settings)

        return saving


class _Writing:
    """An open file whose first write may fail halfway."""

    def __init__(self, file: Any, strike: Callable[[], None]) -> None:
        self._file, self._strike, self._wrote = file, strike, False

    def write(self, content: Any) -> int:
        try:
            if not self._wrote:
                self._strike()
        except OSError:
            self._file.write(content[: len(content) // 2])
            raise
        self._wrote = True
        return self._file.write(content)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> "_Writing":
        return self

    def __exit__(self, *error: object) -> None:
        self._file.__exit__(*error)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._file)


@contextlib.contextmanager
def _replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    plain = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, plain)


if __name__ == "__main__":
    raise SystemExit(main())
