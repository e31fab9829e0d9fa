"""One file over HTTP: cut connections are resumed, and what was begun is continued by the next process too.

Bytes go to a part file; beside it stands which address and which version of the file (its ETag or date) they are from.
A part is only continued if the server says that the file is still that version: the halves of two files would make a
model that loads and is wrong.
"""

import errno
import http.client
import re
import shutil
import socket
import time
import urllib.error
import urllib.request
from contextlib import suppress
from dataclasses import asdict, dataclass
from email.message import Message
from pathlib import Path

from elmo.disk.json_file import read_json, write_json
from elmo.disk.output import is_disk_full
from elmo.errors import OutputError, WeightFileError
from elmo.process.progress.report import Progress
from elmo.version import __version__

TIMEOUT = 30.0
"""Seconds without a byte after which a connection counts as cut."""
TRIES = 5
"""Attempts in a row that may bring less than a MiB each, and attempts in all that may begin at the first byte."""

_BLOCK = 1 << 18
_BYTES_OF_SUCCESS = 1 << 20
_PAUSE = 0.5  # seconds before the second attempt; doubled for each later one
_AGAIN = (408, 425, 429, 500, 502, 503, 504)
_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)")


class Refused(Exception):  # noqa: N818 - one address's answer; the caller goes on with the next one
    """This address does not give the file; why."""


class _Cut(Exception):  # noqa: N818 - no error yet: it is tried again
    """The connection ended too early."""

    def __init__(self, why: str, start: int) -> None:
        super().__init__(why)
        self.start = start
        """The byte it began at."""


@dataclass(frozen=True)
class _Version:
    """What a part is a part of."""

    address: str
    validator: str
    """A strong ETag, or the date of the last change; "": the server states neither, so nothing can be resumed."""
    total: int | None


def transfer(address: str, part: Path, *, min_bytes: int, max_bytes: int, progress: Progress) -> None:
    """Brings the file at `address` to `part`, whole.

    `progress`: receives its bytes, as a stage with the name of `part`. Raises Refused if this address doesn't give it,
    with `part` kept for another attempt where that could help; OutputError if the disk is full.
    """
    known, start = _begun(part, address)
    if known is not None and start == known.total:  # a process ended after the last byte
        return progress.show(part.name, start, start, "bytes")
    failures = beginnings = 0
    while True:
        before = _size(part)
        try:
            return _attempt(address, part, min_bytes, max_bytes, progress)
        except _Cut as cut:
            failures = 0 if _size(part) - before >= _BYTES_OF_SUCCESS else failures + 1
            beginnings += cut.start == 0
            if failures == TRIES:
                raise Refused(f"{cut}, {TRIES} times in a row") from None
            if beginnings == TRIES:  # however much each brings: it may never be all of one file
                raise Refused(f"{cut}, and it had to begin again {TRIES} times") from None
            time.sleep(_PAUSE * 2 ** max(0, failures - 1))


def discard(part: Path) -> None:
    """Removes a part and what is known of it."""
    for path in (part, _facts(part)):
        path.unlink(missing_ok=True)


def _attempt(address: str, part: Path, min_bytes: int, max_bytes: int, progress: Progress) -> None:
    known, start = _begun(part, address)
    headers = {"User-Agent": f"elmo/{__version__}", "Accept-Encoding": "identity"}
    if start and known is not None:
        headers |= {"Range": f"bytes={start}-", "If-Range": known.validator}
    try:
        with _OPENER.open(urllib.request.Request(address, headers=headers), timeout=TIMEOUT) as response:
            version, start = _agreed(response.headers, response.status, address, known, start)
            _require_size(version.total, min_bytes, max_bytes)
            _write(response, part, version, start, max_bytes, progress)
    except _OtherVersion as other:
        discard(part)
        raise _Cut(str(other), start) from None
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 416:  # the file is shorter now than what is here
            discard(part)
        if error.code == 416 or error.code in _AGAIN:
            raise _Cut(f"HTTP status {error.code}", start) from None
        raise Refused(f"HTTP status {error.code} ({error.reason})") from None
    except urllib.error.URLError as error:
        if isinstance(error.reason, TimeoutError | ConnectionError) and not isinstance(
            error.reason, ConnectionRefusedError
        ):
            raise _Cut(f"{error.reason}", start) from None
        raise Refused(_reason(error.reason)) from None
    except OutputError:
        raise
    except (http.client.HTTPException, OSError) as error:
        raise _Cut(f"the connection was cut ({str(error) or type(error).__name__})", start) from None
    except ValueError as error:  # no address
        raise Refused(str(error)) from None


class _OtherVersion(Exception):  # noqa: N818 - the way back to the beginning
    """The server has another version of the file than the part is from."""


def _agreed(headers: Message, status: int, address: str, known: _Version | None, start: int) -> tuple[_Version, int]:
    """The version that this answer is of, and the byte it begins at."""
    if (encoding := headers.get("Content-Encoding", "identity")) != "identity":
        raise Refused(f"the server compresses the file on its way ({encoding}), so its bytes can't be compared")
    validator = _validator(headers)
    if status != 206:
        length = headers.get("Content-Length", "")
        return _Version(address, validator, int(length) if length.isdecimal() else None), 0
    span = _RANGE.fullmatch(headers.get("Content-Range", "").strip())
    if span is None or known is None or int(span[1]) != start or (known.total not in (None, int(span[3]))):
        raise _OtherVersion("the server sent another part of the file than was asked for")
    if validator and validator != known.validator:
        raise _OtherVersion("the file has changed while it was downloaded")
    return _Version(address, known.validator, int(span[3])), start


def _write(
    response: http.client.HTTPResponse,
    part: Path,
    version: _Version,
    start: int,
    max_bytes: int,
    progress: Progress,
) -> None:
    try:
        _require_space(part, (version.total or 0) - start)
        write_json(_facts(part), asdict(version))
        with part.open("r+b" if start else "wb") as file:
            file.seek(start)
            progress.show(part.name, start, version.total, "bytes")
            while block := response.read1(_BLOCK):  # what has come, not all that was asked for: a cut loses nothing
                if file.tell() + len(block) > max_bytes:
                    raise Refused(f"the file has more than {max_bytes:,} bytes, so it is not a model")
                file.write(block)
                progress.show(part.name, file.tell(), version.total, "bytes")
            file.truncate()
            end = file.tell()
        if version.total is None:
            progress.show(part.name, end, end, "bytes")
    except OSError as error:
        if is_disk_full(error) or error.errno in (errno.EROFS, errno.EACCES, errno.EFBIG):
            raise OutputError(
                f"{part}: can't be written: {error.strerror}. What is here is kept: free some space or set ELMO_CACHE "
                "to a folder on another disk, then run the same command again."
            ) from None
        raise
    if version.total is not None and end != version.total:
        raise _Cut(f"the connection ended after {end:,} of {version.total:,} bytes", start)


def _begun(part: Path, address: str) -> tuple[_Version | None, int]:
    """What an earlier attempt at this address has left that can be continued, and its bytes."""
    with suppress(WeightFileError, KeyError, TypeError):
        facts = read_json(_facts(part))
        known = _Version(facts["address"], facts["validator"], facts["total"])
        is_usable = known.address == address and bool(known.validator)
        size = _size(part)
        if is_usable and (known.total is None or size <= known.total):
            return known, size
    return None, 0


def _validator(headers: Message) -> str:
    etag = headers.get("ETag", "").strip()
    return etag if etag.startswith('"') else headers.get("Last-Modified", "").strip()


def _require_size(total: int | None, min_bytes: int, max_bytes: int) -> None:
    if total is not None and total > max_bytes:
        raise Refused(f"the file has {total:,} bytes, a model has at most {max_bytes:,}")
    if total is not None and total < min_bytes:
        raise Refused(f"the file has {total:,} bytes, but it must have at least {min_bytes:,}")


def _require_space(part: Path, size: int) -> None:
    free = shutil.disk_usage(part.parent).free
    if free < size:
        raise OutputError(
            f"{part}: not enough disk: {size:,} bytes are missing of the file, {free:,} are free. Free some space, or "
            "set ELMO_CACHE to a folder on another disk."
        )


def _reason(reason: object) -> str:
    if isinstance(reason, socket.gaierror):
        return "the name of the server can't be resolved (no network?)"
    return str(getattr(reason, "strerror", None) or reason)


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _facts(part: Path) -> Path:
    return part.with_name(f"{part.name}.json")


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects, but never from an encrypted connection to one that isn't."""

    def redirect_request(self, req, fp, code, msg, headers, newurl):  # noqa: ANN001, ANN201 - as urllib names them
        if req.type == "https" and not newurl.lower().startswith("https:"):
            raise Refused(f"it redirects to {newurl}, which is not encrypted")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener() -> urllib.request.OpenerDirector:
    """HTTP and HTTPS alone, through the proxies that the environment names."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.UnknownHandler(),
        _Redirects(),
    ):
        opener.add_handler(handler)
    return opener


_OPENER = _opener()
