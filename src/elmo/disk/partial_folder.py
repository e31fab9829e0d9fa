"""PartialFolder: `OUTPUT.partial/`, where a long run keeps what it has done, and from which a killed one is resumed.

A JSON file in it, the note, has the settings that decide what is made. It is written first and removed last.
"""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from elmo.disk.folder_lock import locked
from elmo.errors import ConfigError, OutputError


class PartialFolder:
    """The folder of work beside an output. Derived classes say what is in it."""

    note_file: str
    ours: re.Pattern[str]
    """The names of the files that runs make in it; no others are removed."""
    holder: str
    """What works in such a folder, for messages."""

    def __init__(self, output: Path) -> None:
        self.output = output
        self.path = output.with_name(output.name + ".partial")
        self.note = self.path / self.note_file

    @property
    def is_begun(self) -> bool:
        """Whether there is something to resume, even if damaged."""
        return os.path.lexists(self.note)

    def require_absent(self) -> None:
        """OutputError if an earlier run left the folder."""
        if os.path.lexists(self.path):
            raise OutputError(
                f"{self.path}: an earlier run did not finish. Continue it with --resume, or start again with --force."
            )

    @contextmanager
    def held(self) -> Iterator[int | None]:
        """Nobody else works in the folder inside the block; it is made if need be. Yields the lock, as `locked` does.

        If nothing that could be resumed is there in the end, no folder stays behind. OutputError if another process is
        at work in it, or it is not a plain folder.
        """
        while True:
            is_new = self._made()
            with locked(self.path, self.holder) as descriptor:
                if descriptor is not None and not self._is_still(descriptor):
                    continue  # whoever held it has removed it meanwhile
                try:
                    yield descriptor
                finally:
                    if not self.is_begun and (is_new or not self._foreign()):
                        self.clear()
                        with suppress(OSError):  # it holds something of somebody else's
                            self.path.rmdir()
                return

    def _made(self) -> bool:
        """Makes the folder; whether it was not there."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.mkdir()
            return True
        except OSError as error:
            if os.path.islink(self.path) or not os.path.isdir(self.path):  # noqa: PTH112, PTH114 - Path's own raise
                raise OutputError(
                    f"{self.path}: can't be made ({error.strerror}), the folder for unfinished work. Move away what is "
                    "in its place, change the permissions, or choose another output."
                ) from None
        return False

    def _is_still(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.fstat(descriptor), self.path.lstat())
        except FileNotFoundError:
            return False

    def _foreign(self) -> list[str]:
        return sorted(entry.name for entry in self.path.iterdir() if not self.ours.fullmatch(entry.name))

    def empty(self) -> None:
        """Removes everything, the note last of all; OutputError if the folder holds what is not ours."""
        if foreign := self._foreign():
            raise OutputError(
                f"{self.path}: holds {foreign[0]!r}, which no run made. Move it, or choose another output."
            )
        self.clear()

    def clear(self) -> None:
        """Removes what is ours, the note last of all."""
        for entry in sorted(self.path.iterdir(), key=lambda entry: entry.name == self.note_file):
            if self.ours.fullmatch(entry.name):
                entry.unlink()

    def require_equal(self, begun: Mapping[str, Any], now: Mapping[str, Any]) -> None:
        """ConfigError if the folder was begun with other settings: what it holds would not fit."""
        for name in sorted({*begun, *now}):
            if begun.get(name) != now.get(name):
                raise ConfigError(
                    f"{self.path}: was begun with {name} {begun.get(name)!r}, now it is {now.get(name)!r}. Resume with "
                    "what it was begun with, or start again with --force and without --resume."
                )
