"""What a file is whose first bytes aren't text: its kind, and how to get at its text."""

import codecs

from elmo.errors import TextError

_EXPORT = "Save its text as plain text, or its table as CSV, in the program that made it"
_NO_TEXT = "There is no text in it: name another file"
_ITS_TEXT = "Name the text that it was made from"
_WRITE = "Write its texts to a file, one per line"

# First bytes, what they begin, the next step. Sources: the formats' specifications.
_KINDS = (
    (b"%PDF-", "a PDF", "Extract its text first: pdftotext FILE TEXT"),
    (b"\xff\xfe\0\0", "text in UTF-32", "Convert it first: iconv -f UTF-32 -t UTF-8 OLD > NEW"),
    (b"\x1f\x8b", "gzip data", "Give its name the ending .gz"),
    (b"\xfd7zXZ", "xz data", "Give its name the ending .xz"),
    (b"BZh", "bzip2 data", "Give its name the ending .bz2"),
    (b"\x28\xb5\x2f\xfd", "Zstandard data", "Give its name the ending .zst"),
    (b"PAR1", "a Parquet file", "Give its name the ending .parquet and name the column of its texts with --field"),
    (b"PK\x03\x04", "a zip archive or a document (.docx, .xlsx, .odt, .hwpx)", f"Unpack it: unzip FILE. {_EXPORT}"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "Unpack it first: 7z x FILE"),
    (b"\xd0\xcf\x11\xe0", "an Office or HWP document (.doc, .xls, .hwp)", _EXPORT),
    (b"{\\rtf", "an RTF document", _EXPORT),
    (b"ARROW1", "an Arrow file", "Write it as Parquet: pandas.read_feather(FILE).to_parquet(NEW)"),
    (b"Obj\x01", "an Avro file", "Write it as Parquet or JSON lines"),
    (b"\x89HDF", "an HDF5 file, such as a file of vectors", _ITS_TEXT),
    (b"\x93NUMPY", "an array of numpy", _ITS_TEXT),
    (b"SQLite format 3", "an SQLite database", "Write its texts to a file: sqlite3 FILE 'select ...' > TEXT"),
    (b"\x7fELF", "a program", _NO_TEXT),
    (b"\x89PNG", "a PNG picture", _NO_TEXT),
    (b"\xff\xd8\xff", "a JPEG picture", _NO_TEXT),
    (b"RIFF", "sound or a film (RIFF)", _NO_TEXT),
    (b"\x80\x03", "a pickle of Python", _WRITE),
    (b"\x80\x04", "a pickle of Python", _WRITE),
    (b"\x80\x05", "a pickle of Python", _WRITE),
)
_LOOKED_AT = 4096
# Bytes that no text has in numbers: all control characters but tab, line ends, form feed and escape.
_CONTROLS = bytes([*range(9), *range(14, 27), *range(28, 32)])
_MOST_CONTROLS = 8
_LARGEST_SHARE = 0.02


def require_text(start: bytes, name: str) -> None:
    """TextError if a file that begins with these bytes, its first line or more, isn't text.

    Nothing is said of text in another encoding than thought; see `decoding`.
    """
    if start[257:262] == b"ustar":
        raise TextError(f"{name}:1: is a tar archive, not a text. Unpack it first: tar -xf FILE; then name its texts.")
    start = start[:_LOOKED_AT]
    num_controls = len(start) - len(start.translate(None, _CONTROLS))
    for beginning, kind, step in _KINDS:
        # Words too may begin with "BZh" or "RIFF", but have no control characters behind them.
        if start.startswith(beginning) and (num_controls or not beginning.isalnum()):
            raise TextError(f"{name}:1: is not text in a known encoding: it looks like {kind}. {step}.")
    # A number of eight bytes, as .safetensors begins with, has zeros in it.
    begins_with_number = start[:8].count(0) > _MOST_CONTROLS // 2
    if num_controls < max(_MOST_CONTROLS, _LARGEST_SHARE * len(start)) and not begins_with_number:
        return
    if form := _form_of_utf16(start):
        raise TextError(
            f"{name}:1: is not text in a known encoding: it looks like {form} without a byte order mark. Convert it "
            f"first: iconv -f {form} -t UTF-8 OLD > NEW."
        )
    raise TextError(
        f"{name}:1: is a binary file: {num_controls} of its first {len(start):,} bytes are control characters. Name a "
        "text, or write this file's texts to one."
    )


def _form_of_utf16(start: bytes) -> str | None:
    """The byte order in which the bytes are text with a space or line end: in the other order they have none."""
    for form in ("UTF-16LE", "UTF-16BE"):
        text = codecs.getincrementaldecoder(form)("replace").decode(start)
        wrong = sum(not letter.isprintable() or letter == "\ufffd" for letter in "".join(text.split()))
        if {" ", "\n"} & {*text} and wrong <= _LARGEST_SHARE * len(text):
            return form
    return None
