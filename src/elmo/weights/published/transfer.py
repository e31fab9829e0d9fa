"""One file over HTTP: cut connections are resumed, and what was begun is continued by the next process too.

Bytes go to a part file; beside it is noted which version of the file (its ETag or date) they are from. A part is only
continued if the server says that the file is still that version: the halves of two files would make a model that loads
and is wrong.
"""

import errno
import http.client
import re
import socket
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from elmo.disk.json_file import read_json, write_json
from elmo.disk.output import free_bytes, is_disk_full
from elmo.errors import OutputError, WeightFileError
from elmo.process.progress.report import Progress
from elmo.version import __version__

TIMEOUT = 30.0
"""Seconds without a byte after which a connection counts as cut."""
TRIES = 5
"""Attempts in a row that may bring less than a MiB of what was not here before."""

_BLOCK = 1 << 18
_BYTES_OF_SUCCESS = 1 << 20
_PAUSE = 0.5  # seconds before the second attempt; doubled for each later one
_AGAIN = (408, 416, 425, 429, 500, 502, 503, 504)
_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)")


class Refused(Exception):  # noqa: N818 - one address's answer; the caller goes on with the next one
    """This address does not give the file; why."""


class _Cut(Exception):  # noqa: N818 - it is tried again
    """The connection ended too early, or what came can't be used."""


class _Version(NamedTuple):
    """What a part is a part of."""

    validator: str
    """A strong ETag, or the date of the last change; "": the server states neither, so nothing can be resumed."""
    total: int | None


def transfer(address: str, part: Path, *, min_bytes: int, max_bytes: int, progress: Progress) -> None:
    """Downloads the file at `address` to `part`, whole. What `part` has of it already is continued.

    `progress`: receives its bytes, as a stage with the name of `part`. Raises Refused if this address doesn't give it,
    with `part` kept for another attempt where that could help; OutputError if the disk is full.
    """
    known, size = _begun(part)
    if known is not None and size == known.total:  # a process ended after the last byte
        return progress.show(part.name, size, size, "bytes")
    failures = most = 0
    while True:
        try:
            return _attempt(address, part, (min_bytes, max_bytes), progress)
        except _Cut as cut:
            has_grown = _size(part) >= most + _BYTES_OF_SUCCESS
            failures, most = 0 if has_grown else failures + 1, max(most, _size(part))
            if failures == TRIES:
                raise Refused(f"{cut}, {TRIES} times in a row") from None
            time.sleep(_PAUSE * 2 ** max(0, failures - 1))


def discard(part: Path) -> None:
    """Removes a part and what is known of it."""
    for path in (part, _facts(part)):
        path.unlink(missing_ok=True)


def _attempt(address: str, part: Path, limits: tuple[int, int], progress: Progress) -> None:
    known, start = _begun(part)
    if not address.startswith(("http://", "https://")):
        raise Refused("it is not an http or https address")
    headers = {"User-Agent": f"elmo/{__version__}", "Accept-Encoding": "identity"}
    if start and known is not None:
        headers |= {"Range": f"bytes={start}-", "If-Range": known.validator}
    try:
        with _OPENER.open(urllib.request.Request(address, headers=headers), timeout=TIMEOUT) as response:
            version, start = _answered(response, part, known, start)
            if version.total is not None and not limits[0] <= version.total <= limits[1]:
                raise Refused(f"the file has {version.total:,} bytes, but a model's has {limits[0]:,} to {limits[1]:,}")
            _write(response, part, version, start, limits, progress)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 416:  # the file is shorter now than what is here
            discard(part)
        if error.code in _AGAIN:
            raise _Cut(f"HTTP status {error.code}") from None
        raise Refused(f"HTTP status {error.code} ({error.reason})") from None
    except urllib.error.URLError as error:
        reason = error.reason
        if isinstance(reason, TimeoutError | ConnectionError) and not isinstance(reason, ConnectionRefusedError):
            raise _Cut(f"{reason}") from None
        if isinstance(reason, socket.gaierror):
            raise Refused("the name of the server can't be resolved (no network?)") from None
        raise Refused(str(getattr(reason, "strerror", None) or reason)) from None
    except OutputError:
        raise
    except (http.client.HTTPException, OSError) as error:
        raise _Cut(f"the connection was cut ({str(error) or type(error).__name__})") from None
    except ValueError as error:  # not an address
        raise Refused(str(error)) from None


def _answered(
    response: http.client.HTTPResponse, part: Path, known: _Version | None, start: int
) -> tuple[_Version, int]:
    """The version of an answer, and its first byte. The rest of another version discards the part."""
    headers = response.headers
    if (encoding := headers.get("Content-Encoding", "identity")) != "identity":
        raise Refused(f"the server compresses the file on its way ({encoding}), so its bytes can't be compared")
    etag = headers.get("ETag", "").strip()
    validator = etag if etag.startswith('"') else headers.get("Last-Modified", "").strip()
    if response.status != 206:
        length = headers.get("Content-Length", "")
        return _Version(validator, int(length) if length.isdecimal() else None), 0
    span = _RANGE.fullmatch(headers.get("Content-Range", "").strip())
    if (
        span is None
        or known is None
        or int(span[1]) != start
        or known.total not in (None, int(span[3]))
        or validator not in ("", known.validator)
    ):
        discard(part)
        raise _Cut("the server sent a part of another file than was begun")
    return _Version(known.validator, int(span[3])), start


def _write(
    response: http.client.HTTPResponse,
    part: Path,
    version: _Version,
    start: int,
    limits: tuple[int, int],
    progress: Progress,
) -> None:
    missing, free = (version.total or 0) - start, free_bytes(part.parent)
    if free < missing:
        raise OutputError(
            f"{part}: not enough disk: {missing:,} bytes are missing of the file, {free:,} are free. Free some space, "
            "or set ELMO_CACHE to a folder on another disk."
        )
    try:
        if not start:  # or a process that is killed here would leave the note of this version beside bytes of another
            part.unlink(missing_ok=True)
        write_json(_facts(part), version._asdict())
        with part.open("r+b" if start else "wb") as file:
            file.seek(start)
            progress.show(part.name, start, version.total, "bytes")
            while block := response.read1(_BLOCK):  # what has come, not all that was asked for: a cut loses nothing
                if file.tell() + len(block) > limits[1]:
                    raise Refused(f"the file has more than {limits[1]:,} bytes, so it is not a model")
                file.write(block)
                progress.show(part.name, file.tell(), version.total, "bytes")
            file.truncate()
            end = file.tell()
    except OSError as error:
        if is_disk_full(error) or error.errno in (errno.EROFS, errno.EACCES, errno.EFBIG):
            raise OutputError(
                f"{part}: can't be written: {error.strerror}. What is here is kept: free some space or set ELMO_CACHE "
                "to a folder on another disk, then run the same command again."
            ) from None
        raise
    if version.total is None and end < limits[0]:
        raise _Cut(f"the connection ended after {end:,} bytes, but a model's file has at least {limits[0]:,}")
    if version.total is None:
        progress.show(part.name, end, end, "bytes")
    elif end != version.total:
        raise _Cut(f"the connection ended after {end:,} of {version.total:,} bytes")


def _begun(part: Path) -> tuple[_Version | None, int]:
    """What earlier attempts have left that can be continued, and its bytes."""
    with suppress(WeightFileError, KeyError, TypeError):
        facts, size = read_json(_facts(part)), _size(part)
        known = _Version(facts["validator"], facts["total"])
        if known.validator and (known.total is None or size <= known.total):
            return known, size
    return None, 0


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


_OPENER = urllib.request.build_opener(_Redirects)
