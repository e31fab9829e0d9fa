"""Letters that are taken apart are read as one, in every script that has such letters."""

import re
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo.text.reading.as_trained import as_trained, composed, composed_words, plain_marks

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
    assert found == unicodedata.normalize("NFC", re.sub(r"\u00ad\s+(?=\w)", "\u00ad", text))
    if places is None:
        assert found == text
    else:
        assert len(places) == len(found) + 1 and (np.diff(places) >= 0).all() and places[-1] == len(text)


def test_a_word_broken_at_a_soft_hyphen_is_whole():
    found, places = composed("The infor\u00ad\n  mation\u00ad .")
    assert found == "The infor\u00admation\u00ad ." and places[[9, 10, 11]].tolist() == [9, 13, 14]


def test_marks_without_end_are_composed_in_pieces(monkeypatch):
    sizes, normalize = [], unicodedata.normalize
    monkeypatch.setattr("unicodedata.normalize", lambda form, text: sizes.append(len(text)) or normalize(form, text))
    found, places = composed("a" + "\u0301\u0323" * 500)
    assert max(sizes) == 65 and len(places) == len(found) + 1 and places[-1] == 1001


def test_words_of_a_table_stay_different():
    """Å is one character, a second one that is called Angstrom, and a letter with its ring."""
    assert composed_words(("\u212b", "A\u030a", "한")) == ("\u00c5", "A\u030a", "한")
    assert composed_words(("A\u030a", "\u00c5")) == ("A\u030a", "\u00c5")
    assert composed_words((unicodedata.normalize("NFD", "학교"),)) == ("학교",)


@pytest.mark.parametrize(
    ("token", "read"),
    [
        ("１００", "100"),  # full-width
        ("ＡＢＣ", "ABC"),
        ("oﬃce", "office"),  # a ligature
        ("infor\u00admation", "information"),  # a soft hyphen
        ("bank\ufe0e", "bank"),  # a variation selector
        ("ba\u034fnk", "bank"),  # a grapheme joiner
        ("ba\u200bnk\u2063", "bank"),
        ("\u110f\u110f", "ㅋㅋ"),  # letters of syllables, alone
        ("ﾻ", "ㅋ"),
        ("\u00ad", "\u00ad"),  # a token stays a token
        ("m²", "m2"),
        ("𝐇𝐞", "He"),
        ("“", '"'),
        ("½", "½"),  # its form has a fraction slash, which no word has
        ("é", "é"),  # some word has it
        ("ﾡ", "ﾡ"),  # its form is no letter of the vocabulary
    ],
)
def test_characters_that_no_word_has_are_read_as_their_plain_forms(token, read):
    marks = plain_marks(["abc", "ABC", "office", "information", "100", "m2", "He", '"', "é", "1", "ㅋ"])
    assert as_trained([token], marks) == [read]
    assert as_trained([token], plain_marks(None)) == [token]
    assert as_trained([token], plain_marks([token])) == [token]
