"""Tokens know where they stand, and answers find the tokens they overlap."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo.tasks.squad.tokens import ReaderSettings, TokenizedText
from elmo.tasks.squad.tokens import tokenized as by_settings


def tokenized(text: str, **settings) -> TokenizedText:
    return by_settings(text, ReaderSettings(**settings))


TEXT = "In the mid-18th century, Bell\u2019s \u201cred house\u201d cost $5,000\u2014or not: and/or\U0001f600x."


def test_every_token_stands_where_its_offset_says():
    found = tokenized(TEXT, plain_quotes=False)
    assert [TEXT[start:end] for start, end in found.offsets] == list(found.tokens)
    assert "".join(found.tokens) == TEXT.replace(" ", "")


def test_tokens_are_split_at_hyphens_slashes_and_dashes():
    assert {"mid", "-", "18th", "and", "/", "or", "5,000"} <= set(tokenized(TEXT).tokens)
    assert "mid-18th" in tokenized(TEXT, split_hyphens=False).tokens
    assert tokenized("a -- b snake_case __ _x").tokens == ("a", "--", "b", "snake", "_", "case", "__", "_x")


def test_the_model_reads_plain_quotes_while_offsets_stay():
    found = tokenized(TEXT)
    assert {"'s", '"', "--"} <= set(found.tokens)
    assert found.offsets == tokenized(TEXT, plain_quotes=False).offsets


@given(st.text(max_size=60))
def test_offsets_rise_and_cover_what_is_no_space(text):
    found = tokenized(text, plain_quotes=False)
    ends = [0, *(end for _, end in found.offsets)]
    assert all(start >= before and start < end for before, (start, end) in zip(ends, found.offsets, strict=False))
    assert [unicodedata.normalize("NFC", text[start:end]) for start, end in found.offsets] == list(found.tokens)


@given(st.text(alphabet="ab- \u201c.", min_size=1, max_size=20), st.data())
def test_a_span_covers_every_token_that_overlaps_it(text, data):
    found = tokenized(text)
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    overlapping = [place for place, (a, b) in enumerate(found.offsets) if a < end and b > start]
    expected = (overlapping[0], overlapping[-1]) if overlapping else None
    assert found.covering(start, end) == expected


def test_an_answer_inside_a_token_is_cut_as_the_whole_token():
    found = tokenized("the unbelievable end")
    assert found.cut(found.covering(6, 9)) == "unbelievable"


@pytest.mark.parametrize("text", ["", "  \n", "\u200b"])
def test_a_text_may_have_no_token(text):
    assert tokenized(text).tokens == ()


def test_letters_that_are_taken_apart_are_composed_in_tokens_and_stay_in_the_text():
    apart = unicodedata.normalize("NFD", "Un café à 서울-역 là.")
    found = tokenized(apart)
    assert found.tokens == ("Un", "café", "à", "서울", "-", "역", "là", ".")
    assert [apart[start:end] for start, end in found.offsets] == [
        unicodedata.normalize("NFD", it) for it in found.tokens
    ]
    start = apart.index(unicodedata.normalize("NFD", "서울"))
    assert found.covering(start, start + 1) == (3, 3)
    assert found.cut((3, 5)) == unicodedata.normalize("NFD", "서울-역")
