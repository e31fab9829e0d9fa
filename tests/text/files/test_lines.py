"""Whatever is made of lines is read alike: limits, damage, encodings and line ends mean the same in each reader."""

import gzip
import lzma
import re
from pathlib import Path

import pytest

from elmo.errors import TextError
from elmo.text.files.lines import utf8_lines

# Reader -> how it reads a file, and a whole file of at least two lines with a letter that isn't ASCII.
READERS = {
    "lines": (lambda path: list(utf8_lines(path)), "a\nFluß\n"),
}
readers = pytest.mark.parametrize("name", READERS)


def written(folder: Path, content: bytes, name: str = "x") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@readers
def test_windows_line_ends_and_a_byte_order_mark_change_nothing(tmp_path, name):
    read, text = READERS[name]
    plain = read(written(tmp_path, text.encode()))
    assert plain == read(written(tmp_path, text.replace("\n", "\r\n").encode("utf-8-sig")))


@readers
def test_a_byte_that_is_no_utf8_is_named_with_its_line(tmp_path, name):
    read, text = READERS[name]
    content = text.encode("latin-1")
    line = content[: content.index(b"\xdf")].count(b"\n") + 1
    what = r"not valid UTF-8 \(byte 0xDF at column \d+\)\. Convert .*iconv"
    with pytest.raises(TextError, match=rf"x:{line}: .*{what}"):
        read(written(tmp_path, content))


@readers
@pytest.mark.parametrize(("ending", "pack"), [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_a_damaged_packed_file_is_an_error_with_its_name(tmp_path, name, ending, pack):
    read, text = READERS[name]
    packed = pack(text.encode())
    with pytest.raises(TextError, match=rf"x{ending}: can't be read beyond line \d+: it is cut off\. Copy or download"):
        read(written(tmp_path, packed[: len(packed) - 9], f"x{ending}"))
    with pytest.raises(TextError, match=rf"x{ending}: can't be read beyond line 0: .*Copy or download it again"):
        read(written(tmp_path, text.encode(), f"x{ending}"))


@readers
def test_a_line_that_is_too_long_is_named(tmp_path, monkeypatch, name):
    monkeypatch.setattr("elmo.text.files.lines._LINE_BYTES", 200)
    read, text = READERS[name]
    number = text.count("\n") + 1
    with pytest.raises(TextError, match=rf"x:{number}: the line has more than 200 bytes"):
        read(written(tmp_path, text.encode() + b" " * 999))


@readers
def test_a_file_that_is_not_there_is_named(tmp_path, name):
    with pytest.raises(TextError, match=re.escape(f"{tmp_path / 'none'}: there is no such file")):
        READERS[name][0](tmp_path / "none")
