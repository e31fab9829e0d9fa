"""A published model by its name: in the cache folder, downloaded at the first use.

name -> source_of   its files and their addresses
     -> transfer    each file, from the first address that gives it, compared with its published SHA-256, or else with
                    the one that it had here at the first download
     -> a folder    that appears whole: CACHE/published/NAME

One process downloads a model, others wait for it.
"""

import shutil
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from elmo.disk.atomic import new_folder
from elmo.disk.bounded import file_hash, is_file
from elmo.disk.cache import cache_folder, unusable
from elmo.disk.folder_lock import locked
from elmo.disk.json_file import read_json, write_json
from elmo.errors import OutputError, WeightFileError
from elmo.process.progress.report import Progress, following
from elmo.weights import formats
from elmo.weights.catalogue import MAX_BYTES, published_hash
from elmo.weights.published.archive import unpack, unpacked_size
from elmo.weights.published.sources import RemoteFile, Source, source_of
from elmo.weights.published.transfer import Refused, transfer

WAIT = 3600.0
"""Seconds to wait for another process that downloads the same model."""

_BEGINNINGS = {".hdf5": b"\x89HDF\r\n\x1a\n", ".zip": b"PK\x03\x04", ".json": b"{"}


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
            with new_folder(folder, size=unpacked_size(archive), force=False, replaceable=frozenset()) as unfinished:
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
    """An empty folder for what comes of a model, for this process alone."""
    parts = cache_folder() / "published" / ".parts" / name.replace(":", "-").replace("/", "-")
    try:
        parts.mkdir(parents=True, exist_ok=True)
        with locked(parts, f"download of {name}", seconds=WAIT):
            for left in parts.iterdir():  # by a killed process
                shutil.rmtree(left) if left.is_dir() else left.unlink()
            yield parts
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise unusable(parts, error) from None


def _download_any(source: Source, folder: Path, parts: Path, progress: Progress) -> None:
    routes = []
    for files in (source, source.otherwise):
        if files is not None:
            try:
                return _download(files, folder, parts, progress)
            except Refused as refused:
                routes.append(str(refused))
            except WeightFileError as error:  # not of the network, but of the archive
                if source.otherwise is None:
                    raise
                routes.append(f"  {error}")
    reasons = "\n".join(routes)
    raise WeightFileError(
        f"{source.name}: could not be downloaded:\n{reasons}\nCheck the network and its proxies (https_proxy). "
        f"{_by_hand(source, folder)}"
    )


def _download(source: Source, folder: Path, parts: Path, progress: Progress) -> None:
    names = [file.name for file in source.files]
    hashes = {file.name: _downloaded_file(source, file, parts / file.name, progress) for file in source.files}
    size = unpacked_size(parts / names[0]) if source.is_archive else 0
    with new_folder(folder, size=size, force=True, replaceable=frozenset(names)) as unfinished:
        if source.is_archive:
            unpack(parts / names[0], unfinished)
            (parts / names[0]).unlink()
        else:
            for name in names:
                (parts / name).rename(unfinished / name)
        _require_model(source.name, unfinished, "Choose an archive whose algorithm the repository gives as ELMo.")
    record = _record_of_hashes(source.name)
    record.parent.mkdir(exist_ok=True)
    write_json(record, seen_hashes(source.name) | hashes)


def _downloaded_file(source: Source, file: RemoteFile, part: Path, progress: Progress) -> str:
    """The SHA-256 of a file that was brought to `part` from the first address that gives it. Raises Refused: none."""
    published, seen = published_hash(file.name), seen_hashes(source.name).get(file.name)
    record = _record_of_hashes(source.name)
    whose = f"first one that was downloaded, noted in {record} (remove that if you trust the new one), had"
    routes = []
    for address in file.addresses:
        try:
            transfer(address, part, min_bytes=file.min_bytes, max_bytes=MAX_BYTES, progress=progress)
            _require_kind(part)
            found = file_hash(part)
            if (known := published or seen) not in (None, found):
                whose = "published file has" if published else whose
                raise Refused(f"the file has the SHA-256 {found}, but the {whose} {known}")
            if known is None and address.startswith("http:"):
                warnings.warn(
                    f"{address} is not encrypted, and no SHA-256 of the file is known: whoever controls the network on "
                    f"the way could have changed it. Its SHA-256 is {found}.",
                    stacklevel=2,
                )
            return found
        except Refused as refused:
            routes.append(f"  {address}: {refused}")
    raise Refused("\n".join(routes))


def _require_kind(part: Path) -> None:
    """Refuses a file whose content doesn't match its name."""
    with part.open("rb") as file:
        if not file.read(64).lstrip().startswith(_BEGINNINGS.get(part.suffix, b"")):
            raise Refused(f"the answer is not a {part.suffix[1:]} file (it may be a login page)")


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
