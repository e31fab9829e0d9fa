"""One file over HTTP. A connection that is cut is tried again, from the first byte."""

import http.client
import socket
import time
import urllib.error
import urllib.request
from pathlib import Path

from elmo.disk.output import is_disk_full
from elmo.errors import OutputError
from elmo.process.progress.report import Progress
from elmo.version import __version__

TIMEOUT = 30.0
"""Seconds without a byte after which a connection counts as cut."""
TRIES = 4

_BLOCK = 1 << 18
_PAUSE = 0.5  # doubled for each attempt
_AGAIN = (408, 425, 429, 500, 502, 503, 504)
_HEADERS = {"User-Agent": f"elmo/{__version__}", "Accept-Encoding": "identity"}


class Refused(Exception):  # noqa: N818 - one address's answer; the caller goes on with the next one
    """This address does not give the file; why."""


class _Cut(Refused):
    """The connection ended too early, or the server is busy: it is tried again."""


def transfer(address: str, file: Path, *, min_bytes: int, max_bytes: int, progress: Progress) -> None:
    """Downloads what is at `address` to `file`, whole.

    `progress`: receives its bytes, as a stage with the name of `file`. Raises Refused if this address doesn't give it;
    OutputError if the disk is full.
    """
    for attempt in range(1, TRIES):
        try:
            return _attempt(address, file, (min_bytes, max_bytes), progress)
        except _Cut:
            time.sleep(_PAUSE * 2**attempt)
    try:
        return _attempt(address, file, (min_bytes, max_bytes), progress)
    except _Cut as cut:
        raise Refused(f"{cut}, {TRIES} times") from None


def _attempt(address: str, file: Path, limits: tuple[int, int], progress: Progress) -> None:
    try:
        with _OPENER.open(urllib.request.Request(address, headers=_HEADERS), timeout=TIMEOUT) as response:
            _write(response, file, limits, progress)
    except urllib.error.HTTPError as error:
        error.close()
        kind = _Cut if error.code in _AGAIN else Refused
        raise kind(f"HTTP status {error.code} ({error.reason})") from None
    except (http.client.HTTPException, OSError, ValueError) as error:  # ValueError: not an address
        reason = getattr(error, "reason", error)
        if isinstance(error, OSError) and is_disk_full(error):
            raise OutputError(
                f"{file}: can't be written: {error.strerror}. Free some space, or set ELMO_CACHE to a folder on "
                "another disk."
            ) from None
        lasting = isinstance(reason, ConnectionRefusedError | socket.gaierror | ValueError | str)
        raise (Refused if lasting else _Cut)(getattr(reason, "strerror", None) or str(reason)) from None


def _write(response: http.client.HTTPResponse, file: Path, limits: tuple[int, int], progress: Progress) -> None:
    length = response.headers.get("Content-Length", "")
    total = int(length) if length.isdecimal() else None
    if total is not None and not limits[0] <= total <= limits[1]:
        raise Refused(f"the file has {total:,} bytes, but a model's has {limits[0]:,} to {limits[1]:,}")
    size = 0
    progress.show(file.name, size, total, "bytes")
    with file.open("wb") as part:
        while block := response.read1(_BLOCK):
            size += len(block)
            if size > limits[1]:
                raise Refused(f"the file has more than {limits[1]:,} bytes, so it is not a model")
            part.write(block)
            progress.show(file.name, size, total, "bytes")
    if size < limits[0] or total not in (None, size):
        raise _Cut(f"the connection ended after {size:,} of {total or limits[0]:,} bytes")
    if total is None:
        progress.show(file.name, size, size, "bytes")


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects, but never from an encrypted connection to one that isn't."""

    def redirect_request(self, req, fp, code, msg, headers, newurl):  # noqa: ANN001, ANN201 - as urllib names them
        if req.type == "https" and not newurl.lower().startswith("https:"):
            raise Refused(f"it redirects to {newurl}, which is not encrypted")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


_OPENER = urllib.request.build_opener(_Redirects)
