"""Columns of a terminal, and tables whose columns line up."""

from elmo.process.text_table import shortened, text_table, width


def test_display_width_counts_columns():
    assert [width(text) for text in ("abc", "은행", "é", "e\u0301", "中。", "")] == [3, 4, 1, 1, 4, 0]
    assert shortened("은행에서돈", 8) == "은행..."
    assert shortened("abc", 3) == "abc"
    assert width(shortened("가" * 40, 24)) <= 24


def test_columns_line_up_whatever_the_script():
    rows = [["word", "count", "share"], ["은행", "12", "3.5"], ["a", "1", ""]]
    assert text_table(rows) == ["word  count  share", "은행     12    3.5", "a         1"]
    assert text_table(rows[1:], left=0) == ["은행  12  3.5", "   a   1"]
