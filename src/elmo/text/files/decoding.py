"""Decoding: bytes -> lines of text, each bad one named by its number.

Only a line feed ends a line: U+2028, form feeds and the like are whitespace inside it, so that line numbers agree with
what `wc -l`, editors and the embeddings' row numbers say.
"""

from collections.abc import Callable, Iterable, Iterator

from elmo.errors import ConfigError, TextError

BadLine = Callable[[int, str], None]

_BOM = b"\xef\xbb\xbf"

# What a file really is when its first bytes aren't text -> the next step.
_KNOWN_STARTS = {
    b"\xff\xfe": "it looks like UTF-16. Convert it first: iconv -f UTF-16 -t UTF-8 OLD > NEW",
    b"\xfe\xff": "it looks like UTF-16. Convert it first: iconv -f UTF-16 -t UTF-8 OLD > NEW",
    b"\x1f\x8b": "it looks like gzip data. Give its name the ending .gz",
    b"\xfd7zXZ": "it looks like xz data. Give its name the ending .xz",
    b"BZh": "it looks like bzip2 data. Give its name the ending .bz2",
    b"\x28\xb5\x2f\xfd": "it looks like Zstandard data. Give its name the ending .zst",
    b"PK\x03\x04": "it looks like a zip archive. Unpack it first: unzip FILE",
}


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
            f"Convert the text first: iconv -f {encoding} -t UTF-8 OLD > NEW"
        )
    # The mark at the start of the file is removed here for both, and only there.
    return "utf-8" if encoding.lower().replace("_", "-") in ("utf8", "utf-8", "utf-8-sig") else encoding


def decoded(
    lines: Iterable[bytes],
    name: str,
    encoding: str,
    on_bad_line: BadLine | None,
    first: int = 1,
    instead: str = "",
    advice: str = "",
) -> Iterator[str]:
    """Each line's text without its end; `instead` of a bad one, if there is someone to tell, else TextError.

    `first`: the number of the first of `lines` in the file; line 1 may begin with a byte order mark. `advice`: the
    message's next step (empty: another encoding, or to skip such lines).
    """
    for number, line in enumerate(lines, start=first):
        if number == 1:
            _require_no_pdf(line, name)
        if number == 1 and encoding == "utf-8":
            line = line.removeprefix(_BOM)
        try:
            text = line.decode(encoding)
        except UnicodeDecodeError as error:
            message = _undecodable(name, number, line, encoding, error, advice)
            if on_bad_line is None:
                raise TextError(message) from None
            on_bad_line(number, message)
            text = instead
        yield text.removesuffix("\n").removesuffix("\r")


def decoded_block(
    block: bytes, name: str, encoding: str, on_bad_line: BadLine | None, first: int = 1, instead: str = ""
) -> Iterable[str]:
    """As `decoded`, of whole lines in one piece: all at once if none is bad."""
    if first == 1:
        _require_no_pdf(block, name)
    if first == 1 and encoding == "utf-8":
        if block == _BOM:  # a line with nothing else in it
            return [""]
        block = block.removeprefix(_BOM)
    try:
        lines = block.decode(encoding).split("\n")
    except UnicodeDecodeError:
        # The lines that are bad get numbers of their own.
        return decoded(_split(block), name, encoding, on_bad_line, first, instead)
    if lines[-1] == "":
        del lines[-1]
    return (line.removesuffix("\r") for line in lines) if b"\r" in block else lines


def _split(block: bytes) -> list[bytes]:
    lines = block.split(b"\n")
    return lines[:-1] if lines[-1] == b"" else lines


def _require_no_pdf(start: bytes, name: str) -> None:
    """TextError for a PDF, part of which decodes: its commands would be taken for words."""
    if start.startswith(b"%PDF-"):
        raise TextError(f"{name}: is a PDF, not a text. Extract its text first: pdftotext {name} TEXT")


def _is_korean(line: bytes) -> bool:
    """Whether it is a line of Korean in CP949, of which EUC-KR is a part; text in latin-1 hardly ever decodes so."""
    try:
        text = line.decode("cp949")
    except UnicodeDecodeError:
        return False
    return sum("가" <= character <= "힣" for character in text) >= 2


def _undecodable(name: str, number: int, line: bytes, encoding: str, error: UnicodeDecodeError, advice: str) -> str:
    """Columns count bytes, from 1."""
    what = f"{name}:{number}: not valid {encoding.upper()} (byte 0x{line[error.start]:02X} at column {error.start + 1})"
    if number == 1:
        for start, known in _KNOWN_STARTS.items():
            if line.startswith(start):
                return f"{what}: {known}."
    if encoding == "utf-8" and not advice and _is_korean(line):
        return f"{what}: it looks like Korean in CP949, as Excel saves it. Use --encoding cp949."
    guess = "--encoding latin-1" if encoding == "utf-8" else "--encoding with the one the file is written in"
    return f"{what}. {advice or f'Use {guess}, or --errors skip to list and skip such lines.'}"
