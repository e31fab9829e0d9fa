"""What a model reads of the word types: bytes, words, or the characters of a dictionary made from the text."""

from dataclasses import replace

import numpy as np
import pytest

from elmo.corpus.prepare import prepare
from elmo.corpus.settings import CorpusSettings
from elmo.corpus.shards import TrainingData
from elmo.pretrain.step.setup import TypeIds, dictionary_of
from elmo.text.vocabulary import is_beginning


def test_a_dictionary_has_the_most_frequent_characters_and_leaves_single_ones_unknown():
    made = dictionary_of([("밥밥", 3), ("ba", 2), ("cab", 1), ("z", 1)], 10, 8)
    assert list(made.dictionary) == ["밥", "a", "b"]  # 6, 3 and 3 times; c and z occur once
    assert sorted(made.dictionary.values()) == [7, 8, 9]
    assert made.num_characters == 10
    row = made.ids(["밥z"])[0]
    assert row.tolist()[:4] == [made.begin_word, made.dictionary["밥"], made.unknown, made.end_word]
    assert list(dictionary_of([("밥밥", 3), ("ba", 2)], 1, 8).dictionary) == ["밥"]


@pytest.mark.parametrize("kind", [
    {}, {"characters": "dictionary"}, {"characters": "none"}, {"word_dim": 4},
    {"characters": "dictionary", "word_dim": 4},
])  # fmt: skip
def test_types_have_the_ids_that_the_models_own_map_gives_their_words(data, recipe, kind):
    ids = TypeIds.of(replace(recipe, **kind), data)
    types = np.arange(len(data.type_counts))
    characters, words = ids.of_types(types)
    expected = ids.token_map.ids(data.types())
    for found, wanted in ((characters, expected.characters), (words, expected.words)):
        assert (found is None) == (wanted is None)
        if found is not None:
            assert np.array_equal(found.numpy(), wanted)
            assert found.min() >= 1
    assert words is None or words.max() <= len(data.vocabulary)


def test_a_word_that_is_known_by_its_beginning_is_read_by_it_also_after_training(tmp_path, recipe):
    text = tmp_path / "text.txt"
    text.write_text("the cat sat\nwalked walking walks\ntalked the\n" * 2)
    prepare(text, tmp_path / "data", CorpusSettings(vocab_size=8, num_beginnings=2))
    data = TrainingData.open(tmp_path / "data")
    ids = TypeIds.of(replace(recipe, characters="none"), data)
    assert ids.words is not None
    assert ids.words.tolist() == ids.token_map.ids(data.types()).words.tolist()
    walk = data.vocabulary.id("walks") + 1
    assert is_beginning(data.vocabulary.words[walk - 1])
    assert ids.token_map.ids(["walker", "walks", "dog"]).words.tolist() == [walk, walk, data.vocabulary.unknown_id + 1]
