"""WorkFolder: `DATA.partial/` beside the output: the finished parts, from which a killed run resumes.

plan.json        the texts and settings: parts made with others would not fit
part-N.npz       see `parts.py`

A part is only used again if it is complete and was made from the same bytes as are there now.
"""

import contextlib
import json
import re
import shutil
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from elmo.corpus.blocks import Block
from elmo.corpus.parts import Part
from elmo.disk.atomic import hidden, hidden_names
from elmo.disk.bounded import is_there
from elmo.disk.folder_lock import locked
from elmo.disk.json_file import read_record, write_json
from elmo.errors import ConfigError, OutputError, TextError

_PLAN_FILE = "plan.json"
_OURS = re.compile(
    rf"plan\.json(?:\.unfinished)?|{hidden_names(_PLAN_FILE, 'unfinished')}|part-\d+\.(?:npz|unfinished)"
)
_DAMAGED = (OSError, ValueError, KeyError, EOFError, TypeError, zipfile.BadZipFile, zlib.error)


class WorkFolder:
    """The work folder of `data`, which need not exist yet."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.path = data.with_name(data.name + ".partial")
        self._lock: int | None = None

    @property
    def held_files(self) -> list[int]:
        """Descriptors to pass to all worker processes: as long as one of them lives, the folder is locked."""
        return [] if self._lock is None else [self._lock]

    @property
    def is_begun(self) -> bool:
        """Whether there is a run to continue."""
        return (self.path / _PLAN_FILE).is_file()

    @property
    def has_parts(self) -> bool:
        """Whether some work is done."""
        return any(self.path.glob("part-*.npz"))

    @contextlib.contextmanager
    def held(self, plan: Mapping[str, Any], *, resume: bool, force: bool) -> Iterator[None]:
        """Opens the folder for a run of `plan`.

        `resume`: continue what is there; `force`: start again. OutputError if something is there and neither is
        given, or if another process works in it; ConfigError if `plan` is not the one it was started with.
        """
        self._check_is_free(resume=resume, force=force)
        self.path.mkdir(parents=True, exist_ok=True)
        with locked(self.path, "'elmo prepare'") as self._lock:
            if not (resume and self.is_begun):
                self._clear()
            self._remove_leftovers()
            self._begin(plan)
            yield

    def part_path(self, index: int) -> Path:
        """The file of a part."""
        return self.path / f"part-{index:06}.npz"

    def has(self, index: int, block: Block) -> bool:
        """Whether part `index` is there and complete. TextError if it was made from anything but `block`."""
        path = self.part_path(index)
        if not path.is_file():
            return False
        try:
            part = Part.load(path)
        except _DAMAGED:
            # The machine may have stopped before it was on the disk.
            return False
        if part.digest != block.digest:
            raise TextError(
                f"{block.name}, lines {block.first_line} to {block.last_line}: the text has changed since "
                f"{self.path} was started. Restore the old text, or start again with --force instead of --resume."
            )
        return True

    def load(self, index: int) -> Part:
        """Part `index`; OutputError if it is damaged."""
        path = self.part_path(index)
        try:
            return Part.load(path)
        except _DAMAGED as error:
            raise OutputError(
                f"{path}: can't be read back ({error}): the disk or another program has damaged it. Check the disk; "
                "then continue with --resume, which makes it again."
            ) from None

    def remove(self) -> None:
        """Removes the folder; what isn't ours stays."""
        # First, so that a half removed folder is never continued.
        (self.path / _PLAN_FILE).unlink(missing_ok=True)
        self._clear()
        with contextlib.suppress(OSError):
            self.path.rmdir()

    def _check_is_free(self, *, resume: bool, force: bool) -> None:
        if not is_there(self.path):
            return
        plain = self.path.is_dir() and not self.path.is_symlink()
        names = sorted(entry.name for entry in self.path.iterdir()) if plain else [self.path.name]
        foreign = [name for name in names if not _OURS.fullmatch(name)]
        if foreign or not plain:
            raise OutputError(
                f"{self.path}: holds {(foreign or names)[0]!r}, which no run of elmo made, so it is not removed. Move "
                "it away, or choose another output."
            )
        if self.is_begun and not (resume or force):
            raise OutputError(
                f"{self.path}: exists already: an earlier run was not finished. Continue it with --resume, or start "
                "again with --force."
            )

    def _clear(self) -> None:
        for entry in self.path.iterdir():
            if _OURS.fullmatch(entry.name):
                entry.unlink()

    def _remove_leftovers(self) -> None:
        """A run that was killed at its very end leaves a half filled data folder under a hidden name."""
        for entry in hidden(self.data, "unfinished"):
            if entry.is_dir():
                shutil.rmtree(entry, ignore_errors=True)

    def _begin(self, plan: Mapping[str, Any]) -> None:
        plan = json.loads(json.dumps(plan))
        path = self.path / _PLAN_FILE
        if path.is_file():
            begun = read_record(path)
            for name in sorted({*begun, *plan}):
                if begun.get(name) != plan.get(name):
                    raise ConfigError(
                        f"{self.path}: was started with {name} {begun.get(name)!r}, now it is {plan.get(name)!r}: its "
                        "parts would not fit. Resume with the same settings, or start again with --force and "
                        "without --resume."
                    )
            return
        write_json(path, plan)
