"""Letters that are taken apart are read as one, in every script that has such letters."""

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo.text.reading.as_trained import composed

WORDS = "학교에서 café Ǻ ữ ῶ й がぎ கொடு أَحمد ক্যো നോക്കി ऩऱऴ කෝ ဦး"


@pytest.mark.parametrize("word", WORDS.split())
def test_letters_are_composed(word):
    apart = unicodedata.normalize("NFD", word)
    found, places = composed(apart)
    assert found == word and len(apart) > len(word)
    assert len(places) == len(word) + 1 and places[-1] == len(apart)


@given(st.text(st.sampled_from(unicodedata.normalize("NFD", WORDS) + "가 a.\u0301\u200d")))
def test_nothing_is_lost_and_places_rise(text):
    found, places = composed(text)
    assert unicodedata.normalize("NFC", found) == unicodedata.normalize("NFC", text)
    if places is None:
        assert found == text
    else:
        assert len(places) == len(found) + 1 and (np.diff(places) > 0).all() and places[-1] == len(text)
