"""Unpacking: files whose text has to be taken out of them -> streams of it in UTF-8, or as it was written."""

import bz2
import codecs
import gzip
import io
import json
import lzma
import pkgutil
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, BinaryIO

from elmo.process.extra_library import extra_library

PARQUET = ".parquet"
_ROWS_AT_ONCE = 1024
_BLOCK_BYTES = 1 << 16

# By name, since older versions of Python don't have it.
try:
    _zstd: Any = pkgutil.resolve_name("compression.zstd:")
except ImportError:
    _zstd = None


def _open_zstd(raw: BinaryIO) -> Any:
    """Python has a module for Zstandard from 3.14 on; before, pyarrow can unpack it."""
    if _zstd is not None:
        return _open_streams(_zstd.ZstdDecompressor, raw)
    pyarrow = extra_library("pyarrow", "data", "unpacking .zst before Python 3.14")
    return io.BufferedReader(pyarrow.CompressedInputStream(raw, "zstd"))


def _open_streams(make: Callable[[], Any], raw: BinaryIO) -> BinaryIO:
    return io.BufferedReader(Joined(_unpacked(raw, make)))


def _unpacked(raw: BinaryIO, make: Callable[[], Any]) -> Iterator[bytes]:
    """The content of streams that lie end to end, maybe with zeros behind them, in blocks. `make`: what unpacks one.

    The own readers of bz2 and lzma end without an error where a later stream's beginning is damaged.
    """
    rest = raw.read(io.DEFAULT_BUFFER_SIZE)
    while True:
        stream = make()
        while not stream.eof:
            given = b""
            if stream.needs_input:
                given, rest = rest or raw.read(io.DEFAULT_BUFFER_SIZE), b""
                if not given:
                    raise EOFError("the file ends inside of a stream")
            if block := stream.decompress(given, _BLOCK_BYTES):
                yield block
        rest = stream.unused_data.lstrip(b"\0")
        while not rest and (more := raw.read(io.DEFAULT_BUFFER_SIZE)):
            rest = more.lstrip(b"\0")
        if not rest:
            return


OPENERS: dict[str, Callable[[BinaryIO], Any]] = {
    ".gz": gzip.open,
    ".tgz": gzip.open,
    ".xz": partial(_open_streams, lzma.LZMADecompressor),
    ".bz2": partial(_open_streams, bz2.BZ2Decompressor),
    ".zst": _open_zstd,
}
"""Ending -> what unpacks such a file."""
DAMAGED: tuple[type[Exception], ...] = (EOFError, lzma.LZMAError, zlib.error, OSError)
"""What reading a damaged file raises."""
if _zstd is not None:
    DAMAGED += (_zstd.ZstdError,)


def open_parquet(raw: BinaryIO) -> BinaryIO:
    """The rows of a Parquet file as JSON lines: their columns of texts and of lists of texts; others as their type.

    Raises MissingExtraError without pyarrow, OSError for what isn't Parquet.
    """
    purpose = "reading texts from Parquet"
    parquet, types = (extra_library(f"pyarrow.{name}", "data", purpose) for name in ("parquet", "types"))

    def is_text(kind: Any) -> bool:
        if types.is_dictionary(kind) or types.is_list(kind) or types.is_large_list(kind):
            return is_text(kind.value_type)
        is_known = (types.is_string, types.is_large_string, types.is_string_view, types.is_null)
        return any(is_it(kind) for is_it in is_known)

    def rows() -> Iterator[bytes]:
        try:
            file = parquet.ParquetFile(raw)
            columns = [column.name for column in file.schema_arrow if is_text(column.type)]
            others = {it.name: {"type": str(it.type)} for it in file.schema_arrow if it.name not in columns}
            for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE, columns=columns):
                for row in batch.to_pylist():
                    yield (json.dumps(row | others, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass")
        except ValueError as error:  # pyarrow's own errors are of this kind
            raise OSError(f"it isn't a Parquet file, or damaged ({error})") from None

    return io.BufferedReader(Joined(rows()))


def as_utf8(content: BinaryIO) -> BinaryIO:
    """Text that begins with the byte order mark of UTF-16, as Excel and Notepad write it, in UTF-8 with its mark; other
    content as it is.

    What isn't valid UTF-16 is an OSError where it stands.
    """
    peek = getattr(content, "peek", None)
    start = b"" if peek is None else peek(len(codecs.BOM_UTF32_LE))
    if not start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or start.startswith(codecs.BOM_UTF32_LE):
        return content

    def blocks() -> Iterator[bytes]:
        try:
            read = iter(partial(content.read, io.DEFAULT_BUFFER_SIZE), b"")
            yield from codecs.iterencode(codecs.iterdecode(read, "utf-16"), "utf-8-sig")
        except UnicodeDecodeError as error:
            raise OSError(f"it is damaged UTF-16 ({error.reason})") from None

    return io.BufferedReader(Joined(blocks()))


class Joined(io.RawIOBase):
    """Blocks of bytes as a stream."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._held = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._held = self._held or next(self._blocks, b"")
        count = min(len(buffer), len(self._held))
        buffer[:count], self._held = self._held[:count], self._held[count:]
        return count
