"""Sentences: a text file -> an iterator of tokenized sentences, one a line.

Only a line feed ends a line: U+2028, form feeds and the like are whitespace inside a sentence, so that line numbers
agree with what `wc -l`, editors and the embeddings' row numbers say.
"""

import bz2
import contextlib
import gzip
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, Literal, get_args

from elmo.errors import ConfigError, TextError

Tokenize = Callable[[str], list[str]]
BadLine = Callable[[int, str], None]
OnBadText = Literal["strict", "skip"]

STDIN = "-"
_BOM = b"\xef\xbb\xbf"
_OPENERS: dict[str, Callable[[BinaryIO], BinaryIO]] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
_DAMAGED = (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error, OSError)
_PROGRESS_EVERY = 4096

# What a file really is when its first bytes aren't text -> the next step.
_KNOWN_STARTS = {
    b"\xff\xfe": "it looks like UTF-16. Convert it first: iconv -f UTF-16 -t UTF-8 OLD > NEW",
    b"\xfe\xff": "it looks like UTF-16. Convert it first: iconv -f UTF-16 -t UTF-8 OLD > NEW",
    b"\x1f\x8b": "it looks like gzip data. Give its name the ending .gz",
    b"\xfd7zXZ": "it looks like xz data. Give its name the ending .xz",
    b"BZh": "it looks like bzip2 data. Give its name the ending .bz2",
    b"\x28\xb5\x2f\xfd": "it looks like Zstandard data. Unpack it first: unzstd FILE",
    b"PK\x03\x04": "it looks like a zip archive. Unpack it first: unzip FILE",
}


def read_sentences(
    path: Path | str,
    *,
    encoding: str = "utf-8",
    errors: OnBadText = "strict",
    tokenize: Tokenize = str.split,
    on_bad_line: BadLine | None = None,
    require_content: bool = False,
    on_progress: Callable[[int], None] | None = None,
) -> Iterator[list[str]]:
    """The sentences of `path`, one a line, in constant memory; a blank line is `[]`.

    `path`: plain text, or packed when it ends in .gz, .xz or .bz2; "-" is standard input (plain text).
    `errors`: what to do with a line that can't be decoded. "strict" raises; "skip" yields `[]`, so that line numbers
    stay true, and calls `on_bad_line(line number from 1, message)`.
    `require_content`: whether a file without a single line is an error.
    `on_progress`: called now and then with the bytes of the file (as it lies on the disk) read since the last call.
    Raises TextError if the file is missing, a folder, damaged, or not in `encoding`; ConfigError for an encoding that
    doesn't exist or doesn't end lines with the byte 0x0A.
    """
    if errors not in get_args(OnBadText):
        raise ConfigError(f"errors is {errors!r}, but bad lines can only be met in these ways: strict, skip.")
    codec = _checked_encoding(encoding)
    check_is_text_file(path)
    bad_line = None if errors == "strict" else (on_bad_line or _ignore)
    lines = _lines(path, on_progress, require_content)
    return (tokenize(text) for text in _decoded(lines, text_name(path), codec, bad_line))


def text_name(path: Path | str) -> str:
    """How messages call `path`."""
    return "stdin" if str(path) == STDIN else str(path)


def _ignore(number: int, message: str) -> None:
    pass


def _checked_encoding(encoding: str) -> str:
    try:
        splits_at_newline = b"a\n".decode(encoding) == "a\n"
    except LookupError:
        raise ConfigError(
            f"encoding is {encoding!r}, which is no text encoding Python knows. Use for instance utf-8 or latin-1."
        ) from None
    except UnicodeError:
        splits_at_newline = False
    if not splits_at_newline:
        raise ConfigError(
            f"encoding is {encoding!r}, in which lines don't end with the byte 0x0A, so they can't be told apart. "
            f"Convert the text first: iconv -f {encoding} -t UTF-8 OLD > NEW"
        )
    # The mark at the start of the file is removed here for both, and only there.
    return "utf-8" if encoding.lower().replace("_", "-") in ("utf8", "utf-8", "utf-8-sig") else encoding


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


@contextlib.contextmanager
def _opened(path: Path | str) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """The file as it lies on the disk, and its unpacked content."""
    if str(path) == STDIN:
        yield sys.stdin.buffer, sys.stdin.buffer
        return
    unpack = _OPENERS.get(Path(path).suffix.lower(), contextlib.nullcontext)
    with Path(path).open("rb") as raw:
        content: AbstractContextManager[BinaryIO] = unpack(raw)
        with content as unpacked:
            yield raw, unpacked


def _lines(path: Path | str, on_progress: Callable[[int], None] | None, require_content: bool) -> Iterator[bytes]:
    number = 0
    try:
        with _opened(path) as (raw, content):
            seen = 0
            for number, line in enumerate(content, start=1):  # noqa: B007 (the last number is used below)
                yield line
                if on_progress and number % _PROGRESS_EVERY == 0 and str(path) != STDIN:
                    on_progress(raw.tell() - seen)
                    seen = raw.tell()
            if on_progress and str(path) != STDIN:
                on_progress(raw.tell() - seen)
    except _DAMAGED as error:
        raise TextError(_unreadable(path, number, error)) from None
    if require_content and number == 0:
        raise TextError(f"{text_name(path)} is empty: it has no line to read. Check the step that should have made it.")


def _unreadable(path: Path | str, lines_read: int, error: Exception) -> str:
    cause = "it is cut off" if isinstance(error, EOFError) else str(error)
    step = "Copy or download it again" if is_packed(path) else "Check the file, its permissions and its disk"
    return f"{text_name(path)}: can't be read beyond line {lines_read}: {cause}. {step}."


def _decoded(lines: Iterator[bytes], name: str, encoding: str, on_bad_line: BadLine | None) -> Iterator[str]:
    """Each line's text; '' for a bad one, if there is someone to tell."""
    for number, line in enumerate(lines, start=1):
        if number == 1 and encoding == "utf-8":
            line = line.removeprefix(_BOM)
        try:
            text = line.decode(encoding)
        except UnicodeDecodeError as error:
            message = _undecodable(name, number, line, encoding, error)
            if on_bad_line is None:
                raise TextError(message) from None
            on_bad_line(number, message)
            text = ""
        yield text.removesuffix("\n").removesuffix("\r")


def _undecodable(name: str, number: int, line: bytes, encoding: str, error: UnicodeDecodeError) -> str:
    """Columns count bytes, from 1."""
    what = f"{name}:{number}: not valid {encoding.upper()} (byte 0x{line[error.start]:02X} at column {error.start + 1})"
    if number == 1:
        for start, advice in _KNOWN_STARTS.items():
            if line.startswith(start):
                return f"{what}: {advice}."
    guess = "--encoding latin-1" if encoding == "utf-8" else "--encoding with the one the file is written in"
    return f"{what}. Use {guess}, or --errors skip to list and skip such lines."
