"""Files -> blocks."""

import csv
import gzip
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo.corpus.block_reader import BlockReader
from elmo.corpus.blocks import read_blocks
from elmo.corpus.settings import CorpusSettings
from elmo.errors import TextError
from elmo.text.sentences import read_sentences

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
    packed = [block.content for block in read_blocks(tmp_path / "packed.gz", "line", size=500, on_bytes=told.append)]
    assert plain == packed
    assert sum(told) == (tmp_path / "packed.gz").stat().st_size


def test_a_damaged_file_is_an_error_with_the_last_good_line(tmp_path):
    path = tmp_path / "cut.gz"
    content = gzip.compress(b"".join(b"%d\n" % (number * 7919) for number in range(20_000)))
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(TextError, match=r"cut.gz: can't be read beyond line \d+: it is cut off"):
        list(read_blocks(path, "line", size=1000))


def test_records_of_a_table_stay_whole_and_know_the_header(tmp_path):
    path = tmp_path / "t.csv"
    rows = "".join(f'{number},"line {number}\nof ""two"", one"\n' for number in range(40))
    path.write_text("id,text\n" + rows, encoding="utf-8")
    blocks = list(read_blocks(path, "record", size=100, has_header=True))
    assert len(blocks) > 5
    assert b"".join(block.content for block in blocks).decode() == "id,text\n" + rows
    assert all(block.content.count(b'"') % 2 == 0 and block.content.endswith(b"\n") for block in blocks)
    assert [block.header for block in blocks] == [b""] + [b"id,text"] * (len(blocks) - 1)


def test_quotes_inside_a_cell_open_none(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f'{number},"a ""{number}"",\nof, two","x,"\n{number},a 5" pipe,"""\n"""\n' for number in range(40)]
    path.write_text("\ufeff" + "".join(rows), encoding="utf-8")
    for size in (20, 100, 333):
        blocks = [block.content.decode("utf-8-sig") for block in read_blocks(path, "record", size=size)]
        assert len(blocks) > 5
        assert sum((list(csv.reader(block.splitlines(True), strict=True)) for block in blocks), []) == list(
            csv.reader("".join(rows).splitlines(True), strict=True)
        )


def test_a_quote_that_is_never_closed_does_not_fill_the_memory(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a\n"b\n' + "c\n" * 2000, encoding="utf-8")
    assert max(len(block.content) for block in read_blocks(path, "record", size=100)) < 1000


def rows(apart: str, quote: str = "") -> str:
    return f"id{apart}text\n" + "".join(f"{n}{apart}{quote}a row of {n} words{quote}\n" for n in range(60))


# Text, and the column that is read.
FILES = {
    "t.csv": (rows(",", '"'), "text"),
    "second.csv": (rows(",", '"'), "2"),
    "t.tsv": (rows("\t"), "text"),
    "t.conll": ("".join(f"w{n} X\nend X\n\n" for n in range(60)), "text"),
    # A comment behind the last blank line is no sentence in a block of its own.
    "comment.conll": ("".join(f"w{n} X\n\n" for n in range(60)) + "# the end\n", "text"),
    # Each block has the columns that were named last.
    "t.conllup": (
        "# made by hand\n# global.columns = ID FORM UPOS\n" + "".join(f"1\ta{n}\tX\n\n" for n in range(30))
        + "#global.columns = FORM ID\n" + "".join(f"b{n}\t1\n\n" for n in range(30)), "text",
    ),
    # A mark of byte order is no part of the first column's name, in any block.
    "mark.csv": ("\ufefftext,label\n" + "".join(f"a {n},x\n" for n in range(60)), "text"),
    "mark.tsv": ("\ufefftext\tlabel\n" + "".join(f"a {n}\tx\n" for n in range(60)), "text"),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_blocks_of_every_format_give_the_sentences_of_the_file(tmp_path, name):
    path, (text, field) = tmp_path / name, FILES[name]
    path.write_text(text, encoding="utf-8")
    recipe = CorpusSettings(field=field).recipe(path, for_training=True)
    for size in (40, 90, 150):
        blocks = list(read_blocks(path, recipe.border, size=size, has_header=recipe.has_header))
        assert len(blocks) > 2 and b"".join(block.content for block in blocks).decode() == text
        found = [it for block in blocks for it in BlockReader(block, recipe, lambda: None).sentences()]
        assert found == list(read_sentences(path, field=field)) and len(found) >= 30


@pytest.mark.parametrize(("name", "first"), [("t.csv", "a 0,x\n"), ("t.csv", '"a\n0",x\n'), ("t.tsv", "a 0\tx\n")])
def test_the_files_first_row_says_in_each_block_how_many_columns_there_are(tmp_path, name, first):
    path, apart = tmp_path / name, "," if name == "t.csv" else "\t"
    rows = [f"a {number}\n" if number % 3 else f"a {number}{apart}x\n" for number in range(1, 60)]
    path.write_text(first + "".join(rows), encoding="utf-8")
    for field in ("1", "2"):
        recipe = replace(CorpusSettings(field=field).recipe(path, for_training=True), errors="skip")
        blocks = list(read_blocks(path, recipe.border, size=16, has_header=recipe.has_header))
        assert len(blocks) > 10
        assert {block.header.decode() for block in blocks[1:]} == {first[:-1]}
        found = [it for block in blocks for it in BlockReader(block, recipe, lambda: None).sentences()]
        assert sum(found, []) == sum(read_sentences(path, field=field, errors="skip"), [])


def test_blocks_of_fasta_end_before_a_header(tmp_path):
    text = "".join(f">P{number} x\n{'MKTAYIAK' * 3}\n{'GGS' * 5}\n" for number in range(40))
    (tmp_path / "p.fasta").write_text(text, encoding="utf-8")
    found = list(read_blocks(tmp_path / "p.fasta", "header", size=200))
    assert len(found) > 10
    assert "".join(block.content.decode() for block in found) == text
    assert all(block.content.startswith(b">P") for block in found)
    assert [block.first_line for block in found[1:]] == [block.last_line + 1 for block in found[:-1]]
