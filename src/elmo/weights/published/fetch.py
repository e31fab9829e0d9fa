"""A published model by its name: in the cache folder, downloaded at the first use.

name -> source_of   its files and their addresses
     -> transfer    each file, from the first address that gives it, compared with its published SHA-256, or else with
                    the one that it had here at the first download
     -> a folder    that appears whole: CACHE/published/NAME

One process downloads a model, others wait for it. What a killed process has begun is continued.
"""

import errno
import hashlib
import shutil
import struct
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from elmo.disk.atomic import new_folder
from elmo.disk.bounded import file_hash, is_file
from elmo.disk.cache import cache_folder, unusable
from elmo.disk.folder_lock import locked
from elmo.disk.json_file import read_json, write_json
from elmo.errors import ElmoError, OutputError, WeightFileError
from elmo.process.progress.report import Progress, following
from elmo.weights import formats
from elmo.weights.catalogue import MAX_BYTES, published_hash
from elmo.weights.published.sources import RemoteFile, Source, source_of
from elmo.weights.published.transfer import Refused, discard, transfer

WAIT = 3600.0
"""Seconds to wait for another process that downloads the same model."""

MAX_ENTRIES = 64
"""Files of an archive, which may be damaged or hostile like any other: a model has about ten."""

_OF_MACOS = "__MACOSX/"
_MAGIC = {".hdf5": b"\x89HDF\r\n\x1a\n", ".zip": b"PK\x03\x04"}


def published_folder(name: str) -> Path:
    """Where the files of a published model are, or are put."""
    return cache_folder() / "published" / name.replace(":", "-")


def is_downloaded(name: str) -> bool:
    """Whether all files of the published model `name` are in its folder. Raises WeightFileError: no such name."""
    return _is_complete(source_of(name), published_folder(name))


def fetched(name: str, *, download: bool = True, mirrors: Sequence[str] = (), progress: Progress | bool = True) -> Path:
    """The folder of the published model `name`, downloaded unless it is there.

    `download`: False asks no network. `mirrors`: addresses that are tried before the publishers', as ADDRESS/NAME/FILE.
    `progress`: receives the bytes of each file; True, the default, since nobody expects that a name takes minutes: bars
    on stderr. Warns of files that came unencrypted and whose SHA-256 is not known. Raises WeightFileError if there is
    no such model, no address gives it, or a file is not the published one; OutputError if they can't be written.
    """
    source, folder = source_of(name, mirrors), published_folder(name)
    if _is_complete(source, folder):
        return folder
    if not download:
        raise WeightFileError(f"{name}: is not downloaded yet. {_by_hand(source, folder)}")
    with _alone(name) as parts, following(progress) as reported:
        if not _is_complete(source, folder):  # another process may have been faster
            _download_any(source, folder, parts, reported)
    return folder


def _download_any(source: Source, folder: Path, parts: Path, progress: Progress) -> None:
    try:
        _download(source, folder, parts, progress)
    except WeightFileError as error:
        if source.otherwise is None:
            raise
        try:
            parts.mkdir(exist_ok=True)
            _download(source.otherwise, folder, parts, progress)
        except WeightFileError as second:
            raise WeightFileError(f"{error} The files one by one: {second}") from None


def seen_hashes(name: str) -> dict[str, str]:
    """File -> the SHA-256 that it had when the model was first downloaded to this machine's cache folder."""
    record = _record_of_hashes(name)
    return read_json(record) if is_file(record) else {}


def _record_of_hashes(name: str) -> Path:
    return cache_folder() / "seen" / f"{name.replace('/', '-').replace(':', '-')}.json"


def from_archive(archive: Path) -> Path:
    """The folder of the model in a zip archive, unpacked once for each content, within the limits of a download.

    Raises WeightFileError if the archive is unsound or has no model.
    """
    name = f"{archive.stem}-{file_hash(archive)[:16]}"
    folder = cache_folder() / "unpacked" / name
    if folder.is_dir():  # which appears whole; the cache may be one that can only be read
        return folder
    with _alone(name):
        if not folder.is_dir():
            size = unpacked_size(archive, max_bytes=MAX_BYTES)
            with new_folder(folder, size=size, force=False, replaceable=frozenset()) as unfinished:
                unpack(archive, unfinished)
                _require_model(str(archive), unfinished, "Name an archive with the files of a model in it.")
    return folder


def _is_complete(source: Source, folder: Path) -> bool:
    if not source.is_archive:
        return all(is_file(folder / file.name) for file in source.files)
    return folder.is_dir() and _holds_model(folder)


def _holds_model(folder: Path) -> bool:
    try:
        return bool(formats.recognize(folder))
    except WeightFileError:
        return False


@contextmanager
def _alone(name: str) -> Iterator[Path]:
    """The folder of unfinished parts of a model, for this process alone."""
    parts = cache_folder() / "published" / ".parts" / name.replace(":", "-").replace("/", "-")
    try:
        parts.mkdir(parents=True, exist_ok=True)
        with locked(parts, f"download of {name}", seconds=WAIT):
            yield parts
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise unusable(parts, error) from None


def _download(source: Source, folder: Path, parts: Path, progress: Progress) -> None:
    here = {file.name: _downloaded_file(source, file, folder, parts, progress) for file in source.files}
    hashes = seen_hashes(source.name) | {name: file_hash(part) for name, part in here.items()}
    try:
        archive = next(iter(here.values())) if source.is_archive else None
        size = unpacked_size(archive, max_bytes=MAX_BYTES) if archive else 0
        with new_folder(folder, size=size, force=True, replaceable=frozenset(here)) as unfinished:
            if archive:
                unpack(archive, unfinished)
            else:
                for name, part in here.items():
                    part.rename(unfinished / name)
            advice = "Choose an archive whose algorithm the repository gives as ELMo."
            _require_model(source.name, unfinished, advice)
    except WeightFileError:  # the next attempt shall not begin with these
        shutil.rmtree(parts, ignore_errors=True)
        raise
    for path in parts.iterdir():
        shutil.rmtree(path, ignore_errors=True)
    record = _record_of_hashes(source.name)
    record.parent.mkdir(exist_ok=True)
    write_json(record, hashes)


def _downloaded_file(source: Source, file: RemoteFile, folder: Path, parts: Path, progress: Progress) -> Path:
    """One file, from the first address that gives it, checked."""
    published, seen = published_hash(file.name), seen_hashes(source.name).get(file.name)
    known = published or seen
    first = f"one that was first downloaded, noted in {_record_of_hashes(source.name)} (remove that if you trust the "
    whose = "published file has" if published else f"{first}new one), had"
    failures: list[tuple[str, str]] = []
    for address in file.addresses:
        part = parts / hashlib.sha256(address.encode()).hexdigest()[:16] / file.name
        part.parent.mkdir(exist_ok=True)
        try:
            transfer(address, part, min_bytes=file.min_bytes, max_bytes=MAX_BYTES, progress=progress)
            _require_file(part, known, whose=whose)
            if known is None and address.startswith("http:"):
                warnings.warn(
                    f"{address} is not encrypted, and no SHA-256 of the file is known: whoever controls the network on "
                    f"the way could have changed it. Its SHA-256 is {file_hash(part)}.",
                    stacklevel=2,
                )
            return part
        except Refused as refused:
            failures.append((address, str(refused)))
    raise WeightFileError(
        f"{source.name}: could not be downloaded. {_reasons(failures)}. Check the network and its proxies "
        f"(https_proxy). {_by_hand(source, folder)}"
    )


def _reasons(failures: list[tuple[str, str]]) -> str:
    """What each address answered; servers that all failed alike are named together."""
    servers = dict.fromkeys(urlsplit(address).netloc for address, _ in failures)
    if len(failures) > 1 and len({reason for _, reason in failures}) == 1:
        return f"{' and '.join(servers)}: {failures[0][1]}"
    return "; ".join(f"{address}: {reason}" for address, reason in failures)


def _require_file(part: Path, known: str | None, *, whose: str) -> None:
    """Discards and refuses a file that is not the published one, or whose content doesn't match its name."""
    problem, suffix = None, part.suffix
    if suffix in _MAGIC:
        with part.open("rb") as file:
            if file.read(len(_MAGIC[suffix])) != _MAGIC[suffix]:
                problem = f"the answer is not a {suffix[1:]} file (it may be a login page)"
    elif suffix == ".json":
        try:
            read_json(part)
        except WeightFileError:
            problem = "the answer is not JSON (it may be a login page)"
    if problem is None and known is not None and known != (found := file_hash(part)):
        problem = f"the file has the SHA-256 {found}, but the {whose} {known}"
    if problem is not None:
        discard(part)
        raise Refused(problem)


def _require_model(name: str, unfinished: Path, advice: str) -> None:
    if not _holds_model(unfinished):
        names = ", ".join(sorted(path.name for path in unfinished.iterdir())[:10])
        raise WeightFileError(
            f"{name}: contains no ELMo model but {names or 'no file'}, another kind of vectors. {advice}"
        )


def _by_hand(source: Source, folder: Path) -> str:
    files = " and ".join(file.publisher for file in source.files)
    how = f"unpack it into {folder}" if source.is_archive else f"put them into {folder}"
    return f"By hand: get {files} where there is a network and {how}; the name works then."


def unpacked_size(archive: Path, *, max_bytes: int) -> int:
    """The bytes of all files in `archive`, as it states them. Raises WeightFileError if it is none or over a limit."""
    with _opened(archive) as opened:
        files = [entry for entry in opened.infolist() if not entry.is_dir()]
    size = sum(entry.file_size for entry in files)
    if len(files) > MAX_ENTRIES or size > max_bytes:
        raise WeightFileError(
            f"{archive.name}: is not unpacked: it has {len(files):,} files of {size:,} bytes, a model has at most "
            f"{MAX_ENTRIES} files of {max_bytes:,} bytes. Get the archive from the model's publisher."
        )
    return size


def unpack(archive: Path, folder: Path) -> None:
    """Unpacks the files into the existing, empty `folder`; a single folder around all of them is left out, and so is
    what macOS puts beside it.

    Call `unpacked_size` before. zipfile writes plain files within `folder`, whatever their names say, of no more bytes
    than the archive states for each, and compares their checksums. Raises WeightFileError.
    """
    with _opened(archive) as opened:
        opened.extractall(folder, [name for name in opened.namelist() if not name.startswith(_OF_MACOS)])
    inside = list(folder.iterdir())
    if len(inside) == 1 and inside[0].is_dir():
        outer = inside[0].rename(folder / f"{archive.name}.folder")  # a file in it may have the folder's name
        for path in list(outer.iterdir()):
            path.rename(folder / path.name)
        outer.rmdir()


@contextmanager
def _opened(archive: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(archive) as opened:
            yield opened
    except ElmoError:
        raise
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, RuntimeError, OSError) as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):  # of the disk, not of the archive
            raise
        raise WeightFileError(f"{archive.name}: is not a valid zip archive: {error}. Get it again.") from None
