"""Lines of tables and treebanks, which are UTF-8 by their format."""

import gzip

import pytest

from elmo.errors import TextError
from elmo.text.files.lines import utf8_lines


def test_windows_line_ends_and_a_byte_order_mark_change_nothing(tmp_path):
    (tmp_path / "x").write_bytes("a\r\nFluß\r\n".encode("utf-8-sig"))
    assert list(utf8_lines(tmp_path / "x")) == ["a", "Fluß"]


def test_a_byte_that_is_no_utf8_is_named_with_its_line_and_the_command(tmp_path):
    (tmp_path / "x").write_bytes("a\nFluß\n".encode("latin-1"))
    with pytest.raises(TextError, match=r"x:2: not valid UTF-8 \(byte 0xDF at column 4\)\. Convert .*iconv"):
        list(utf8_lines(tmp_path / "x"))


def test_a_damaged_packed_file_is_an_error_with_its_name(tmp_path):
    (tmp_path / "x.gz").write_bytes(gzip.compress("a\nFluß\n".encode())[:-9])
    with pytest.raises(TextError, match=r"x.gz: can't be read beyond line \d+: it is cut off\. Copy or download"):
        list(utf8_lines(tmp_path / "x.gz"))
