"""Blocks: a text file -> pieces of a few megabytes that can be read independently.

Where a file is cut depends on its content alone, so that the same text always has the same blocks.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import Literal

from elmo.text.files.lines import limited_lines, line_too_long, max_line_bytes
from elmo.text.files.text_file import opened, text_name, unreadable
from elmo.text.files.unpacking import DAMAGED, Joined

BLOCK_BYTES = 2 << 20

Border = Literal["line", "blank line", "record", "header"]
"""What a block ends with; a record is a row of a CSV file, whose quoted cells may hold line ends. "header": what comes
before one of FASTA."""

_SEPARATOR_LINE = re.compile(rb"(?:\xef\xbb\xbf)?sep=.\r?\n")
# Of CoNLL-U Plus: each names the columns of the lines after it.
_COLUMN_NAMES = re.compile(rb"^(?:\xef\xbb\xbf)?#[^\S\n]*global\.columns[^\n]*", re.MULTILINE)
_BLANK_LINE = re.compile(rb"\n[ \t\r\v\f]*(?=\n)")
# A cell in quotes, whole or cut off; a quote inside of another cell is a letter of it.
_QUOTED_CELL = re.compile(rb'(?:\A(?:\xef\xbb\xbf)?|(?<=[,;\t|\n]))"[^"]*(?:""[^"]*)*"?')
# Without a blank line for so long a block ends at a line end.
_MOST_BLOCKS = 8


@dataclass(frozen=True)
class Block:
    """Whole lines of a file."""

    name: str
    """The file, as messages call it."""
    first_line: int
    """From 1."""
    content: bytes = field(repr=False)
    header: bytes = field(default=b"", repr=False)
    """The first row of a table, or the last line that names columns of CoNLL-U Plus, of what is before the block."""

    @property
    def last_line(self) -> int:
        """The number of its last line."""
        return self.first_line + self.content.count(b"\n", 0, -1)

    @property
    def digest(self) -> str:
        """Tells whether another block has the same content."""
        return hashlib.blake2b(self.header + self.content, digest_size=16).hexdigest()


def read_blocks(
    path: Path | str,
    border: Border,
    *,
    size: int = BLOCK_BYTES,
    has_header: bool = False,
    lines_of: Callable[[Iterator[bytes]], Iterator[bytes]] | None = None,
    on_bytes: Callable[[int], object] | None = None,
) -> Iterator[Block]:
    """The blocks of a file, packed or not, each a little over `size` bytes; none if it is empty.

    `border`: what a block ends with; where no blank line or record's end comes for long it is a line end after all.
    `has_header`: whether later blocks have to know the columns' names. `lines_of`: what makes
    other lines of the file's, before they are counted.
    `on_bytes`: called with the bytes of the file (as stored on disk) or stream read since the last call.
    Raises TextError if the file is damaged or over a limit of `elmo.text.files.lines`.
    """
    line, seen, header = 1, 0, b""
    try:
        with opened(path) as (raw, content):
            if lines_of is not None:
                content = BufferedReader(Joined(lines_of(limited_lines(content, text_name(path)))))
            for piece in _pieces(iter(partial(content.read, size), b""), border, size):
                if piece is None:
                    raise line_too_long(text_name(path), line)
                yield Block(text_name(path), line, piece, header)
                if has_header and border == "blank line":
                    header = [header, *_COLUMN_NAMES.findall(piece)][-1]
                elif has_header and line == 1:
                    # Excel writes a line "sep=;" before the one that names the columns.
                    num_lines = 2 if _SEPARATOR_LINE.match(piece) else 1
                    whole = _without_quoted(piece) if border == "record" else piece
                    header = piece[: len(b"\n".join(whole.split(b"\n", num_lines)[:num_lines]))]
                line += piece.count(b"\n")
                if on_bytes is not None:
                    read = raw.tell() if raw.seekable() else seen + len(piece)
                    on_bytes(read - seen)
                    seen = read
    except DAMAGED as error:
        raise unreadable(path, line - 1, error) from None


def _pieces(blocks: Iterator[bytes], border: Border, size: int) -> Iterator[bytes | None]:
    """None if a line is too long."""
    held = bytearray()
    limit = max_line_bytes()
    for read in blocks:
        # Only what is new can have the border, but one that began before.
        start = max(0, held.rfind(b"\n"))
        held += read
        end = _last_border(held, border, start, size)
        if end:
            yield bytes(held[:end])
            del held[:end]
        elif len(held) > limit and b"\n" not in held:
            yield None
    if held:
        yield bytes(held)


def _last_border(held: bytearray, border: Border, start: int, size: int) -> int:
    """Where the part that can be given away ends; 0: nowhere yet."""
    last_line_end = held.rfind(b"\n", start) + 1
    if border == "line" or last_line_end == 0:
        return last_line_end
    if border == "header":
        end = held.rfind(b"\n>") + 1
    elif border == "record":  # with which `held` begins
        end = _without_quoted(held).rfind(b"\n") + 1
    else:
        end = max((blank.end() + 1 for blank in _BLANK_LINE.finditer(held, start)), default=0)
    return end if end or len(held) < _MOST_BLOCKS * size else last_line_end


def _without_quoted(records: bytes | bytearray) -> bytes:
    """The same with zeros in the place of quoted cells."""
    return _QUOTED_CELL.sub(lambda cell: bytes(len(cell[0])), records)
