"""CoNLL columns and JSON lines -> sentences."""

import gc
import json

import pytest

from elmo.errors import TextError
from elmo.text.formats.form import Form
from elmo.text.formats.rows import conll_sentences, numbered_rows
from elmo.text.sentences import read_sentences, rows_and_form

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
    assert list(rows_and_form(path)[1]) == [(1, ["a", "b"]), (4, ["c"])]


def test_a_missing_column_is_named_with_its_line_and_can_be_skipped():
    with pytest.raises(TextError, match=r"t.conll:3: there are 1 columns.*column 2.*--field"):
        sentences("a X\n\nb\n", "2")
    listed: list[int] = []
    assert sentences("a X\nb\nc\n\nd Y\n", "2", lambda number, _: listed.append(number)) == [[], ["Y"]]
    assert listed == [2]


def read(folder, content: bytes | str, name: str = "rows.jsonl", **settings) -> list[list[str]]:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(read_sentences(path, **settings))


def test_a_field_holds_a_text_or_tokens_and_blank_lines_are_empty(tmp_path):
    text = '{"text": "The cat\\nsat ."}\n\n{"id": 1, "text": ["New York", "밥"]}\n{"text": ""}\n{"text": []}\n'
    assert read(tmp_path, text) == [["The", "cat", "sat", "."], [], ["New York", "밥"], [], []]


def test_the_field_can_be_named_and_the_ending_tells_the_format(tmp_path):
    line = json.dumps({"sentence1": "a b", "text": "c"})
    assert read(tmp_path, line, field="sentence1") == [["a", "b"]]
    assert read(tmp_path, line, name="rows.ndjson") == [["c"]]
    assert read(tmp_path, line, name="rows.txt", format="jsonl") == [["c"]]
    assert read(tmp_path, line, format="text") == [line.split()]


def test_texts_are_tokenized_and_lists_are_not(tmp_path):
    text = '{"text": "ab"}\n{"text": ["ab"]}\n'
    assert read(tmp_path, text, tokenize=list) == [["a", "b"], ["ab"]]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"text": "a"', r"rows.jsonl:2: not valid JSON \(Expecting ',' delimiter at column 13\)"),
        ("plain text", r"not valid JSON \(Expecting value at column 1\)"),
        ('["a"]', r"holds \['a'\], not a JSON object"),
        ('{"content": "a", "id": 1}', "there is no field 'text', its fields are: 'content', 'id'. Name the right one"),
        ("{}", "its fields are: none"),
        ('{"text": {"a": 1}}', "field 'text' must be a list of tokens or a string .got {'a': 1}"),
        ('{"text": ["a", 1]}', r"field 'text'\[1\] is 1 \(int\), but a token is a string"),
        ('{"text": ["a\\n"]}', "ends with a line end"),
        ('{"text": ["\\ud800"]}', "escapes one half of a surrogate pair"),
        ('{"text": "x \\udfff"}', "escapes one half of a surrogate pair"),
        ("[" * 100_000, "nested too deeply"),
        ('{"text": ' + "9" * 10_000 + "}", "too long a number"),
    ],
)
def test_a_bad_line_is_named_or_skipped(tmp_path, line, message):
    text = '{"text": "a"}\n' + line + '\n{"text": "b"}\n'
    with pytest.raises(TextError, match=message):
        read(tmp_path, text)
    told = []
    skipped = read(tmp_path, text, errors="skip", on_bad_line=lambda number, text: told.append((number, text)))
    assert skipped == [["a"], [], ["b"]]
    assert [number for number, _ in told] == [2]
    assert "rows.jsonl:2: " in told[0][1]


def test_a_line_that_is_no_utf8_is_told_once(tmp_path):
    told = []
    content = b'{"text": "caf\xe9"}\n{"text": "b"}\n'
    skipped = read(tmp_path, content, errors="skip", on_bad_line=lambda number, text: told.append((number, text)))
    assert skipped == [[], ["b"]]
    assert len(told) == 1
    assert "not valid UTF-8 (byte 0xE9 at column 14)" in told[0][1]


def test_a_text_that_is_not_read_to_its_end_is_closed_without_a_garbage_collection():
    closed = []

    def lines():
        try:
            yield from ("a b", "c d", "e f")
        finally:
            closed.append(True)

    gc.disable()
    try:
        rows = numbered_rows(lines(), Form(), "t", None)
        assert next(rows) == (1, "a b")
        del rows
        assert closed == [True]
    finally:
        gc.enable()
