"""Texts as a table's column has them."""

import numpy as np
import pytest

from elmo.errors import ConfigError, TextWarning
from elmo.integrations.texts import tokenized
from elmo.text.first_look.language import Language
from elmo.text.first_look.sample import ModelReader

READER = ModelReader(Language(None))


def test_strings_are_tokenized_and_lists_are_taken_as_they_are():
    texts = ["a  b", np.str_("c"), ["d e", "f"], ("g",), np.array(["h", "i"]), "", []]
    found = [list(tokens) for tokens in tokenized(texts, "whitespace", READER)]
    assert found == [["a", "b"], ["c"], ["d e", "f"], ["g"], ["h", "i"], [], []]
    assert tokenized(["a b."], "unicode", READER) == [["a", "b", "."]]
    assert tokenized(["ab"], list, READER) == [["a", "b"]]


@pytest.mark.parametrize("missing", [None, float("nan"), 3, b"x", [1]])
def test_what_is_no_text_is_named_with_its_place(missing):
    with pytest.raises(ConfigError, match="1"):
        tokenized(["a", missing], "whitespace", READER)


def test_raw_text_is_read_by_rules_and_each_warning_is_given_once():
    reader = ModelReader(Language(["'", '"', "the"]))
    with pytest.warns(TextWarning, match="typographic marks"):
        assert tokenized(["It didn’t."], "auto", reader) == [["It", "did", "n't", "."]]
    assert tokenized(["It didn’t."], "auto", reader) == [["It", "did", "n't", "."]]
    assert tokenized(["“a”"], "auto", reader, plain_quotes=False) == [["“", "a", "”"]]
    with pytest.warns(TextWarning, match="special tokens"):
        tokenized(["[PAD]"], "whitespace", reader)
