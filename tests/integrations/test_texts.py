"""Texts as a table's column has them."""

import numpy as np
import pytest

from elmo.errors import ConfigError
from elmo.integrations.texts import tokenized


def test_strings_are_tokenized_and_lists_are_taken_as_they_are():
    texts = ["a  b.", np.str_("c"), ["d e", "f"], ("g",), np.array(["h", "i"]), "", []]
    found = [list(tokens) for tokens in tokenized(texts, "whitespace")]
    assert found == [["a", "b."], ["c"], ["d e", "f"], ["g"], ["h", "i"], [], []]
    assert tokenized(["a b."], "unicode") == [["a", "b", "."]]
    assert tokenized(["ab"], list) == [["a", "b"]]


@pytest.mark.parametrize("missing", [None, float("nan"), 3, b"x", [1]])
def test_what_is_no_text_is_named_with_its_place(missing):
    with pytest.raises(ConfigError, match="1"):
        tokenized(["a", missing], "whitespace")
