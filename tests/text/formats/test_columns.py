"""Columns: what separates them, which lines are comments, and which column can't hold the words."""

import pytest

from elmo.errors import TextError
from elmo.text.formats.columns import column_sentences, require_words


def rows_of(text: str, **how) -> list[list[list[str]]]:
    return [it.rows for it in column_sentences(text.split("\n"), "t", **how) if it.rows]


def test_a_line_of_a_nul_alone_is_a_row():
    with pytest.raises(TextError, match="t:2: has one column"):
        rows_of("The DT\n\0\nran VB\n")


@pytest.mark.parametrize("separator", ["\t", " "])
def test_comments_are_told_by_their_form_and_their_width(separator):
    text = "# id = 1\n#x y\n#begin document (a)\n# NN O\na DT O\n# one two three\n## b O\n\n#end document\n"
    (sentence,) = [it for it in column_sentences(text.replace(" ", separator).split("\n"), "t") if it.rows]
    assert sentence.rows == [["#", "NN", "O"], ["a", "DT", "O"], ["##", "b", "O"]]
    assert sentence.lines == [4, 5, 7]
    assert len(sentence.comments) == 4
    assert sentence.begins_document


def test_comments_of_klue_and_germeval_are_left_out():
    klue = "## klue-ner-v1_dev_00000\t비가 온다 .\n비\tB-X\n \tO\n온\tO\n\n## klue-ner-v1_dev_00001\t눈 .\n눈\tO\n"
    assert rows_of(klue) == [[["비", "B-X"], [" ", "O"], ["온", "O"]], [["눈", "O"]]]
    germeval = "#\thttp://a.b [2009]\n1\tRom\tB-LOC\tO\n2\truft\tO\tO\n"
    assert rows_of(germeval) == [[["1", "Rom", "B-LOC", "O"], ["2", "ruft", "O", "O"]]]
    of_equal_width = germeval.replace(" [2009]", "\t[2009]\t")
    assert rows_of(of_equal_width) == rows_of(germeval)


def test_lines_with_a_hash_alone_are_rows_only_if_the_next_sentence_has_as_many_columns():
    assert rows_of("# made by hand\n\na O\n") == [[["a", "O"]]]
    assert rows_of("# O\n\na O\n") == [[["#", "O"]], [["a", "O"]]]
    assert rows_of("# O\n") == [[["#", "O"]]]
    assert rows_of("a O\n\n# x y\n\n#b O\n") == [[["a", "O"]], [["#b", "O"]]]


def test_a_document_line_inside_a_sentence_ends_it():
    found = list(column_sentences(["a O", "-DOCSTART- -X-", "b O"], "t"))
    assert [(it.rows, it.begins_document) for it in found] == [([["a", "O"]], False), ([["b", "O"]], True)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a O\nb\n", "t:2: has one column, but the first row of its sentence has 2"),
        ("a\tO\nNew York O\n", "t:2: has one column between tabs"),
        ("a O\n\nNew York\tB-LOC\n", "t:3: has tabs and a space in 'New York'"),
        ("10\u00a0000 CD O\nb NN\n", "t:2: has 2 columns"),
    ],
)
def test_ragged_rows_are_named_with_their_line_or_skipped_as_a_sentence(text, message):
    with pytest.raises(TextError, match=message):
        rows_of(text)
    told: list[str] = []
    found = list(column_sentences([*text.split("\n"), "c O"], "t", lambda _, why: told.append(why)))
    assert [it.is_bad for it in found if it.rows or it.is_bad][-2:] == [True, False]
    assert len(told) == 1


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ([[["1", "Die"], ["2", "Bank"]], [["1", "Ja"]]], 2),
        ([[["0", "Die"], ["1", "Bank"]], [["2", "Ja"], ["3", "!"]]], 2),
        ([[["1-2", "im"], ["1", "in"], ["2", "dem"]]], 2),
        ([[["doc", "0", str(place), word] for place, word in enumerate(["Anna", "sang", "a", "song", "."])]], 4),
        ([[["B-PER", "Anna"], ["O", "sang"]]], 2),
    ],
)
def test_a_column_that_counts_is_constant_or_has_tags_is_not_one_of_words(table, words):
    with pytest.raises(TextError, match="t: column 1 .*Name the column that has the words: --field N"):
        require_words(table, 0, "t", "--field")
    require_words(table, words - 1, "t", "--field")
    require_words([[["no", "UH"], ["no", "UH"]]], 0, "t", "--field")
