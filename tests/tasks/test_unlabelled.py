"""Unlabelled text: tokens, and where they are in the line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo.tasks.task import TextReading
from elmo.tasks.unlabelled import TextLine, text_lines, token_offsets
from elmo.text.tokenizer import tokenizer


def test_lines_have_tokens_and_their_places(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("It works,  well.\n\n밥을 먹다\n", encoding="utf-8")
    found = list(text_lines(path, TextReading(tokenizer("unicode"))))
    assert found == [
        TextLine(["It", "works", ",", "well", "."], ((0, 2), (3, 8), (8, 9), (11, 15), (15, 16))),
        TextLine([]),
        TextLine(["밥을", "먹다"], ((0, 2), (3, 5))),
    ]


def test_tokens_that_come_as_such_have_no_places(tmp_path):
    path = tmp_path / "text.jsonl"
    path.write_text('{"text": ["New York", "!"]}\n{"text": "a b"}\n')
    found = list(text_lines(path, TextReading()))
    assert found == [TextLine(["New York", "!"]), TextLine(["a", "b"], ((0, 1), (2, 3)))]


def test_a_tokenizer_that_changes_the_text_leaves_no_places():
    assert token_offsets("It's", ["It", "is"]) == ()
    assert token_offsets("a b c", ["a", "c"]) == ()


@given(text=st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=40))
@pytest.mark.parametrize("name", ["whitespace", "unicode"])
def test_places_cut_out_the_tokens(name, text):
    tokens = tokenizer(name)(text)
    offsets = token_offsets(text, tokens)
    assert not offsets or [text[start:end] for start, end in offsets] == tokens
