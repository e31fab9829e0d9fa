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
from elmo.text.files.binary import require_text

BadLine = Callable[[int, str], None]
Remedy = Literal["encode or skip", "encode", "convert"]
"""What helps against a line that can't be decoded: to name the encoding; to skip the line, except in labelled data;
only to convert the file, where its format says UTF-8."""

WRONG = "\udc00"
"""Half of a surrogate pair, which no line has that could be decoded."""

_MARK = "\ufeff"  # of the byte order
_BOM = _MARK.encode()
_LEAST_SHARE_OF_SYLLABLES = 0.9
_ANY = "latin-1, or what the file is in (cp1252, cp1251, cp949, shift_jis, gb18030, ...)"
_OR_SKIP = ", or --errors skip to list and skip such lines."
_ALL_LINES = ". No line of labelled data may be left out."


def checked_encoding(encoding: str) -> str:
    """The name to decode with; ConfigError if there is none such, or its lines don't end with the byte 0x0A."""
    try:
        splits_at_newline = b"a\n".decode(encoding) == "a\n"
    except UnicodeError:
        splits_at_newline = False
    except (LookupError, ValueError):  # ValueError: a NUL in the name
        raise ConfigError(
            f"encoding is {encoding!r}, which is not a text encoding that Python knows. Use, for instance, utf-8 or "
            "latin-1."
        ) from None
    if not splits_at_newline:
        raise ConfigError(
            f"encoding is {encoding!r}, in which lines don't end with the byte 0x0A, so they can't be told apart. "
            "Leave it out for UTF-16 with its byte order mark, which is recognized; convert any other text first: "
            f"iconv -f {encoding} -t UTF-8 OLD > NEW"
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
        if number == 1:
            require_text(line, name)
            _check_mark(line, name, encoding)
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
    if first == 1:
        require_text(block.partition(b"\n")[0], name)
        _check_mark(block, name, encoding)
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


def _check_mark(start: bytes, name: str, encoding: str) -> None:
    """TextError if a byte order mark at the beginning of a file says another encoding."""
    if start.startswith(_BOM) and encoding != "utf-8" and _is_utf8(start.partition(b"\n")[0]):
        raise TextError(
            f"{name}:1: begins with a byte order mark of Unicode, but is to be read as {encoding}, in which that is "
            "other letters. Leave --encoding out."
        )


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _inner_return(name: str, number: int, text: str, remedy: Remedy) -> str:
    return (
        f"{name}:{number}: has a carriage return (CR) at column {text.index(chr(13)) + 1} with no line feed after it, "
        "as lines of old Macintosh files end. Convert the file: tr '\\r' '\\n' < OLD > NEW"
        + ("." if remedy != "encode or skip" else _OR_SKIP)
    )


def _undecodable(name: str, number: int, line: bytes, encoding: str, error: UnicodeDecodeError, remedy: Remedy) -> str:
    """Columns count bytes, from 1."""
    what = f"{name}:{number}: not valid {encoding.upper()} (byte 0x{line[error.start]:02X} at column {error.start + 1})"
    if encoding != "utf-8":
        return f"{what}. {_reencoded('with the one the file is written in', remedy)}"
    if _is_korean(line):
        return f"{what}: it looks like Korean in CP949, as Excel saves it. {_reencoded('cp949', remedy)}"
    return f"{what}. {_reencoded(_ANY, remedy)}"


def _reencoded(encoding: str, remedy: Remedy) -> str:
    if remedy == "convert":
        name = "ENCODING" if " " in encoding else encoding
        given = " (ENCODING is shift_jis, gb18030, cp1251, ...)" if name == "ENCODING" else ""
        return f"Convert the file: iconv -f {name} -t UTF-8 OLD > NEW{given}."
    return f"Use --encoding {encoding}" + (_OR_SKIP if remedy == "encode or skip" else _ALL_LINES)


def _is_korean(line: bytes) -> bool:
    """Whether it is a line of Korean in CP949, of which EUC-KR is a part; text in latin-1 hardly ever decodes so.

    Chinese and Japanese do, but much of it as Hanja, jamo and syllables that EUC-KR doesn't have.
    """
    try:
        letters = [it for it in line.decode("cp949") if it.isalpha() and not it.isascii()]
    except UnicodeDecodeError:
        return False
    common = sum("가" <= it <= "힣" and len(it.encode("euc_kr")) == 2 for it in letters)
    return common >= max(2, _LEAST_SHARE_OF_SYLLABLES * len(letters))
