"""Decoding: bytes -> lines of text, each bad one named by its number.

Only a line feed ends a line, with or without carriage returns before it: U+2028, form feeds and the like are whitespace
inside it, so that line numbers agree with what `wc -l`, editors and the embeddings' row numbers say. A carriage return
inside a line is the line end of another system, or a damaged file: such a line is a bad one.
"""

import codecs
import io
from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from elmo.errors import ConfigError, TextError

BadLine = Callable[[int, str], None]
Remedy = Literal["encode or skip", "encode", "convert"]
"""What helps against a line that can't be decoded: to name the encoding; to skip the line, except in labelled data;
only to convert the file, where its format says UTF-8."""

WRONG = "\udc00"
"""Half of a surrogate pair, which no line has that could be decoded."""

_MARK = "\ufeff"  # of the byte order
_BOM = _MARK.encode()
# Their beginnings may have no other bytes than those of text.
_DOCUMENTS = (b"%PDF-", b"{\\rtf")
_LOOKED_AT = 4096
# Bytes that no text has in numbers: all control characters but tab, line ends, form feed and escape.
_CONTROLS = bytes([*range(9), *range(14, 27), *range(28, 32)])
_MOST_CONTROLS = 8
_LARGEST_SHARE = 0.02
_ANY = "with what the file is in (cp949 for Korean, cp1252, cp1251, shift_jis, gb18030, latin-1, ...)"
_OR_SKIP = ", or --errors skip to list and skip such lines."
_ALL_LINES = ". No line of labelled data may be left out."


def require_text(start: bytes, name: str) -> None:
    """TextError if a file that begins with these bytes, its first lines, isn't text in any encoding."""
    start = start[:_LOOKED_AT]
    num_controls = len(start) - len(start.translate(None, _CONTROLS))
    # A number of eight bytes, as .safetensors begins with, has zeros in it.
    begins_with_number = start[:8].count(0) > _MOST_CONTROLS // 2
    is_binary = num_controls >= max(_MOST_CONTROLS, _LARGEST_SHARE * len(start)) or begins_with_number
    if is_binary or start.startswith(_DOCUMENTS):
        raise TextError(
            f"{name}:1: is not text: a document, an archive, a binary file, or UTF-16 without its mark. Extract its "
            "text, give a packed file its ending (.gz, .xz, .bz2, .zst, .parquet), or use iconv -f UTF-16LE."
        )


def checked_encoding(encoding: str) -> str:
    """The name to decode with; ConfigError if there is none such, or its lines don't end with the byte 0x0A."""
    try:
        splits_at_newline = b"a\n".decode(encoding) == "a\n"
    except (LookupError, ValueError):
        splits_at_newline = False
    if not splits_at_newline:
        raise ConfigError(
            f"encoding is {encoding!r}, which Python doesn't know, or in which lines don't end with the byte 0x0A. "
            "Use, for instance, utf-8 or cp949; UTF-16 with its byte order mark needs none."
        )
    # The mark at the start of the file is removed here for both, and only there.
    return "utf-8" if codecs.lookup(encoding).name in ("utf-8", "utf-8-sig") else encoding


def report(on_bad_line: BadLine | None, number: int, message: str) -> None:
    """Reports a bad line; TextError if there is nobody to report it to."""
    if on_bad_line is None:
        raise TextError(message)
    on_bad_line(number, message)


def decoded(
    lines: Iterable[bytes],
    name: str,
    encoding: str,
    on_bad_line: BadLine | None,
    first: int = 1,
    instead: str | None = "",
    remedy: Remedy = "encode or skip",
) -> Iterator[str]:
    """Each line's text without its end; `instead` of a bad one, if there is someone to tell, else TextError.

    `instead`: None: the line itself, with `WRONG` where it is wrong. `first`: the number of the first of `lines` in the
    file. A byte order mark at the beginning of a line is left out: files that were joined keep theirs. `remedy`: the
    message's next step.
    """
    for number, line in enumerate(lines, start=first):
        if encoding == "utf-8":
            line = line.removeprefix(_BOM)
        text, message = "", None
        try:
            text = line.decode(encoding).removesuffix("\n").rstrip("\r")
            if "\r" in text:
                message = _inner_return(name, number, text, remedy)
        except UnicodeDecodeError as error:
            message = _undecodable(name, number, line, encoding, error, remedy)
        if message is None:
            yield text
            continue
        report(on_bad_line, number, message)
        yield _marked(line, encoding) if instead is None else instead


def decoded_block(
    block: bytes, name: str, encoding: str, on_bad_line: BadLine | None, first: int = 1, instead: str | None = ""
) -> Iterable[str]:
    """As `decoded`, of whole lines in one piece: all at once if none is bad."""
    try:
        lines = block.decode(encoding).split("\n")
    except UnicodeDecodeError:
        # The lines that are bad get numbers of their own.
        return decoded(io.BytesIO(block), name, encoding, on_bad_line, first, instead)
    if lines[-1] == "":
        del lines[-1]
    if encoding == "utf-8" and _BOM in block:
        lines = [line.removeprefix(_MARK) for line in lines]
    if b"\r" in block:
        lines = [line.rstrip("\r") for line in lines]
        if any("\r" in line for line in lines):
            return decoded(io.BytesIO(block), name, encoding, on_bad_line, first, instead)
    return lines


def _marked(line: bytes, encoding: str) -> str:
    """The line's text with `WRONG` for each byte or carriage return that is not text."""
    text = line.decode(encoding, "replace").removesuffix("\n").rstrip("\r")
    return text.replace("\ufffd", WRONG).replace("\r", WRONG)


def _inner_return(name: str, number: int, text: str, remedy: Remedy) -> str:
    return (
        f"{name}:{number}: has a carriage return (CR) at column {text.index(chr(13)) + 1} with no line feed after it, "
        "as lines of old Macintosh files end. Convert the file: tr '\\r' '\\n' < OLD > NEW"
        + (_OR_SKIP if remedy == "encode or skip" else ".")
    )


def _undecodable(name: str, number: int, line: bytes, encoding: str, error: UnicodeDecodeError, remedy: Remedy) -> str:
    """Columns count bytes, from 1."""
    what = f"{name}:{number}: not valid {encoding.upper()} (byte 0x{line[error.start]:02X} at column {error.start + 1})"
    if remedy == "convert":
        return f"{what}. Convert the file: iconv -f ENCODING -t UTF-8 OLD > NEW (ENCODING is cp949, cp1251, ...)."
    return f"{what}. Use --encoding {_ANY}" + (_OR_SKIP if remedy == "encode or skip" else _ALL_LINES)
