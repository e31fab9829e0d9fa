"""PartialFolder: `OUTPUT.partial/`, where a file of vectors grows and which a killed run can be resumed from.

manifest.json    what is being made: text, model, settings, and checksums of the file's structure; written when that
                 structure is complete, removed last of all
windows.jsonl    a line for each finished window: where it ends, and the checksum of its vectors
progress.json    how many windows are finished and synced, and the checksum of their lines in windows.jsonl
state-N.npz      carry mode only: the rows' state after N rows of the text
input.txt        the text, if it came from standard input or a pipe

Whatever is found here is checked before it is believed: a file that is missing, cut off, changed or a link ends in an
OutputError that says which, and nothing of the folder is used. One process at a time works in it.
"""

import hashlib
import json
import os
import re
import shutil
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from elmo.disk.arrays import read_npz
from elmo.disk.atomic import sync
from elmo.disk.bounded import open_regular, read_bytes
from elmo.disk.folder_lock import locked
from elmo.errors import ConfigError, OutputError
from elmo.process.progress.report import SILENT, Count, Progress
from elmo.shapes import Float, Int
from elmo.text.files.lines import limited_lines
from elmo.text.files.text_file import opened, text_name
from elmo.weights.fingerprint import text_hash

_MANIFEST_FILE = "manifest.json"
_PROGRESS_FILE = "progress.json"
_WINDOWS_FILE = "windows.jsonl"
_INPUT_FILE = "input.txt"
_OWN_FILES = (_MANIFEST_FILE, _PROGRESS_FILE, _WINDOWS_FILE, _INPUT_FILE)
_STATE_FILE = re.compile(r"state-\d{1,18}\.npz", re.ASCII)
_UNFINISHED = ".unfinished"

FORMAT_VERSION = 3
_SMALL_FILE = 1 << 20  # bytes
_BYTES_BETWEEN_REPORTS = 1 << 20


@dataclass(frozen=True)
class Window:
    """A finished window, as its line in windows.jsonl says."""

    lines: int
    """Rows of the text up to its end."""
    tokens: int
    """Tokens up to its end."""
    sha256: str
    """Of its vectors, as the writer stored them."""
    state_sha256: str = ""
    """Carry mode: of the state after it."""
    state_bytes: int = 0


@dataclass(frozen=True)
class Position:
    """How far a file is finished."""

    lines: int = 0
    tokens: int = 0
    windows: int = 0
    log_bytes: int = 0
    """Of windows.jsonl: what is beyond belongs to a window that was not finished."""
    log_sha256: str = hashlib.sha256().hexdigest()


class PartialFolder:
    """The folder of work beside an output file. `work_files`: what the writers may leave there."""

    def __init__(self, output: Path, work_files: Sequence[str] = ()) -> None:
        self.output = output
        self.path = output.with_name(output.name + ".partial")
        self._ours = (*_OWN_FILES, *work_files)
        self._log_hash = hashlib.sha256()

    @property
    def input(self) -> Path:
        """Where a text that can be read only once is kept."""
        return self.path / _INPUT_FILE

    @property
    def is_begun(self) -> bool:
        """Whether there is something to resume, even if damaged."""
        return os.path.lexists(self.path / _MANIFEST_FILE)

    def require_absent(self) -> None:
        """OutputError if an earlier run left the folder."""
        if os.path.lexists(self.path):
            raise OutputError(
                f"{self.path}: exists already: an earlier run did not finish. Continue it with --resume, or start "
                "again with --force."
            )

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nobody else works in the folder inside the block; it is made if need be.

        If nothing that could be resumed is there in the end, no folder stays behind. OutputError if another process is
        at work in it, or it is not a plain folder.
        """
        while True:
            is_new = self._made()
            with locked(self.path, "'elmo embed'") as descriptor:
                if descriptor is not None and not self._is_still(descriptor):
                    continue  # whoever held it has removed it meanwhile
                try:
                    yield
                finally:
                    if not self.is_begun and (is_new or self._is_tidy()) and not self.clear():
                        self.path.rmdir()
                return

    def _made(self) -> bool:
        """Makes the folder; whether it was not there."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.mkdir()
            return True
        except FileExistsError:
            if not os.path.lexists(self.path):  # what is in the way is a parent
                raise
        if not stat.S_ISDIR(self.path.lstat().st_mode):
            raise OutputError(
                f"{self.path}: is in the way: it is a link or a file, where the folder for unfinished work should be. "
                "Move it away, or choose another output."
            )
        return False

    def _is_still(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.fstat(descriptor), self.path.lstat())
        except FileNotFoundError:
            return False

    def _is_tidy(self) -> bool:
        return self.path.is_dir() and not self._foreign()

    def _foreign(self) -> list[str]:
        names = sorted(entry.name.removesuffix(_UNFINISHED) for entry in self.path.iterdir())
        return [name for name in names if name not in self._ours and not _STATE_FILE.fullmatch(name)]

    def empty(self, *, keep_input: bool = False) -> None:
        """Removes everything, the manifest last of all; OutputError if the folder holds what is not ours."""
        if foreign := self._foreign():
            raise OutputError(
                f"{self.path}: holds {foreign[0]!r}, which no run of elmo made, so it is not removed. Move it away, or "
                "choose another output."
            )
        self.clear(keep_input=keep_input)

    def clear(self, *, keep_input: bool = False) -> list[str]:
        """Removes what is ours, the manifest last of all; the names of what is not, which stays."""
        foreign = self._foreign()
        for entry in sorted(self.path.iterdir(), key=lambda entry: entry.name == _MANIFEST_FILE):
            if entry.name.removesuffix(_UNFINISHED) in foreign or (keep_input and entry == self.input):
                continue
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()
        return foreign

    def spool(self, text: Path | str, progress: Progress = SILENT) -> None:
        """Keeps a text that can be read only once. Raises TextError for what is not text, OSError naming the copy.

        `progress`: receives its bytes.
        """
        received = Count(progress, "receiving", None, "bytes")
        unfinished = self.input.with_name(_INPUT_FILE + _UNFINISHED)
        with opened(text) as (_, content), unfinished.open("xb") as file:
            try:
                for line in limited_lines(content, text_name(text)):
                    file.write(line)
                    if file.tell() - received.done >= _BYTES_BETWEEN_REPORTS:
                        received.add(file.tell() - received.done)
                received.add(file.tell() - received.done)
                received.finish()
                file.flush()
                os.fsync(file.fileno())
            except OSError as error:
                error.filename = error.filename or str(unfinished)
                raise
        unfinished.replace(self.input)

    def begin(self, manifest: Mapping[str, Any]) -> None:
        """Everything is in place for the first window."""
        values = {"format_version": FORMAT_VERSION, **manifest}
        self._write(_MANIFEST_FILE, {**values, "sha256": _digest(values)})

    def manifest(self) -> dict[str, Any]:
        """What the folder was begun with. OutputError if that can't be trusted."""
        values = self._read(_MANIFEST_FILE)
        if values.pop("sha256", None) != _digest(values):
            raise self.damaged(f"{_MANIFEST_FILE} was changed (its checksum is another)")
        if values.pop("format_version", None) != FORMAT_VERSION:
            raise self.damaged("another version of elmo began it")
        return values

    def require_same(self, begun: Mapping[str, Any], manifest: Mapping[str, Any]) -> None:
        """ConfigError if the folder was begun with another text, model or setting: its halves would differ."""
        for name in manifest:
            if begun.get(name) != manifest[name]:
                raise ConfigError(
                    f"{self.path}: was begun with {name} {begun.get(name)!r}, now it is {manifest[name]!r}: the two "
                    "halves of the file would differ. Resume with what it was begun with, or start again with --force "
                    "and without --resume."
                )

    def finished(self, lengths: Int[np.ndarray, " rows"]) -> tuple[Position, list[Window]]:
        """How far the file is finished, and its windows. `lengths`: tokens of each row.

        OutputError if the folder's records contradict each other or the text.
        """
        if not os.path.lexists(self.path / _PROGRESS_FILE):
            progress, log = Position(), b""
        else:
            progress = self._checked_progress(self._read(_PROGRESS_FILE))
            log = self._log(progress)
        windows = [self._checked_window(line) for line in log.splitlines()]
        ends = np.array([window.lines for window in windows], dtype=np.int64)
        tokens = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        last = windows[-1] if windows else Window(0, 0, "")
        if (
            len(windows) != progress.windows
            or (last.lines, last.tokens) != (progress.lines, progress.tokens)
            or (np.diff(ends, prepend=0) < 1).any()
            or last.lines > len(lengths)
            or [window.tokens for window in windows] != tokens[ends].tolist()
        ):
            raise self.damaged(f"{_PROGRESS_FILE} and {_WINDOWS_FILE} do not agree with each other or with the text")
        self._log_hash = hashlib.sha256(log)
        return progress, windows

    def advance(
        self,
        before: Position,
        window: Window,
        state: Mapping[str, Float[np.ndarray, "layers rows width"]] | None = None,
    ) -> Position:
        """Notes that the file is synced up to the end of `window`, with the `state` that the next one continues."""
        if state is not None:
            content = BytesIO()
            arrays: Any = state  # by name; type checkers think of savez's own keywords
            np.savez(content, **arrays)
            digest = hashlib.sha256(content.getbuffer()).hexdigest()
            window = Window(window.lines, window.tokens, window.sha256, digest, len(content.getbuffer()))
            self._replace(self._state_file(window.lines).name, content.getvalue())
        line = (json.dumps(asdict(window)) + "\n").encode("ascii")
        self._append_to_log(before.log_bytes, line)
        self._log_hash.update(line)
        after = Position(
            window.lines, window.tokens, before.windows + 1, before.log_bytes + len(line), self._log_hash.hexdigest()
        )
        self._write(_PROGRESS_FILE, asdict(after))
        if state is not None and before.lines:
            self._state_file(before.lines).unlink(missing_ok=True)
        return after

    def state(self, windows: Sequence[Window]) -> dict[str, Float[np.ndarray, "layers rows width"]]:
        """Carry mode: the rows' state after these windows. OutputError if it isn't there as it was written."""
        if not windows:
            return {}
        path, last = self._state_file(windows[-1].lines), windows[-1]
        try:
            content = read_bytes(path, limit=last.state_bytes, own=True)
        except OSError as error:
            raise self.damaged(f"{path.name} can't be used: {error.strerror}") from None
        if hashlib.sha256(content).hexdigest() != last.state_sha256:
            raise self.damaged(f"{path.name} was changed (its checksum is another)")
        return read_npz(BytesIO(content))

    def damaged(self, what: str) -> OutputError:
        """What to raise when the folder can't be trusted."""
        return DamagedFolder(
            f"{self.path}: can't be resumed: {what}, so its vectors might be wrong. Start again with --force and "
            "without --resume."
        )

    def require_plain(self, *, needs_input: bool, work_folders: Collection[str]) -> None:
        """OutputError if something there is a link, or a folder of another name than `work_folders`.

        `needs_input`: the copy of the text must be there too.
        """
        if needs_input and not os.path.lexists(self.input):
            raise self.damaged(f"{_INPUT_FILE}, the copy of the text, is missing")
        foreign = self._foreign()
        for entry in sorted(self.path.rglob("*")):
            status, name = entry.lstat(), entry.relative_to(self.path)
            if name.parts[0] in foreign or (stat.S_ISDIR(status.st_mode) and str(name) in work_folders):
                continue
            if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
                raise self.damaged(f"{name} is a link or no regular file")

    def _checked_progress(self, values: dict[str, Any]) -> Position:
        if sorted(values) != sorted(asdict(Position())) or not _are_counts(values, "log_sha256"):
            raise self.damaged(f"{_PROGRESS_FILE} does not say how far it is finished")
        return Position(**values)

    def _checked_window(self, line: bytes) -> Window:
        values = self._parsed(_WINDOWS_FILE, line)
        if sorted(values) != sorted(asdict(Window(0, 0, ""))) or not _are_counts(values, "sha256", "state_sha256"):
            raise self.damaged(f"{_WINDOWS_FILE} has a line that describes no window")
        return Window(**values)

    def _log(self, progress: Position) -> bytes:
        try:
            with open_regular(self.path / _WINDOWS_FILE, own=True) as file:
                log = file.read(progress.log_bytes) if progress.log_bytes <= os.fstat(file.fileno()).st_size else b""
        except OSError as error:
            raise self.damaged(f"{_WINDOWS_FILE} can't be used: {error.strerror}") from None
        if hashlib.sha256(log).hexdigest() != progress.log_sha256:
            raise self.damaged(f"{_WINDOWS_FILE} was changed (its checksum is another)")
        return log

    def _append_to_log(self, at: int, line: bytes) -> None:
        path = self.path / _WINDOWS_FILE
        if at == 0:
            path.unlink(missing_ok=True)
            path.touch(exist_ok=False)
        with open_regular(path, own=True, change=True) as file:
            file.truncate(at)  # a line of a window that was not finished
            file.seek(at)
            file.write(line)
            file.flush()
            os.fsync(file.fileno())

    def _state_file(self, lines: int) -> Path:
        return self.path / f"state-{lines}.npz"

    def _read(self, name: str) -> dict[str, Any]:
        try:
            content = read_bytes(self.path / name, limit=_SMALL_FILE, own=True)
        except OSError as error:
            raise self.damaged(f"{name} can't be used: {error.strerror}") from None
        return self._parsed(name, content)

    def _parsed(self, name: str, content: bytes) -> dict[str, Any]:
        try:
            values = json.loads(content)
        except (ValueError, RecursionError):
            raise self.damaged(f"{name} is not JSON") from None
        if not isinstance(values, dict):
            raise self.damaged(f"{name} holds no JSON object")
        return values

    def _write(self, name: str, values: Mapping[str, Any]) -> None:
        self._replace(name, json.dumps(dict(values), indent=2).encode("ascii"))

    def _replace(self, name: str, content: bytes) -> None:
        unfinished = self.path / (name + _UNFINISHED)
        unfinished.unlink(missing_ok=True)
        with unfinished.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(self.path / name)
        sync(self.path)


class DamagedFolder(OutputError):
    """What a killed run left can't be trusted."""


def _digest(values: Mapping[str, Any]) -> str:
    return text_hash(json.dumps(dict(values), sort_keys=True))


def _are_counts(values: Mapping[str, Any], *texts: str) -> bool:
    """Whether all values are integers from 0 on, but those of the names `texts`, which are strings."""
    return all(
        isinstance(value, str) if name in texts else type(value) is int and 0 <= value < 1 << 62
        for name, value in values.items()
    )
