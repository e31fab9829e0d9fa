"""Letters that are taken apart are read as one, in every script that has such letters."""

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo.text.reading.as_trained import composed, composed_words

WORDS = "학교에서 café Ǻ ữ ῶ й がぎ கொடு أَحمد ক্যো നോക്കി ऩऱऴ කෝ ဦး"


@pytest.mark.parametrize("word", WORDS.split())
def test_letters_are_composed(word):
    apart = unicodedata.normalize("NFD", word)
    found, places = composed(apart)
    assert found == word and len(apart) > len(word)
    assert len(places) == len(word) + 1 and places[-1] == len(apart)


@pytest.mark.parametrize(
    "letter", ["\u09df", "\u095c", "\u2126", "\uf914", "\ufb2a", "\u0f43", "a\u0302\u0323", "=\u0338"]
)
def test_letters_that_NFC_only_replaces_are_replaced(letter):
    """Some of Bengali, Hindi and Hebrew become two characters; hanja have a second code in Korean encodings."""
    found, places = composed(f"x{letter}y")
    assert found == unicodedata.normalize("NFC", f"x{letter}y") != f"x{letter}y"
    assert places[[0, 1, -2, -1]].tolist() == [0, 1, len(letter) + 1, len(letter) + 2]


@given(
    st.text(st.sampled_from(unicodedata.normalize("NFD", WORDS) + "가 a.=\u0301\u0323\u0338\u200d\u09df\u212b\uf914"))
    | st.text()
)
def test_a_text_is_NFC_and_its_places_rise(text):
    found, places = composed(text)
    assert found == unicodedata.normalize("NFC", text)
    if places is None:
        assert found == text
    else:
        assert len(places) == len(found) + 1 and (np.diff(places) >= 0).all() and places[-1] == len(text)


def test_words_of_a_table_stay_different():
    """Å is one character, a second one that is called Angstrom, and a letter with its ring."""
    assert composed_words(("\u212b", "A\u030a", "한")) == ("\u00c5", "A\u030a", "한")
    assert composed_words(("A\u030a", "\u00c5")) == ("A\u030a", "\u00c5")
    assert composed_words((unicodedata.normalize("NFD", "학교"),)) == ("학교",)
