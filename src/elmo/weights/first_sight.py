"""First sight: files that carry no fingerprint of ours are known by the SHA-256 they had when they were first read.

A flipped bit in the values of an HDF5 file or a pickle, or in options.json, shows nowhere: the model loads and its
vectors are wrong. So the SHA-256 of every file of a foreign model is recorded at first sight, in `WEIGHTS.sha256`
beside the weights (`sha256sum -c` reads it too), or in the user's cache folder where that can't be written; every later
load is compared with it. A published file whose hash is in the catalogue is compared with that, from the first time on.

The files are hashed at every load, in a thread beside the reading. Size and date would be faster to compare, but a bit
that flips on the disk changes neither.
"""

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from elmo.disk.atomic import new_file
from elmo.disk.bounded import is_file, read_bytes, shown
from elmo.disk.cache import cache_folder
from elmo.errors import OutputError, WeightFileError
from elmo.weights.catalogue import published_hash
from elmo.weights.checkpoint import SourceFile
from elmo.weights.fingerprint import file_hash

PLACE_VARIABLE = "ELMO_HASH_RECORDS"
"""Environment variable: `cache` records hashes in the user's cache folder only, `off` nowhere; both still compare."""

SUFFIX = ".sha256"
_MAX_RECORD_BYTES = 1 << 16
_LINE = re.compile(r"([0-9a-f]{64})  (\S.*)")
_HEAD = (
    "# SHA-256 of a model's files when elmo first read them ({date}). Later loads are compared with it.\n"
    "# If you changed a file on purpose, delete its line.\n"
)


class Sources:
    """The files of one model, while they are hashed and when they are known."""

    def __init__(self, hashes: Future[dict[Path, str]], weights: Path) -> None:
        self._hashes, self._weights = hashes, weights
        self.files: tuple[SourceFile, ...] = ()
        """Filled when the reading has ended."""

    def require_known(self) -> None:
        """Waits for the hashes and compares them, before anything is opened. Nothing is recorded yet."""
        _compared(self._hashes.result(), self._weights)

    def settle(self) -> None:
        """Compares the hashes, and records those that are new."""
        found, new, records = _compared(self._hashes.result(), self._weights)
        if new:
            written = _recorded(new, records)
            known_from = "nothing" if written is None else "first sight"
            found = [
                one if one.known_from != "first sight" else replace(one, known_from=known_from, record=written)
                for one in found
            ]
        self.files = tuple(found)

    @property
    def hash(self) -> str:
        """SHA-256 over the SHA-256 of each file, in their order."""
        return hashlib.sha256("".join(f"{file.sha256}\n" for file in self.files).encode("ascii")).hexdigest()


@contextmanager
def watched(files: Sequence[Path], *, weights: Path) -> Iterator[Sources]:
    """Hashes the files while the block reads them, then compares and records.

    `weights`: the main file, which the record is called after. Raises WeightFileError if a file has another hash than
    the catalogue or the record says. An error of the block itself comes first.
    """
    with ThreadPoolExecutor(1) as thread:
        sources = Sources(thread.submit(_hashes, files), weights)
        yield sources
        sources.settle()


def record_beside(weights: Path) -> Path:
    """Where the hashes of a model's files are recorded, if the folder can be written."""
    return weights.with_name(weights.name + SUFFIX)


@dataclass(frozen=True)
class Known:
    """The SHA-256 that a file must have."""

    sha256: str
    record: Path | None
    """Where it is recorded; None: the catalogue has it, as published."""


def known_hash(path: Path, *, weights: Path) -> Known | None:
    """What is known of a file of the model whose main file is `weights`. The files themselves need not be there."""
    if (published := published_hash(path.name)) is not None:
        return Known(published, None)
    name = _name(path, weights)
    records = map(_read_record, _places(weights))
    return next((Known(record.hashes[name], record.path) for record in records if name in record.hashes), None)


def record(hashes: dict[Path, str], *, weights: Path) -> None:
    """Records SHA-256 of files that were just downloaded, in the user's cache folder: it outlives the files."""
    _recorded({_name(path, weights): sha256 for path, sha256 in hashes.items()}, [_read_record(_places(weights)[1])])


def forget(weights: Path) -> None:
    """Removes what was recorded of a model that is about to be replaced by another one of that name."""
    for place in _places(weights):
        with suppress(OSError):
            place.unlink(missing_ok=True)


def _hashes(files: Sequence[Path]) -> dict[Path, str]:
    try:
        return {path: file_hash([path]) for path in files}
    except OSError as error:
        raise WeightFileError(
            f"{error.filename}: can't be read: {error.strerror or error}. Check the file and its permissions."
        ) from None


def _compared(hashes: dict[Path, str], weights: Path) -> tuple[list[SourceFile], dict[str, str], list["_Record"]]:
    """The files, the hashes that are new by their names in the record, and the records. Raises WeightFileError."""
    records = [_read_record(place) for place in _places(weights)]
    found: list[SourceFile] = []
    new: dict[str, str] = {}
    for path, sha256 in hashes.items():
        name = _name(path, weights)
        published = published_hash(path.name)
        recorded = [record for record in records if name in record.hashes]
        if published is not None:
            if published != sha256:
                raise _other_than_published(path, sha256, published)
            found.append(SourceFile(path, sha256, "catalogue"))
        elif recorded:
            if recorded[0].hashes[name] != sha256:
                raise _changed(path, sha256, recorded[0].hashes[name], recorded[0].path)
            found.append(SourceFile(path, sha256, "record", recorded[0].path))
        else:
            new[name] = sha256
            found.append(SourceFile(path, sha256, "first sight"))
    return found, new, records


@dataclass(frozen=True)
class _Record:
    path: Path
    hashes: dict[str, str]
    text: str = ""


def _places(weights: Path) -> list[Path]:
    """Where a record may be, the preferred place first."""
    full = os.path.abspath(weights)  # noqa: PTH100 - resolve() would replace what a link points to
    cached = cache_folder() / "sha256" / (hashlib.sha256(full.encode("utf-8", "surrogateescape")).hexdigest() + SUFFIX)
    return [record_beside(weights), cached]


def _name(path: Path, weights: Path) -> str:
    """A file's name in the record: its path from the weights' folder on, or in full."""
    full, folder = (Path(os.path.abspath(place)) for place in (path, weights.parent))  # noqa: PTH100 - as above
    return str(full.relative_to(folder)) if full.is_relative_to(folder) else str(full)


def _read_record(path: Path) -> _Record:
    try:
        text = read_bytes(path, limit=_MAX_RECORD_BYTES).decode("utf-8", "surrogateescape") if is_file(path) else ""
    except OSError as error:
        raise WeightFileError(
            f"{path}: the record of hashes can't be read: {error.strerror or error}. Check its permissions, or delete "
            "it if the model's files are known to be good."
        ) from None
    hashes = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if line and not line.startswith("#"):
            match = _LINE.fullmatch(line)
            if match is None:
                raise WeightFileError(
                    f"{path}:{number}: is not 'SHA-256  NAME' but {shown(line)}: the record of hashes is damaged. "
                    "Check the model's files against their publisher's hashes and delete the record."
                )
            hashes[match[2]] = match[1]
    return _Record(path, hashes, text)


def _recorded(new: dict[str, str], records: list[_Record]) -> Path | None:
    """Adds the hashes to the record in the first place that can be written; None: there is none."""
    place = os.environ.get(PLACE_VARIABLE, "")
    if place == "off" or any("\n" in name or "\r" in name for name in new):
        return None
    lines = "".join(f"{sha256}  {name}\n" for name, sha256 in new.items())
    for record in records[-1:] if place == "cache" else records:
        with suppress(OSError, OutputError):
            text = record.text or _HEAD.format(date=datetime.now(UTC).date())
            content = f"{text}{'' if text.endswith(chr(10)) else chr(10)}{lines}".encode("utf-8", "surrogateescape")
            with new_file(record.path, size=len(content), force=True) as unfinished:
                unfinished.write_bytes(content)
            return record.path
    return None


def _changed(path: Path, found: str, recorded: str, record: Path) -> WeightFileError:
    return WeightFileError(
        f"{path}: has the SHA-256 {found}, but had {recorded} when it was first read ({record}): the file was damaged "
        "or replaced since. Get it again; if you changed it on purpose, delete its line in that record."
    )


def _other_than_published(path: Path, found: str, published: str) -> WeightFileError:
    return WeightFileError(
        f"{path}: has the SHA-256 {found}, but the published file of that name has {published}: it is damaged or "
        "another file. Get it again; if it is a model of your own, give it another name."
    )
