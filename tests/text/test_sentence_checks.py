"""Sentences from Python: what is one, and what is refused with its place."""

import numpy as np
import pytest
import torch

from elmo.errors import ConfigError
from elmo.text.sentence_checks import checked_sentences, checked_stream

BOTH = [checked_sentences, lambda sentences: list(checked_stream(sentences))]


@pytest.mark.parametrize("checked", BOTH)
@pytest.mark.parametrize(
    "words", [["The", "river", "bank"], ("yes", "no"), ["bank", "", "river"], ["我爱你", "他去了银行"]]
)
def test_a_flat_list_of_words_is_refused_with_both_ways_to_write_it(checked, words):
    with pytest.raises(ConfigError) as told:
        checked(words)
    first, second = [str(word) for word in words if word][:2]
    message = str(told.value)
    assert f"one sentence as [[{first!r}, {second!r}" in message
    assert f"sentences of one word as [[{first!r}], ...]" in message


@pytest.mark.parametrize("checked", BOTH)
@pytest.mark.parametrize(
    ("sentences", "expected"),
    [
        ([["The", "river", "bank"]], [["The", "river", "bank"]]),
        ([["yes"], ["no"]], [["yes"], ["no"]]),
        (["yes"], [["yes"]]),
        (["yes", "it is"], [["yes"], ["it", "is"]]),
        (["yes", ["no"]], [["yes"], ["no"]]),
        (["yes\n", "no\n"], [["yes"], ["no"]]),
        (["yes", ""], [["yes"], []]),
        (["", ""], [[], []]),
        ([], []),
        ((["a"], "b c"), [["a"], ["b", "c"]]),
        ([("a", "")], [["a", ""]]),
    ],
)
def test_what_is_no_flat_list_is_taken_as_written(checked, sentences, expected):
    assert checked(sentences) == expected


def test_a_stream_is_looked_at_no_further_than_needed():
    taken = []

    def lines(words):
        for word in words:
            taken.append(word)
            yield word

    next(checked_stream(lines(["a b", "c", "d"])))
    assert taken == ["a b"]
    taken.clear()
    with pytest.raises(ConfigError, match="flat list of words"):
        next(checked_stream(lines(["a"] * 10), window=1))
    assert taken == ["a", "a"]


@pytest.mark.parametrize("checked", [checked_sentences, checked_stream])
@pytest.mark.parametrize("sentences", [None, 7, torch.zeros(()), np.zeros(())])
def test_what_is_no_list_is_refused_at_once(checked, sentences):
    with pytest.raises(ConfigError, match="sentences must be a list of sentences"):
        checked(sentences)


@pytest.mark.parametrize("checked", BOTH)
@pytest.mark.parametrize(
    ("sentences", "place"),
    [
        (torch.zeros(3), r"sentences\[0\] must be .*got tensor"),
        (np.zeros((1, 2)), r"sentences\[0\]\[0\] is"),
        ([["a"], [1]], "1"),
    ],
)
def test_arrays_of_numbers_are_no_sentences(checked, sentences, place):
    with pytest.raises(ConfigError, match=place):
        checked(sentences)


class Table:
    """Iterated over like the tables of pandas and Polars: by its columns."""

    columns = ("text",)

    def __iter__(self):
        return iter(self.columns)


@pytest.mark.parametrize("checked", BOTH)
@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        ([{"text": "a b", "label": 1}], r"sentences\[0\] must be .*got .* \(dict\)\).*of a table pass a column"),
        ({"text": ["a b"]}, r"sentences must be .* \(dict\)\).*of a table pass a column"),
        (Table(), r"sentences must be .*Table"),
        (["a b", {"a", "b"}], r"sentences\[1\] must be .* \(set\)\)"),
        (frozenset(["a b", "c d"]), r"sentences must be .*\(frozenset\)\)"),
    ],
)
def test_names_of_columns_and_keys_are_no_text(checked, sentences, message):
    with pytest.raises(ConfigError, match=message):
        checked(sentences)


@pytest.mark.parametrize("checked", BOTH)
def test_texts_are_not_taken_for_tokens(checked):
    for texts in (
        ["Rain fell .", "We left ."],
        ["He left the bank ."],
        ["비가 왔다.", "그는 갔다."],
        ["Yes!", "He left.", "I ran."],
    ):
        with pytest.raises(ConfigError, match=r"sentences\[1\] is a list of texts, such as .*of its own"):
            list(checked([["a"], texts]))
    with pytest.raises(ConfigError, match=r"sentences\[0\] is a list of texts"):
        list(checked([("He left the bank .", "neutral")]))
    with pytest.raises(ConfigError, match=r"a list of texts, such as 'Procter & Gamble Co\.'\. Pass each"):
        list(checked([["We", "like", "Procter & Gamble Co.", "."]]))
    assert list(checked(np.array([["Rain fell"], ["left"]]))) == [["Rain", "fell"], ["left"]]
    legal = [["New York", "Los Angeles"], ["U. S."], ["the old man", "saw", "the big river", "."], ["a. m.", "at", "."]]
    assert list(checked(legal)) == legal


@pytest.mark.parametrize("checked", BOTH)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\t"])
def test_a_line_end_is_not_part_of_a_token(checked, end):
    with pytest.raises(ConfigError, match=r"sentences\[0\]\[1\] is 'fell.*ends with a line end"):
        list(checked([f"Rain fell{end}".split(" ")]))


@pytest.mark.parametrize("checked", BOTH)
def test_a_column_has_a_sentence_in_each_row_even_of_one_word(checked):
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    texts = ["yes", "no"]
    columns = (pandas.Series(texts, index=[5, 2]), pandas.Index(texts), np.array(texts), pyarrow.chunked_array([texts]))
    for column in columns:
        assert list(checked(column)) == [["yes"], ["no"]]
    assert list(checked(text for text in ["a b", "c"])) == [["a", "b"], ["c"]]
    with pytest.raises(ConfigError, match=r"sentences\[1\]"):
        list(checked(pandas.Series(["a b", None])))
