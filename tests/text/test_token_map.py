"""Tokens -> all the ids a model reads."""

import json

import pytest

from elmo.errors import TextError
from elmo.text.characters import CharacterMap
from elmo.text.token_map import TokenMap, WordMap
from elmo.text.vocabulary import BEGINNING_MARK

WORDS = {"<S>": 1, "</S>": 2, "<UNK>": 3, "cat": 4}


def test_words_get_their_ids_and_unknown_ones_that_of_unk():
    ids = WordMap(WORDS).ids(["<S>", "cat", "dog", "", "</S>"])
    assert ids.dtype == "int64"
    assert ids.tolist() == [1, 4, 3, 3, 2]


def test_without_an_unknown_word_an_unlisted_one_is_an_error():
    words = WordMap({"<S>": 1, "</S>": 2, "cat": 3}, unknown=None)
    assert words.ids(["cat"]).tolist() == [3]
    with pytest.raises(TextError, match="the word 'dog' is not in the model's word list"):
        words.ids(["cat", "dog"])


@pytest.mark.parametrize("missing", ["<S>", "</S>", "<UNK>"])
def test_a_word_list_without_a_needed_word_is_refused(missing):
    words = {word: number for word, number in WORDS.items() if word != missing}
    with pytest.raises(TextError, match=f"the word list lacks '{missing}'"):
        WordMap(words)


def test_words_are_cut_before_they_are_looked_up():
    assert WordMap({**WORDS, "catal": 9}, max_characters=5).ids(["catalogue", "cat"]).tolist() == [9, 4]


def test_an_unlisted_word_has_the_id_of_its_longest_beginning():
    listed = {"<S>": 1, "</S>": 2, "<UNK>": 3, "walk": 4, f"wal{BEGINNING_MARK}": 5, f"walke{BEGINNING_MARK}": 6}
    tokens = ["walk", "walks", "walked", "wal", "<S>"]
    assert WordMap(listed).ids(tokens).tolist() == [4, 5, 6, 3, 1]
    assert TokenMap.from_dict(TokenMap(None, WordMap(listed)).to_dict()).ids(tokens).words.tolist() == [4, 5, 6, 3, 1]
    certain = WordMap(listed, unknown=None)
    assert certain.ids(["walks"]).tolist() == [5]
    with pytest.raises(TextError, match="the word 'wal' is not"):
        certain.ids(["wal"])


def test_a_map_gives_what_its_parts_give():
    characters, words = CharacterMap.for_bytes(), WordMap(WORDS)
    both = TokenMap(characters, words).ids(["cat", "dog"])
    assert both.characters.tolist() == characters.ids(["cat", "dog"]).tolist()
    assert both.words.tolist() == [4, 3]
    assert TokenMap(characters).ids(["cat"]).words is None
    assert TokenMap(None, words).ids(["cat"]).characters is None


def test_boundary_tokens_are_those_of_the_part_that_is_there():
    words = WordMap({"<bos>": 1, "<eos>": 2, "<oov>": 3}, unknown="<oov>", boundary_tokens=("<bos>", "<eos>"))
    assert TokenMap(None, words).boundary_tokens == ("<bos>", "<eos>")
    assert TokenMap(CharacterMap.for_bytes()).boundary_tokens == ("<S>", "</S>")


@pytest.mark.parametrize(
    "token_map",
    [
        TokenMap(CharacterMap.for_bytes(20)),
        TokenMap(None, WordMap(WORDS, max_characters=7)),
        TokenMap(CharacterMap.for_bytes(), WordMap({"<S>": 1, "</S>": 2}, unknown=None)),
    ],
)
def test_a_map_survives_json(token_map):
    assert TokenMap.from_dict(json.loads(json.dumps(token_map.to_dict()))) == token_map
