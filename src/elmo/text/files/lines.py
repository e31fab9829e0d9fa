"""The lines of a file, within limits: the one way to read whatever is made of lines.

A packed file is unpacked while it is read. A line that is too long, a damaged file and one that isn't text are each a
TextError with file and line. Most of the text is never in memory, but one line is: a device or a damaged file can have
a line without an end. ELMO_NO_LIMITS=1 lifts the limit.
"""

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO

from elmo.disk.bounded import LIMITS_VARIABLE, limit_now
from elmo.errors import TextError
from elmo.text.files.decoding import decoded
from elmo.text.files.text_file import check_is_text_file, opened, text_name, unreadable
from elmo.text.files.unpacking import DAMAGED

_LINE_BYTES = 16 << 20
_LINES_BETWEEN_LOOKS = 4096


def max_line_bytes() -> int:
    """The limit that holds now."""
    return limit_now(_LINE_BYTES)


def limited_lines(content: BinaryIO, name: str, *, first: int = 1, begun: bytes = b"") -> Iterator[bytes]:
    """The lines of `content`, their ends included. TextError for one that is too long, naming it.

    `first`: the number of the first line. `begun`: what was read of that line already, maybe all of it.
    """
    limit = max_line_bytes()
    rest = iter(partial(content.readline, limit + 1), b"")
    if begun and not begun.endswith(b"\n"):
        begun += content.readline(max(limit - len(begun), 0) + 1)
    for number, line in enumerate(itertools.chain([begun] if begun else [], rest), start=first):
        if len(line) > limit and not line.endswith(b"\n"):
            raise line_too_long(name, number)
        yield line


def line_too_long(name: str, number: int) -> TextError:
    """What to raise for a line of more bytes than `max_line_bytes`."""
    return TextError(
        f"{name}:{number}: the line has more than {max_line_bytes():,} bytes, the limit for a line. If that is how the "
        f"text is meant, set {LIMITS_VARIABLE}=1; otherwise put each sentence on its own line."
    )


def byte_lines(
    path: Path | str, *, on_bytes: Callable[[int], object] | None = None, require_content: bool = False
) -> Iterator[bytes]:
    """The lines with their ends, in constant memory.

    `on_bytes`: called now and then with the bytes of the file (as it lies on the disk) read since the last call.
    `require_content`: whether a file without a single line is an error.
    """
    number = 0
    try:
        with opened(path) as (raw, content):
            seen = 0
            on_bytes = on_bytes if raw.seekable() else None
            for number, line in enumerate(limited_lines(content, text_name(path)), start=1):  # noqa: B007 (the last number is used below)
                yield line
                if on_bytes and number % _LINES_BETWEEN_LOOKS == 0:
                    on_bytes(raw.tell() - seen)
                    seen = raw.tell()
            if on_bytes:
                on_bytes(raw.tell() - seen)
    except DAMAGED as error:
        raise unreadable(path, number, error) from None
    if require_content and number == 0:
        raise TextError(f"{text_name(path)} is empty: it has no line to read. Check the step that should have made it.")


def utf8_lines(path: Path | str) -> Iterator[str]:
    """The lines of a table or treebank, which is UTF-8 by its format; without their ends (LF or CRLF) and without a
    byte order mark."""
    check_is_text_file(path)
    return decoded(byte_lines(path), text_name(path), "utf-8", None, remedy="convert")
