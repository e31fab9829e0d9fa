"""Unlabelled text: tokens, and where they are in the line."""

from elmo.tasks.lines import TextLine, text_lines
from elmo.tasks.task import TextReading
from elmo.text.first_look.sample import FirstLook


def test_lines_have_tokens_and_their_places(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("It works,  well.\n\n밥을 먹다\n", encoding="utf-8")
    found = list(text_lines(path, TextReading(tokenizer="unicode")))
    assert [(it.source, it.line) for it in found] == [(str(path), line) for line in (1, 2, 3)]
    assert found == [
        TextLine(["It", "works", ",", "well", "."], ((0, 2), (3, 8), (8, 9), (11, 15), (15, 16))),
        TextLine([]),
        TextLine(["밥을", "먹다"], ((0, 2), (3, 5))),
    ]


def test_tokens_that_come_as_such_have_no_places(tmp_path):
    path = tmp_path / "text.jsonl"
    path.write_text('{"text": ["New York", "!"]}\n{"text": "a b"}\n')
    found = list(text_lines(path, TextReading()))
    assert found == [TextLine(["New York", "!"], has_text=False), TextLine(["a", "b"], ((0, 1), (2, 3)))]


def test_a_tokenizer_that_changes_the_text_leaves_no_places(tmp_path, monkeypatch):
    (tmp_path / "of_their_own.py").write_text("def split(text):\n    return ['It', 'is']\n")
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "text.txt"
    path.write_text("It's\n")
    reading = TextReading(tokenizer="of_their_own:split")
    assert list(text_lines(path, reading)) == [TextLine(["It", "is"])]


def test_text_is_read_as_the_flags_say(tmp_path):
    path = tmp_path / "text.csv"
    path.write_text('id,body\n1,"It rained. We stayed."\n')
    reading = TextReading(field="body", sentences="within-lines", tokenizer="auto")
    assert [line.tokens for line in text_lines(path, reading)] == [["It", "rained", "."], ["We", "stayed", "."]]


def test_a_look_at_the_text_is_told(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("It rained, she said.\n")
    for name, tokens, what in (("auto", 6, "note"), ("whitespace", 4, "warnings"), ("unicode", 6, "nothing")):
        looks: list[FirstLook] = []
        (line,) = text_lines(path, TextReading(tokenizer=name, on_look=looks.append))
        assert len(line.tokens) == tokens
        (look,) = looks
        assert (look.note is not None, look.warnings() != []) == (what == "note", what == "warnings")
