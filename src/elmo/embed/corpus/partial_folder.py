"""PartialFolder: `OUTPUT.partial/`, where a file of vectors grows and which a killed run can be resumed from.

manifest.json    what is being made: text, model, settings; written when the file's structure is complete
progress.json    how far the file is finished and synced
state-N.npz      carry mode only: the rows' state after N lines
input.txt        the text, if it came from standard input
"""

import json
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from elmo.errors import ConfigError, OutputError

_MANIFEST_FILE = "manifest.json"
_PROGRESS_FILE = "progress.json"
_INPUT_FILE = "input.txt"
_UNFINISHED = ".unfinished"
_COPY_BYTES = 1 << 20


@dataclass(frozen=True)
class Progress:
    """How far a file is finished."""

    lines: int = 0
    tokens: int = 0


class PartialFolder:
    """The folder of work beside an output file."""

    def __init__(self, output: Path) -> None:
        self.output = output
        self.path = output.with_name(output.name + ".partial")

    @property
    def input(self) -> Path:
        """Where standard input is kept."""
        return self.path / _INPUT_FILE

    @property
    def is_begun(self) -> bool:
        """Whether there is something to resume."""
        return (self.path / _MANIFEST_FILE).is_file()

    def exists(self) -> bool:
        """Whether something is there."""
        return self.path.exists() or self.path.is_symlink()

    def remove(self, work_files: tuple[str, ...]) -> None:
        """Removes the folder, unless it holds what is not ours (`work_files` are the writers')."""
        ours = (_MANIFEST_FILE, _PROGRESS_FILE, _INPUT_FILE, *work_files)
        plain = self.path.is_dir() and not self.path.is_symlink()
        names = sorted(entry.name for entry in self.path.iterdir()) if plain else [self.path.name]
        foreign = [name for name in names if name.removesuffix(_UNFINISHED) not in ours and not _is_state(name)]
        if foreign or not plain:
            raise OutputError(
                f"{self.path}: holds {foreign[0]!r}, which no run of elmo made, so it is not removed. Move it away, or "
                "choose another output."
            )
        # First, so that a half removed folder is never resumed.
        (self.path / _MANIFEST_FILE).unlink(missing_ok=True)
        shutil.rmtree(self.path)

    def spool_stdin(self) -> None:
        """Keeps standard input, which can be read only once."""
        unfinished = self.input.with_name(_INPUT_FILE + _UNFINISHED)
        with unfinished.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file, _COPY_BYTES)
            os.fsync(file.fileno())
        unfinished.replace(self.input)

    def begin(self, manifest: Mapping[str, Any]) -> None:
        """Everything is in place for the first window."""
        self._write(_MANIFEST_FILE, manifest)

    def require_same(self, manifest: Mapping[str, Any]) -> None:
        """ConfigError if the folder was begun with another text, model or setting: its halves would differ."""
        begun = json.loads((self.path / _MANIFEST_FILE).read_text(encoding="utf-8"))
        for name in sorted({*begun, *manifest}):
            if begun.get(name) != manifest.get(name):
                raise ConfigError(
                    f"{self.path}: was begun with {name} {begun.get(name)!r}, now it is {manifest.get(name)!r}: the "
                    "two halves of the file would differ. Resume with what it was begun with, or begin anew with "
                    "--force and without --resume."
                )

    def progress(self) -> Progress:
        """How far the file is finished."""
        path = self.path / _PROGRESS_FILE
        return Progress(**json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else Progress()

    def advance(self, progress: Progress, state: Mapping[str, np.ndarray] | None = None) -> None:
        """Notes that the file is synced so far, with the `state` that the next window continues."""
        if state is not None:
            with self._state_file(progress.lines).open("wb") as file:
                np.savez(file, **state)
                os.fsync(file.fileno())
        self._write(_PROGRESS_FILE, asdict(progress))
        for path in self.path.glob("state-*.npz") if state is not None else ():
            if path != self._state_file(progress.lines):
                path.unlink()

    def state(self, progress: Progress) -> dict[str, np.ndarray]:
        """The rows' state at `progress`."""
        path = self._state_file(progress.lines)
        if not path.is_file():
            return {}
        with np.load(path) as arrays:
            return dict(arrays)

    def _state_file(self, lines: int) -> Path:
        return self.path / f"state-{lines}.npz"

    def _write(self, name: str, values: Mapping[str, Any]) -> None:
        unfinished = self.path / (name + _UNFINISHED)
        with unfinished.open("w", encoding="utf-8") as file:
            json.dump(dict(values), file, indent=2)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(self.path / name)
        sync_folder(self.path)


def _is_state(name: str) -> bool:
    return name.startswith("state-") and name.endswith(".npz")


def sync_folder(folder: Path) -> None:
    """Brings the names of a folder's files to the disk."""
    if os.name == "nt":  # Windows can't open a folder
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
