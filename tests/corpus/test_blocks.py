"""Files -> blocks."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo.corpus.blocks import read_blocks
from elmo.errors import TextError

lines = st.lists(st.sampled_from([b"", b"a", b" ", b"longer line", b"\r"]), max_size=30).map(b"\n".join)


@given(lines, st.integers(1, 20), st.sampled_from(["line", "blank line"]))
def test_blocks_are_the_file_and_know_their_lines(tmp_path_factory, content, size, border):
    path = tmp_path_factory.getbasetemp() / "blocks.txt"
    path.write_bytes(content)
    blocks = list(read_blocks(path, border, size=size))
    assert b"".join(block.content for block in blocks) == content
    line = 1
    for block in blocks:
        assert block.first_line == line
        line += block.content.count(b"\n")
        assert block.last_line == max(line - 1, block.first_line) or not block.content.endswith(b"\n")
    assert all(block.content.endswith(b"\n") for block in blocks[:-1])


def test_blocks_end_at_blank_lines_where_there_are_some(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"a\nb\n\nc\nd\n \t\r\ne\nf\ng\n")
    assert [block.content for block in read_blocks(path, "blank line", size=6)] == [
        b"a\nb\n\n",
        b"c\nd\n \t\r\n",
        b"e\nf\ng\n",
    ]
    path.write_bytes(b"no blank line\n" * 100)
    blocks = [block.content for block in read_blocks(path, "blank line", size=20)]
    assert len(blocks) > 5
    assert all(block.endswith(b"\n") for block in blocks)


def test_packed_files_have_the_blocks_of_plain_ones_and_progress_is_theirs(tmp_path):
    content = b"".join(b"%d\n" % (number * 7919) for number in range(2000))
    (tmp_path / "plain").write_bytes(content)
    (tmp_path / "packed.gz").write_bytes(gzip.compress(content))
    told = []
    plain = [block.content for block in read_blocks(tmp_path / "plain", "line", size=500)]
    packed = [block.content for block in read_blocks(tmp_path / "packed.gz", "line", size=500, on_progress=told.append)]
    assert plain == packed
    assert sum(told) == (tmp_path / "packed.gz").stat().st_size


def test_a_damaged_file_is_an_error_with_the_last_good_line(tmp_path):
    path = tmp_path / "cut.gz"
    content = gzip.compress(b"".join(b"%d\n" % (number * 7919) for number in range(20_000)))
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(TextError, match=r"cut.gz: can't be read beyond line \d+: it is cut off"):
        list(read_blocks(path, "line", size=1000))
