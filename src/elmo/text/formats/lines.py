"""The lines of a file: the one way to read what is made of lines, whatever they mean.

A packed file is unpacked while it is read. A line that is too long, a file that unpacks to too much (`limits`), a
damaged one and one that isn't text are each a TextError with file and line.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from elmo.errors import TextError
from elmo.text.files.decoding import decoded
from elmo.text.files.limits import limited_lines
from elmo.text.files.text_file import DAMAGED, check_is_text_file, is_packed, opened, text_name, unreadable

_LINES_BETWEEN_REPORTS = 4096


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
            lines = limited_lines(content, text_name(path), raw if is_packed(path) else None)
            for number, line in enumerate(lines, start=1):  # noqa: B007 (the last number is used below)
                yield line
                if on_bytes and number % _LINES_BETWEEN_REPORTS == 0:
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
