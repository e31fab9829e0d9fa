"""The rows of a file of static vectors, one after another; errors name the line or byte."""

import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from elmo.errors import TextError
from elmo.shapes import Float, Float32

BadRow = Callable[[str], None]

_LEAVE_OUT = "leave such rows out with --static-errors skip (Python: errors='skip')"
# A longer "word" means a damaged file or a wrong dimension.
_MAX_WORD_BYTES = 1 << 16


@dataclass(frozen=True)
class Header:
    """The first line of word2vec's and fastText's files."""

    count: int
    dim: int

    @classmethod
    def parse(cls, line: bytes) -> "Header | None":
        """None if `line` isn't two whole numbers, the second above 0."""
        parts = line.removeprefix(b"\xef\xbb\xbf").split()
        if len(parts) != 2 or not all(part.isdigit() and len(part) < 16 for part in parts) or int(parts[1]) == 0:
            return None
        return cls(int(parts[0]), int(parts[1]))


@dataclass(frozen=True)
class Row:
    """A word that is wanted."""

    word: str
    """In NFC"""
    vector: Float32[np.ndarray, " dim"]
    """All finite"""
    place: str
    """FILE:LINE, or FILE: byte N"""


class _BadRow(Exception):
    """What is wrong with a row."""


def text_rows(
    path: str,
    lines: Iterator[bytes],
    header: Header | None,
    dim: int,
    wanted: set[str] | None,
    max_words: int | None,
    on_bad_row: BadRow | None,
) -> Iterator[Row]:
    """Rows of text. `lines`: all but the header; `wanted`: in NFC."""
    lines_before = number = 1 if header else 0
    # A line whose first part begins no wanted word needn't be split into its numbers.
    beginnings = None if wanted is None else {word.split(" ")[0].encode("utf-8", "surrogatepass") for word in wanted}
    seen = 0
    for number, line in enumerate(lines, start=lines_before + 1):
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if not line.strip():
            continue
        seen += 1
        is_first = max_words is not None and seen <= max_words
        if wanted is None and max_words is not None and not is_first:
            return
        if b"\t" in line:
            line = line.replace(b"\t", b" ")
        if beginnings is not None and not is_first and _composed(line[: line.find(b" ")]) not in beginnings:
            continue
        try:
            word, vector = _parsed(line, dim)
        except _BadRow as error:
            _report(f"{path}:{number}", error, on_bad_row)
            continue
        if wanted is None or is_first or word in wanted:
            yield Row(word, vector, f"{path}:{number}")
    if header and seen < header.count:
        raise _wrong_count(path, f"{path}:{number}", header, str(seen))


def binary_rows(
    path: str,
    first: bytes,
    rest: Iterator[bytes],
    header: Header,
    offset: int,
    wanted: set[str] | None,
    max_words: int | None,
    on_bad_row: BadRow | None,
) -> Iterator[Row]:
    """Rows of word2vec's binary layout. `first`: their first bytes, which are at `offset` in the file; `rest`: blocks
    of all others; `wanted`: in NFC."""
    names = None if wanted is None else {word.encode("utf-8", "surrogatepass") for word in wanted}
    reader = _Bytes(first, rest, offset)
    count = header.count if wanted is not None or max_words is None else min(header.count, max_words)
    for number in range(1, count + 1):
        reader.skip(b"\n")
        place = f"{path}: byte {reader.offset}"
        name = reader.word()
        vector = None if name is None else reader.take(4 * header.dim)
        if name is None or vector is None:
            raise _wrong_count(path, place, header, str(number - 1))
        is_first = max_words is not None and number <= max_words
        if names is not None and not is_first and _composed(name) not in names:
            continue
        try:
            yield Row(_decoded(name), _finite(np.frombuffer(vector, dtype="<f4"), name), place)
        except _BadRow as error:
            _report(place, error, on_bad_row)
    if count == header.count:
        reader.skip(b"\n")
        if not reader.at_end:
            raise _wrong_count(path, f"{path}: byte {reader.offset}", header, f"more than {header.count}")


class _Bytes:
    def __init__(self, first: bytes, rest: Iterator[bytes], offset: int) -> None:
        self._buffer = first
        self._rest = rest
        self._at = 0
        self._begin = offset

    @property
    def offset(self) -> int:
        """In the unpacked file."""
        return self._begin + self._at

    @property
    def at_end(self) -> bool:
        return not self._has(1)

    def skip(self, byte: bytes) -> None:
        """Skips one `byte`, if it is next."""
        if self._has(1) and self._buffer[self._at : self._at + 1] == byte:
            self._at += 1

    def word(self) -> bytes | None:
        """The bytes before the next space; None if there is none soon enough."""
        end = self._buffer.find(b" ", self._at)
        if end < 0:
            self._has(_MAX_WORD_BYTES)
            end = self._buffer.find(b" ", self._at, self._at + _MAX_WORD_BYTES)
            if end < 0:
                return None
        word, self._at = self._buffer[self._at : end], end + 1
        return word

    def take(self, count: int) -> bytes | None:
        """The next `count` bytes; None if the file ends before."""
        if not self._has(count):
            return None
        taken, self._at = self._buffer[self._at : self._at + count], self._at + count
        return taken

    def _has(self, count: int) -> bool:
        held = len(self._buffer) - self._at
        if held >= count:
            return True
        blocks = [self._buffer[self._at :]]
        while held < count and (more := next(self._rest, b"")):
            blocks.append(more)
            held += len(more)
        self._begin += self._at
        self._buffer, self._at = b"".join(blocks), 0
        return held >= count


def dim_of(line: bytes, path: str) -> int:
    """How many numbers the first row of a file without a header has."""
    stripped = _stripped(line).replace(b"\t", b" ")
    _, *numbers = stripped.split(b" ")
    if not numbers or not _is_number(numbers[-1]):
        raise TextError(
            f"{path}:1: the line is {line[:40]!r}, but a file of static vectors begins with a word and its numbers, or "
            "two counts, between single spaces. Check that it is such a file."
        )
    return len(numbers)


def _stripped(line: bytes) -> bytes:
    """Without the line's end and the space that word2vec and fastText put before it."""
    return line.rstrip(b"\r\n").removesuffix(b" ")


def _parsed(line: bytes, dim: int) -> tuple[str, Float32[np.ndarray, " dim"]]:
    # From the right, since words of glove.840B and of fastText have spaces in them, or are one.
    stripped = _stripped(line)
    name, *numbers = stripped.rsplit(b" ", dim)
    # But what ends in a number is a row with too many of them, not a word.
    if len(numbers) != dim or not name or (b" " in name and _is_number(name.split(b" ")[-1])):
        raise _BadRow(f"the row has {stripped.count(b' ')} fields after its word, but {dim} are expected")
    try:
        values = np.array(list(map(float, numbers)))
    except ValueError as error:
        raise _BadRow(f"the row of {_decoded(name[:40])!r} has what is no number: {str(error)[:80]}") from None
    return _decoded(name), _finite(values, name)


def _is_number(text: bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _composed(name: bytes) -> bytes:
    """In NFC, without a word about what isn't UTF-8: a row that isn't wanted may be as it is."""
    if name.isascii():
        return name
    return unicodedata.normalize("NFC", name.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _decoded(name: bytes) -> str:
    return unicodedata.normalize("NFC", name.decode("utf-8", "replace"))


def _finite(values: Float[np.ndarray, " dim"], name: bytes) -> Float32[np.ndarray, " dim"]:
    with np.errstate(over="ignore"):
        vector = values.astype(np.float32)
    if not np.isfinite(vector).all():
        place = int(np.flatnonzero(~np.isfinite(vector))[0])
        raise _BadRow(f"number {place + 1} of the row of {_decoded(name[:40])!r} is {values[place]}, not finite")
    return vector


def _report(place: str, error: _BadRow, on_bad_row: BadRow | None) -> None:
    message = f"{place}: {error}. Fix it, download or make the file again, or {_LEAVE_OUT}."
    if on_bad_row is None:
        raise TextError(message)
    on_bad_row(message)


def _wrong_count(path: str, place: str, header: Header, found: str) -> TextError:
    return TextError(
        f"{place}: the first line promises {header.count} words of dimension {header.dim}, but there are {found}. "
        "The file is cut off or was put together from several. Download it again, or correct the first line."
    )
