"""Sentences with their places: the same tokens as elsewhere, and spans that lead back into the file."""

import gzip
import io
import json
import sys
import unicodedata

import pytest

from elmo.errors import ConfigError, TextError
from elmo.text.reading.as_trained import plain_marks
from elmo.text.reading.placed import placed_in, placed_sentences
from elmo.text.reading.settings import Reading, text_files
from elmo.text.sentences import read_sentences
from elmo.text.tokenizer import split_sentences, tokenizer

RAW = 'Mr. Smith went home. He slept.\n\n"은행에서 돈을 찾았다." 그는 웃었다.\nOne line'
UNICODE = Reading(tokenizer="unicode")


@pytest.fixture
def raw(tmp_path):
    path = tmp_path / "raw.txt"
    path.write_text(RAW, encoding="utf-8")
    return path


def test_lines_are_sentences_unless_more_is_asked_for(raw):
    found = list(placed_sentences([raw], UNICODE))
    assert [place.tokens for place in found] == list(read_sentences(raw, tokenize=tokenizer("unicode")))
    assert [(place.line, place.sentence) for place in found] == [(1, 1), (2, 1), (3, 1), (4, 1)]
    assert found[1].tokens == []


def test_sentences_within_lines_have_their_number_and_spans_in_the_line(raw):
    found = list(placed_sentences([raw], Reading(tokenizer="unicode", sentences="within-lines")))
    assert [(place.line, place.sentence, place.text) for place in found] == [
        (1, 1, "Mr. Smith went home."),
        (1, 2, "He slept."),
        (2, 1, ""),
        (3, 1, '"은행에서 돈을 찾았다."'),
        (3, 2, "그는 웃었다."),
        (4, 1, "One line"),
    ]
    lines = RAW.split("\n")
    for place in found:
        assert [lines[place.line - 1][start:end] for start, end in place.spans.tolist()] == place.tokens


def test_sentences_across_lines_are_those_of_paragraphs(tmp_path):
    text = "It was\na dark. And stormy\nnight.\n\n\nSecond one.\n"
    path = tmp_path / "wrapped.txt"
    path.write_text(text, encoding="utf-8")
    found = list(placed_sentences([path], Reading(tokenizer="unicode", sentences="across-lines")))
    assert [" ".join(place.text.split()) for place in found] == split_sentences(text)
    assert [(place.line, place.sentence) for place in found] == [(1, 1), (1, 2), (6, 1)]
    paragraph = "It was\na dark. And stormy\nnight."
    assert [paragraph[start:end] for start, end in found[1].spans.tolist()] == found[1].tokens


def test_a_bad_line_ends_no_paragraph_and_every_line_else_is_in_its_place(tmp_path):
    path = tmp_path / "bad.txt"
    path.write_bytes(b"a b\n\xff\nc d.\n")
    listed: list[int] = []
    skip = Reading(tokenizer="whitespace", errors="skip")
    found = list(placed_sentences([path], skip, on_bad_line=lambda number, _: listed.append(number)))
    assert [place.tokens for place in found] == [["a", "b"], [], ["c", "d."]]
    assert [place.is_skipped for place in found] == [False, True, False]
    across = Reading(tokenizer="whitespace", errors="skip", sentences="across-lines")
    assert [place.tokens for place in placed_sentences([path], across)] == [["a", "b", "c", "d."]]
    assert listed == [2]
    with pytest.raises(TextError, match=r"bad.txt:2: not valid UTF-8"):
        list(placed_sentences([path], UNICODE))


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("t.txt", b"a\n\n\xff\nb\n", [False, False, True, False]),
        ("t.jsonl", b'{"text": "a"}\n{"text": ""}\n{"text":\n{"text": ["b"]}\n', [False, False, True, False]),
        ("t.tsv", b"n\ttext\n1\ta\n1\t\n1\n1\tb\n", [False, False, True, False]),
        ("t.conll", b"a\n\n\xff\n\nb\n", [False, True, False]),
        ("t.conllu", b"1\ta\n\n1\t\xff\n\n", [True, True]),
    ],
)
def test_a_line_that_is_skipped_is_told_from_a_blank_one(tmp_path, name, content, expected):
    (tmp_path / name).write_bytes(content)
    found = placed_sentences([tmp_path / name], Reading(tokenizer="whitespace", errors="skip"))
    assert [place.is_skipped for place in found] == expected


@pytest.mark.parametrize("reading", [Reading(tokenizer="unicode", sentences=s) for s in ("lines", "within-lines")])
def test_every_format_gives_the_same_sentences(tmp_path, reading):
    texts = ["He's here. She left.", "", "예, 맞다."]
    (tmp_path / "t.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
    (tmp_path / "t.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
    (tmp_path / "t.tsv").write_text("n\ttext\n" + "".join(f"1\t{text}\n" for text in texts), encoding="utf-8")
    (tmp_path / "t.csv").write_text("n,text\n" + "".join(f'1,"{text}"\n' for text in texts), encoding="utf-8")
    (tmp_path / "t.txt.gz").write_bytes(gzip.compress((tmp_path / "t.txt").read_bytes()))
    expected = [(it.tokens, it.sentence, it.spans.tolist()) for it in placed_sentences([tmp_path / "t.txt"], reading)]
    for name in ("t.jsonl", "t.tsv", "t.csv", "t.txt.gz"):
        found = list(placed_sentences([tmp_path / name], reading))
        assert [(it.tokens, it.sentence, it.spans.tolist()) for it in found] == expected, name


def test_several_files_go_on_one_after_the_other(raw, tmp_path):
    (tmp_path / "b.conllu").write_text("1\tHi\t_\t_\t_\t_\t_\t_\t_\t_\n\n", encoding="utf-8")
    found = list(placed_sentences([raw, tmp_path / "b.conllu"], UNICODE))
    assert [place.file for place in found] == [0, 0, 0, 0, 1]
    assert found[-1].text == "Hi"
    assert found[-1].spans.tolist() == [[0, 2]]


def test_a_pattern_stands_for_its_files_in_order(tmp_path):
    for name in ("b.txt", "a.txt", "c.md", "x[1].txt"):
        (tmp_path / name).write_text("a\n")
    assert [name[-5:] for name in text_files([str(tmp_path / "[ab].txt")])] == ["a.txt", "b.txt"]
    assert len(text_files([str(tmp_path / "x[1].txt")])) == 1
    with pytest.raises(TextError, match=r"\*\.rst: no file matches"):
        text_files([str(tmp_path / "*.rst")])
    with pytest.raises(TextError, match="no such file"):
        text_files([str(tmp_path / "missing.txt")])
    with pytest.raises(ConfigError, match="there is no text: the list of files is empty. Name at least one"):
        text_files([])


def test_standard_input_comes_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\n")))
    (tmp_path / "a.txt").write_text("a\n")
    assert text_files(["-"]) == ["-"]
    with pytest.raises(ConfigError, match="read once, as a stream, but 2 texts"):
        text_files(["-", str(tmp_path / "a.txt")])


def test_a_text_in_memory_has_spans_in_the_whole_text():
    for ends in ("lines", "within-lines", "across-lines"):
        found = list(placed_in(RAW, Reading(tokenizer="unicode", sentences=ends)))
        tokens = [token for place in found for token in place.tokens]
        assert [RAW[start:end] for place in found for start, end in place.spans.tolist()] == tokens
        assert [RAW.count("\n", 0, place.start) + 1 for place in found] == [place.line for place in found]
    assert list(placed_in(" \n\n", UNICODE)) == []


def test_a_function_that_fails_is_named_itself_not_the_tokenizer_in_whose_place_it_is(raw):
    def by_hand(text: str) -> list[str]:
        raise ValueError(text)

    class Cutter:
        def __call__(self, text: str) -> list[str]:
            raise ValueError(text)

    for tokenize, name in ((by_hand, "by_hand"), (Cutter(), "Cutter")):
        for found in (placed_sentences([raw], Reading(), tokenize=tokenize), placed_in(RAW, Reading(), tokenize)):
            with pytest.raises(TextError, match=rf":1: the tokenizer \S+\.{name} failed at 'Mr. Smith"):
                list(found)


def test_what_makes_no_sense_is_refused():
    for settings, message in (
        ({"format": "pdf"}, "format must be .*got 'pdf'"),
        ({"sentences": "words"}, "sentences must be .*got 'words'"),
        ({"errors": "no"}, "errors must be .*got 'no'"),
        ({"encoding": "utf-99"}, "encoding is 'utf-99'"),
        ({"tokenizer": "moses"}, "no tokenizer 'moses'"),
    ):
        with pytest.raises(ConfigError, match=message):
            Reading(**settings).check()
    Reading().check()


def test_typographic_marks_and_letters_taken_apart_are_read_as_models_know_them_at_their_places(tmp_path):
    text = "He\u0301 didn’t. “No” — cafe\u0301!\n… 그는 " + unicodedata.normalize("NFD", "밥을 먹었다.")
    marks = plain_marks(["'", '"', "--", "-", "..."])
    tokens = ["Hé", "did", "n't", ".", '"', "No", '"', "--", "café", "!", "...", "그는", "밥을", "먹었다", "."]
    written = ["He\u0301", "did", "n’t", ".", "“", "No", "”", "—", "cafe\u0301", "!", "…", "그는"]
    written += [unicodedata.normalize("NFD", word) for word in ("밥을", "먹었다", ".")]
    found = list(placed_in(text, Reading(sentences="within-lines"), marks=marks))
    assert [it.line for it in found] == [1, 1, 2, 2]
    assert [token for it in found for token in it.tokens] == tokens
    assert [text[start:stop] for it in found for start, stop in it.spans] == written
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    in_file = list(placed_sentences([tmp_path / "a.txt"], Reading(), marks=marks))
    assert [token for it in in_file for token in it.tokens] == tokens
    lines = text.split("\n")
    assert [lines[it.line - 1][start:stop] for it in in_file for start, stop in it.spans] == written
    assert [it.text for it in in_file] == lines
    assert [it.tokens for it in placed_in("He didn’t", Reading())] == [["He", "did", "n’t"]]


def test_lists_of_tokens_are_read_so_too(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": ["did", "n’t", "“"]}\n', encoding="utf-8")
    (found,) = placed_sentences([tmp_path / "a.jsonl"], Reading(), marks=plain_marks(["'", '"']))
    assert (found.tokens, found.text) == (["did", "n't", '"'], "did n’t “")
    assert found.spans.tolist() == [[0, 3], [4, 7], [8, 9]]


def test_only_marks_that_a_vocabulary_lacks_are_replaced_by_those_that_it_has():
    assert plain_marks(None) == plain_marks(["the"]) == {}
    assert plain_marks(["'", "it’s"]).get(ord("’")) is None
    assert plain_marks(["'", "it’s"])[ord("‘")] == "'"
    assert plain_marks(["-", "--"])[ord("—")] == "-"
    assert plain_marks(["--", "-"])[ord("—")] == "--"
