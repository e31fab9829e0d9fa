"""A published model by its name: in the cache folder, downloaded at the first use.

name -> source_of   its files and their addresses
     -> transfer    each file, from the first address that gives it
     -> first sight compared with the SHA-256 of the first download, or recorded
     -> a folder    that appears whole: CACHE/published/NAME

One process downloads a model, others wait for it. What a killed process has begun is continued.
"""

import hashlib
import shutil
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from elmo.disk.atomic import new_folder
from elmo.disk.bounded import is_file
from elmo.disk.cache import cache_folder
from elmo.disk.folder_lock import locked
from elmo.disk.json_file import read_json
from elmo.errors import OutputError, WeightFileError
from elmo.process.progress.report import Progress, following
from elmo.weights import first_sight, formats
from elmo.weights.download import MAX_BYTES
from elmo.weights.fingerprint import file_hash
from elmo.weights.many_langs.names import PICKLES
from elmo.weights.published.sources import RemoteFile, Source, source_of
from elmo.weights.published.transfer import Refused, discard, transfer
from elmo.weights.published.unpack import unpack, unpacked_size

WAIT = 3600.0
"""Seconds to wait for another process that downloads the same model."""

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
    no such model, no address gives it,
    or the files are not those of the first download; OutputError if they can't be written.
    """
    source, folder = source_of(name, mirrors), published_folder(name)
    if _is_complete(source, folder):
        return folder
    if not download:
        raise WeightFileError(f"{name}: is not downloaded yet. {_by_hand(source, folder)}")
    with _alone(name) as parts, following(progress) as reported:
        if not _is_complete(source, folder):  # another process may have been faster
            _download(source, folder, parts, reported)
    return folder


def from_archive(archive: Path) -> Path:
    """The folder of the model in a zip archive, unpacked once for each content, within the limits of a download.

    Raises WeightFileError if the archive is unsound or has no model.
    """
    name = f"{archive.stem}-{file_hash([archive])[:16]}"
    folder = cache_folder() / "unpacked" / name
    with _alone(name):
        if not folder.is_dir():
            size = unpacked_size(archive, max_bytes=MAX_BYTES)
            with new_folder(folder, size=size, force=False, replaceable=frozenset()) as unfinished:
                unpack(archive, unfinished, max_bytes=MAX_BYTES)
                _require_model(str(archive), unfinished, "Name an archive with the files of a model in it.")
    return folder


def _is_complete(source: Source, folder: Path) -> bool:
    if not source.is_archive:
        return all(is_file(folder / file.name) for file in source.files)
    return folder.is_dir() and _model_in(folder) is not None


def _model_in(folder: Path) -> str | None:
    try:
        return formats.recognize(folder)
    except WeightFileError:
        return None


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
        raise OutputError(
            f"{parts}: can't be used for downloads: {error.strerror or error}. Set ELMO_CACHE to a folder that can be "
            "written."
        ) from None


def _download(source: Source, folder: Path, parts: Path, progress: Progress) -> None:
    here = {file: _brought(source, file, folder, parts, progress) for file in source.files}
    try:
        _place(source, folder, here)
    except WeightFileError:  # the next attempt shall not begin with these
        shutil.rmtree(parts, ignore_errors=True)
        raise
    for path in parts.iterdir():
        shutil.rmtree(path, ignore_errors=True)


def _place(source: Source, folder: Path, here: dict[RemoteFile, Path]) -> None:
    """Makes the folder of the files that were brought, and records what they are."""
    hashes = {folder / file.name: file_hash([part]) for file, part in here.items()}
    archive = next(iter(here.values())) if source.is_archive else None
    size = unpacked_size(archive, max_bytes=MAX_BYTES) if archive else 0
    with new_folder(folder, size=size, force=True, replaceable=frozenset(file.name for file in here)) as unfinished:
        if archive:
            unpack(archive, unfinished, max_bytes=MAX_BYTES)
        else:
            for file, part in here.items():
                part.rename(unfinished / file.name)
        advice = "Choose an archive whose algorithm the repository gives as ELMo."
        _require_model(source.name, unfinished, advice)
        first_sight.record(hashes, weights=_anchor(source, folder))
        if archive:
            _record_contents(unfinished, folder)


def _brought(source: Source, file: RemoteFile, folder: Path, parts: Path, progress: Progress) -> Path:
    """One file, from the first address that gives it, checked and compared with its first download."""
    known = first_sight.known_hash(folder / file.name, weights=_anchor(source, folder))
    failures: list[tuple[str, str]] = []
    for address in file.addresses:
        part = parts / hashlib.sha256(address.encode()).hexdigest()[:16] / file.name
        part.parent.mkdir(exist_ok=True)
        try:
            transfer(address, part, min_bytes=file.min_bytes, max_bytes=MAX_BYTES, progress=progress)
            _require_kind(part, file.name)
            _require_known(part, known)
            if known is None and address.startswith("http:"):
                warnings.warn(
                    f"{address} is not encrypted, and no SHA-256 of the file is known: whoever controls the network on "
                    "the way could have changed it. Its SHA-256 is recorded now, and compared from then on.",
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


def _require_known(part: Path, known: first_sight.Known | None) -> None:
    """Refuses another file than at the first download."""
    if known is not None and known.sha256 != (found := file_hash([part])):
        discard(part)
        raise Refused(
            f"the file has the SHA-256 {found}, but {_since(known)} {known.sha256}. It was changed by its publisher "
            "or during the download; it was not kept"
        )


def _since(known: first_sight.Known) -> str:
    if known.record is None:
        return "the published file has"
    return f"when it was first downloaded it had (recorded in {known.record}; delete its line if you trust the new one)"


def _anchor(source: Source, folder: Path) -> Path:
    """The file that the record of the hashes is called after: the one that a reader of the model names, too."""
    return folder / source.files[-1].name


def _require_kind(part: Path, name: str) -> None:
    """Rejects a file whose content doesn't match its name, such as a login page."""
    suffix = Path(name).suffix
    if suffix in _MAGIC:
        with part.open("rb") as file:
            if file.read(len(_MAGIC[suffix])) != _MAGIC[suffix]:
                discard(part)
                raise Refused(f"the answer is not a {suffix[1:]} file (it may be a login page)")
    elif suffix == ".json":
        try:
            read_json(part)
        except WeightFileError:
            discard(part)
            raise Refused("the answer is not JSON (it may be a login page)") from None


def _require_model(name: str, unfinished: Path, advice: str) -> None:
    if _model_in(unfinished) is None:
        names = ", ".join(sorted(path.name for path in unfinished.iterdir())[:10])
        raise WeightFileError(
            f"{name}: contains no ELMo model but {names or 'no file'}, another kind of vectors. {advice}"
        )


def _record_contents(unfinished: Path, folder: Path) -> None:
    """Records the files that came out of an archive, which the SHA-256 of the archive vouches for."""
    files = [path for path in sorted(unfinished.rglob("*")) if path.is_file()]
    weights = next((path for path in files if path.name == PICKLES[1] or path.suffix in (".hdf5", ".index")), None)
    if weights is None:
        return
    anchor = folder / weights.relative_to(unfinished)
    first_sight.forget(anchor)
    first_sight.record({folder / path.relative_to(unfinished): file_hash([path]) for path in files}, weights=anchor)


def _by_hand(source: Source, folder: Path) -> str:
    files = " and ".join(file.publisher for file in source.files)
    how = f"unpack it into {folder}" if source.is_archive else f"put them into {folder}"
    return f"By hand: get {files} where there is a network and {how}; the name works then."
