"""CSV and TSV: a column of texts, whatever stands in the cells, and what is wrong with a file."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo.errors import TextError
from elmo.text.formats.table import table_rows
from elmo.text.sentences import rows_and_form

cell = st.text(st.characters(codec="utf-8", exclude_characters="\r\0", exclude_categories=["Cs"]), max_size=8)


def rows(text: str, field: str = "text", **settings: object) -> list[str]:
    settings = {"on_bad_line": None, "separator": ","} | settings
    return list(table_rows(text.splitlines(), "t.csv", field, **settings))


@given(st.lists(st.tuples(cell, cell), min_size=1, max_size=8))
def test_every_cell_comes_back_as_the_csv_module_wrote_it(found):
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([("id", "text"), *found])
    lines = file.getvalue().removesuffix("\n").split("\n")
    read = list(table_rows(lines, "t.csv", "text", None, separator=","))
    assert read == [text if (number + text).strip() else "" for number, text in found]


def test_the_column_is_named_or_numbered():
    text = 'text,id\n"a, ""b""",1\nc d,2\n'
    assert rows(text) == ['a, "b"', "c d"]
    assert rows(text, "id") == ["1", "2"]
    assert rows("a b,1\nc,2\n", "1") == ["a b", "c"]
    assert rows('a "b\tx\n\n', "1", separator=None) == ['a "b', ""]
    assert rows("id\ttext\n1\ta\n", separator=None) == ["a"]
    assert rows("1,a\n2,b\n", first=7, header="id,text") == ["a", "b"]  # a part of a table
    assert rows(f"text,id\n{'word ' * 40_000},1\n") == ["word " * 40_000]  # longer than Python's own limit


def test_a_columns_name_may_have_a_line_end_in_quotes(tmp_path):
    path = tmp_path / "t.csv"
    for begin in ("", "sep=,\n"):
        path.write_text(begin + 'text,"a\nnote"\nb,1\n"c\nd",2\n', encoding="utf-8")
        first = 3 + begin.count("\n")
        assert list(rows_and_form(path)[1]) == [(first, "b"), (first + 1, "c\nd")]


def test_rows_know_the_line_they_begin_at(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('text\n"a\nb"\n\nc\n', encoding="utf-8")
    assert list(rows_and_form(path)[1]) == [(2, "a\nb"), (4, ""), (5, "c")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,body\n1,a\n", r"t.csv:1: there is no column 'text', the columns are: 'id', 'body'.*--field"),
        ("", r"the columns are: none"),
        ("text,id\na,1\n", None),
        ("id,text\n1\n", r"t.csv:2: there are 1 columns, so there is no column 2.*--errors skip"),
        ('id,text\n1,"a" b\n', r"t.csv:2: not valid CSV"),
        ('id,text\n1,"a\n2,b\n', r"t.csv:2: not valid CSV \(unexpected end of data\)"),
        ('"id,text\n1,a\n', r"t.csv:1: the row of column names is not valid CSV"),
    ],
)
def test_what_is_no_such_table_is_named_with_its_line(text, message):
    if message is None:
        assert rows(text)
        return
    with pytest.raises(TextError, match=message):
        rows(text)


def test_bad_rows_are_listed_and_skipped():
    listed: list[int] = []
    found = rows('text,id\na,1\n"b" c,2\nd,3\n', on_bad_line=lambda number, _: listed.append(number))
    assert found == ["a", "", "d"]
    assert listed == [3]


@pytest.mark.parametrize("wrong", [b"\xff", b"a\rb"])
@pytest.mark.parametrize("place", [1, 2, 3])
def test_a_bad_line_inside_of_a_cell_takes_its_row_and_no_other(tmp_path, place, wrong):
    lines = [b"text,id", b'"one', b"two,", b'three",1', b"four,2", b"five,3"]
    lines[place] = lines[place].replace(b"e", wrong) if place != 2 else b"two," + wrong
    (tmp_path / "t.csv").write_bytes(b"\n".join([*lines, b""]))
    listed: list[int] = []
    _, found = rows_and_form(tmp_path / "t.csv", errors="skip", on_bad_line=lambda number, _: listed.append(number))
    assert list(found) == [(2, ""), (5, "four"), (6, "five")]
    assert listed == [place + 1]
