"""Text files as bytes: plain, packed or standard input, and what their names say about them."""

import bz2
import contextlib
import gzip
import io
import lzma
import pkgutil
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, BinaryIO, Literal, get_args

from elmo.errors import ConfigError, MissingExtraError, TextError

Format = Literal["text", "jsonl", "conllu"]
FormatChoice = Literal["auto", "text", "jsonl", "conllu"]

STDIN = "-"

_FORMAT_OF_SUFFIX: dict[str, Format] = {".jsonl": "jsonl", ".ndjson": "jsonl", ".conllu": "conllu"}


def text_name(path: Path | str) -> str:
    """How messages call `path`."""
    return "stdin" if str(path) == STDIN else str(path)


def check_is_text_file(path: Path | str) -> None:
    """Raises TextError if `path` is neither "-" nor a file."""
    if str(path) == STDIN:
        return
    if Path(path).is_dir():
        raise TextError(f"{path} is a folder, but a text file is needed. Name the files in it, for instance {path}/*")
    if not Path(path).exists():
        raise TextError(f"{path}: there is no such file. Paths count from {Path.cwd()}; check the spelling.")


def is_packed(path: Path | str) -> bool:
    """Whether `path` is unpacked while it is read."""
    return Path(path).suffix.lower() in _OPENERS


def format_of(path: Path | str, choice: FormatChoice = "auto") -> Format:
    """`choice`, or what the ending says: .jsonl and .ndjson, .conllu (also packed: .jsonl.gz); all else is text."""
    if choice not in get_args(FormatChoice):
        raise ConfigError(f"format is {choice!r}, but a text is one of: {', '.join(get_args(FormatChoice))}.")
    if choice != "auto":
        return choice
    name = Path(path).with_suffix("") if is_packed(path) else Path(path)
    return _FORMAT_OF_SUFFIX.get(name.suffix.lower(), "text")


@contextlib.contextmanager
def opened(path: Path | str) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """The file as it lies on the disk, and its unpacked content. "-" is standard input.

    Raises MissingExtraError for .zst where nothing can unpack it.
    """
    if str(path) == STDIN:
        yield sys.stdin.buffer, sys.stdin.buffer
        return
    unpack = _OPENERS.get(Path(path).suffix.lower(), contextlib.nullcontext)
    with Path(path).open("rb") as raw:
        content: AbstractContextManager[BinaryIO] = unpack(raw)
        with content as unpacked:
            yield raw, unpacked


def unreadable(path: Path | str, lines_read: int, error: Exception) -> TextError:
    """What to raise for an error of `DAMAGED`."""
    cut_off = isinstance(error, EOFError) or "Truncated" in str(error)
    cause = "it is cut off" if cut_off else str(error)
    step = "Copy or download it again" if is_packed(path) else "Check the file, its permissions and its disk"
    return TextError(f"{text_name(path)}: can't be read beyond line {lines_read}: {cause}. {step}.")


def _open_zstd(raw: BinaryIO) -> Any:
    """Python has a module for Zstandard from 3.14 on; before, pyarrow can unpack it."""
    # By name, since neither is a library this room needs.
    with contextlib.suppress(ImportError):
        return pkgutil.resolve_name("compression.zstd:open")(raw)
    try:
        unpacking = pkgutil.resolve_name("pyarrow:CompressedInputStream")
    except ImportError:
        raise MissingExtraError("pyarrow", "data", "unpacking .zst before Python 3.14") from None
    return io.BufferedReader(unpacking(raw, "zstd"))


_OPENERS: dict[str, Callable[[BinaryIO], Any]] = {
    ".gz": gzip.open,
    ".xz": lzma.open,
    ".bz2": bz2.open,
    ".zst": _open_zstd,
}

DAMAGED = (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error, OSError)
