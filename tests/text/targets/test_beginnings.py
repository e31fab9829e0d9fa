"""Which beginnings a vocabulary lists."""

import random
from collections import Counter

import pytest

from elmo.text.targets.beginnings import LONGEST_BEGINNING, choose_beginnings
from elmo.text.targets.target_ids import BEGINNING_MARK, SPECIAL_WORDS
from elmo.text.vocabulary import Vocabulary


def test_longer_beginnings_are_chosen_first_and_take_their_tokens_along():
    counts = {"학교에서": 5, "학교에도": 4, "학교": 9, "학생은": 3, "학생이": 3, "학": 50, "새": 8}
    # All nine of "학교에"; six of "학생" (of "학생은" and "학생이" alone too few); "학교" is left with one syllable.
    assert choose_beginnings(counts, 3) == {"학교에": 9, "학생": 6, "학": 9}
    assert choose_beginnings(counts, 1) == {"학": 24} or len(choose_beginnings(counts, 1)) == 1


@pytest.mark.parametrize("room", [0, 1, 2, 5, 17, 400])
def test_there_are_no_more_than_there_is_room_and_as_many_as_one_bound_allows(room):
    chance = random.Random(room)
    words = ["".join(chance.choices("abcd", k=chance.randint(1, 6))) for _ in range(300)]
    counts = {word: chance.randint(1, 20) for word in words}
    chosen = choose_beginnings(counts, room)
    assert len(chosen) <= room
    if not chosen:
        assert room == 0
        return
    least = min(chosen.values())
    standing_for = Counter()
    for word, count in counts.items():
        for length in range(min(LONGEST_BEGINNING, len(word) - 1), 0, -1):
            if word[:length] in chosen:
                standing_for[word[:length]] += count
                break
    assert standing_for == chosen
    left = [word for word in counts if not any(word[:n] in chosen for n in range(1, len(word)))]
    rest = Counter()
    for word in left:
        if len(word) > 1:
            rest[word[0]] += counts[word]
    assert all(count < least for count in rest.values())


def test_a_vocabulary_lists_words_and_beginnings_by_the_tokens_they_stand_for():
    counts = {"집": 9, "학교에": 4, "학교는": 3, "학교": 8, "a": 1, "<UNK>": 5, "집" + BEGINNING_MARK: 6}
    vocabulary = Vocabulary.from_counts(counts, max_size=6, num_beginnings=1)
    assert vocabulary.words == (*SPECIAL_WORDS, "집", "학교", "학교" + BEGINNING_MARK)
    assert vocabulary.ids(["집", "학교", "학교는", "학교에", "a", "학"]).tolist() == [3, 4, 5, 5, 2, 2]
    assert "학교는" not in vocabulary


def test_a_vocabulary_with_beginnings_survives_its_file(tmp_path):
    vocabulary = Vocabulary.from_counts({"ab": 3, "ac": 2, "ad": 2}, max_size=5, num_beginnings=1)
    vocabulary.write(tmp_path / "vocab.txt")
    read = Vocabulary.read(tmp_path / "vocab.txt")
    assert read == vocabulary
    assert read.id("ax") == vocabulary.id("ad") == vocabulary.words.index("a" + BEGINNING_MARK)
