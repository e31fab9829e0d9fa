"""CoNLL columns."""

import pytest

from elmo.errors import TextError
from elmo.text.formats.conll import conll_sentences
from elmo.text.sentences import read_rows

TEXT = "-DOCSTART- -X- O\n\nThe DT O\nbank NN B-ORG\n\n\n#begin document (a)\n# NN O\n1 CD O\n"


def sentences(text: str, field: str = "text", on_bad_line=None) -> list[list[str]]:
    return list(conll_sentences(text.splitlines(), "t.conll", field, on_bad_line))


def test_tokens_are_the_first_column_or_the_one_that_is_numbered():
    assert sentences(TEXT) == [["The", "bank"], ["#", "1"]]
    assert sentences(TEXT, "2") == [["DT", "NN"], ["NN", "CD"]]
    assert sentences("1\tNew York\tX\n", "2") == [["New York"]]


def test_documents_are_announced():
    seen: list[None] = []
    list(conll_sentences(TEXT.splitlines(), "t.conll", "text", None, on_new_document=lambda: seen.append(None)))
    assert len(seen) == 2


def test_sentences_know_the_line_they_begin_at(tmp_path):
    path = tmp_path / "t.conll"
    path.write_text("a X\nb X\n\nc X\n", encoding="utf-8")
    assert list(read_rows(path)) == [(1, ["a", "b"]), (4, ["c"])]


def test_a_missing_column_is_named_with_its_line_and_can_be_skipped():
    with pytest.raises(TextError, match=r"t.conll:3: there are 1 columns.*column 2.*--field"):
        sentences("a X\n\nb\n", "2")
    listed: list[int] = []
    assert sentences("a X\nb\nc\n\nd Y\n", "2", lambda number, _: listed.append(number)) == [[], ["Y"]]
    assert listed == [2]
