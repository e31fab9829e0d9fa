"""Vocabularies: their files and counts, which beginnings they list, and what a language model predicts for a token."""

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo.errors import ConfigError, TextError
from elmo.text.vocabulary import (
    BEGINNING_MARK,
    LONGEST_BEGINNING,
    SPECIAL_WORDS,
    TargetIds,
    Vocabulary,
    choose_beginnings,
    is_beginning,
)

COUNTS = {"b": 5, "a": 5, "rare": 1, "the": 9, "밥": 2}


@pytest.mark.parametrize(
    ("counts", "settings", "words"),
    [
        (COUNTS, {}, ["the", "a", "b", "밥", "rare"]),
        (COUNTS, {"max_size": 5}, ["the", "a"]),
        (COUNTS, {"min_count": 5}, ["the", "a", "b"]),
        ({"<UNK>": 100, "<S>": 3, "a": 1}, {}, ["a"]),
    ],
)
def test_words_stand_behind_the_special_ones_by_descending_count(counts, settings, words):
    assert Vocabulary.from_counts(counts, **settings).words == (*SPECIAL_WORDS, *words)


@settings(max_examples=40)
@given(st.dictionaries(st.text(max_size=3), st.integers(1, 3)), st.randoms())
def test_the_order_of_counting_changes_nothing(counts, random):
    shuffled = list(counts.items())
    random.shuffle(shuffled)
    assert Vocabulary.from_counts(dict(shuffled)) == Vocabulary.from_counts(counts)


def test_a_count_that_no_word_reaches_is_refused_with_the_highest_one():
    with pytest.raises(
        ConfigError, match=r"min_count must be at most 1000, the count of the first word 'the' .got 1001"
    ):
        Vocabulary.from_counts({"a": 2, "the": 1000, "<UNK>": 2000}, min_count=1001)
    assert Vocabulary.from_counts({"a": 2, "the": 1000}, min_count=1000).words == (*SPECIAL_WORDS, "the")
    assert Vocabulary.from_counts({}, min_count=9).words == SPECIAL_WORDS


def test_unknown_words_get_the_id_of_unk():
    vocabulary = Vocabulary.from_counts(COUNTS)
    ids = vocabulary.ids(["the", "nope", "", "<S>", "</S>", "<UNK>", "밥"])
    assert ids.dtype == np.int64
    assert ids.tolist() == [3, 2, 2, 0, 1, 2, 6]
    assert [vocabulary.id("the"), vocabulary.id("nope"), vocabulary.unknown_id] == [3, 2, 2]
    assert vocabulary.ids([]).shape == (0,)
    assert len(vocabulary) == 8
    assert "the" in vocabulary
    assert "nope" not in vocabulary


def test_a_file_comes_back_as_it_was_written(tmp_path):
    vocabulary = Vocabulary.from_counts(COUNTS)
    vocabulary.write(tmp_path / "vocab.txt")
    assert (tmp_path / "vocab.txt").read_bytes() == "<S>\n</S>\n<UNK>\nthe\na\nb\n밥\nrare\n".encode()
    assert Vocabulary.read(tmp_path / "vocab.txt") == vocabulary
    assert [path.name for path in tmp_path.iterdir()] == ["vocab.txt"]


@pytest.mark.parametrize("word", ["a\nb", "a\rb", " a", "\ud800"])
def test_a_word_no_line_can_hold_is_refused_and_the_old_file_stays(tmp_path, word):
    (tmp_path / "vocab.txt").write_text("old")
    with pytest.raises(TextError, match="word 4 of the vocabulary, .* fits in no line"):
        Vocabulary.from_counts({word: 1}).write(tmp_path / "vocab.txt")
    assert (tmp_path / "vocab.txt").read_text() == "old"


def read(folder, content: bytes) -> Vocabulary:
    (folder / "vocab.txt").write_bytes(content)
    return Vocabulary.read(folder / "vocab.txt")


def test_each_line_but_maxtermid_is_a_word_without_the_blanks_around_it(tmp_path):
    vocabulary = read(tmp_path, "\ufeff<S>\r\n</S>\r\n<UNK>\r\n the\t\r\n\r\nend".encode())
    assert vocabulary.words == (*SPECIAL_WORDS, "the", "", "end")
    assert vocabulary.id("") == 4
    assert read(tmp_path, b"!!!MAXTERMID\n<S>\n</S>\n<UNK>\na\n!!!MAXTERMID\nb\n").words[3:] == ("a", "b")
    assert read(tmp_path, "<S>\n</S>\n<UNK>\na\u2028b\x0cc\n".encode()).words[3:] == ("a\u2028b\x0cc",)


def test_a_word_that_readers_skip_is_not_listed(tmp_path):
    vocabulary = Vocabulary.from_counts({"!!!MAXTERMID": 9, "a": 1})
    assert vocabulary.words == (*SPECIAL_WORDS, "a")
    with pytest.raises(TextError, match="word 4 of the vocabulary, '!!!MAXTERMID', .* bilm-tf skips the line"):
        Vocabulary((*SPECIAL_WORDS, "!!!MAXTERMID")).write(tmp_path / "vocab.txt")


def test_of_equal_words_the_later_id_counts_and_both_rows_stay(tmp_path):
    vocabulary = read(tmp_path, b"<S>\n</S>\n<UNK>\na\nb\na\n<UNK>\n")
    assert len(vocabulary) == 7
    assert vocabulary.ids(["a", "b", "<UNK>", "nope"]).tolist() == [5, 4, 2, 2]


def test_a_vocabulary_that_begins_with_other_words_is_refused(tmp_path):
    with pytest.raises(TextError) as caught:
        read(tmp_path, b"the\n<UNK>\n<S>\n")
    message = str(caught.value)
    assert "vocab.txt: the first three words must be <S>, </S>, <UNK> (got the, <UNK>, <S>)" in message
    assert "elmo prepare" in message


def test_a_file_that_is_missing_or_not_utf8_is_an_error(tmp_path):
    with pytest.raises(TextError, match="nowhere.txt: there is no such file"):
        Vocabulary.read(tmp_path / "nowhere.txt")
    with pytest.raises(TextError, match=r"vocab.txt:1: not valid UTF-8"):
        read(tmp_path, b"caf\xe9\n")


def test_longer_beginnings_are_chosen_first_and_take_their_tokens_along():
    counts = {"학교에서": 5, "학교에도": 4, "학교": 9, "학생은": 3, "학생이": 3, "학": 50, "새": 8}
    # All nine of "학교에"; six of "학생" (of "학생은" and "학생이" alone too few); "학교" is left with one syllable.
    assert choose_beginnings(counts, 3) == {"학교에": 9, "학생": 6, "학": 9}
    assert choose_beginnings(counts, 1) == {"학": 24}


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


def _ids(*entries: str) -> TargetIds:
    return TargetIds([*SPECIAL_WORDS, *entries])


def test_an_unlisted_token_has_its_longest_beginning_as_target():
    ids = _ids("학교", "학" + BEGINNING_MARK, "학교" + BEGINNING_MARK)
    assert ids.id("학교") == 3
    assert ids.id("학생") == 4
    assert ids.id("학교도") == ids.id("학교에서는") == 5
    assert ids.id("대학") == ids.unknown == 2
    assert "학교도" not in ids


def test_a_beginning_is_shorter_than_its_token():
    ids = _ids("학" + BEGINNING_MARK)
    assert ids.id("학") == ids.unknown
    assert ids.id("학자") == 3


def test_the_spelling_of_a_beginning_is_no_listed_token():
    mark = "a" + BEGINNING_MARK
    assert is_beginning(mark)
    assert not is_beginning(BEGINNING_MARK)
    assert not is_beginning("a\N{MIDLINE HORIZONTAL ELLIPSIS}")
    ids = _ids(mark, "a\N{MIDLINE HORIZONTAL ELLIPSIS}")
    assert mark not in ids
    assert ids.id(mark) == 3  # it begins with "a"
    assert ids.id("a\N{MIDLINE HORIZONTAL ELLIPSIS}") == 4


def test_special_words_may_stand_anywhere_but_must_be_there():
    ids = TargetIds(["a", "<UNK>", "</S>", "<S>"])
    assert (ids.begin, ids.end, ids.unknown, ids.id("x")) == (3, 2, 1, 1)
    with pytest.raises(TextError, match="the vocabulary has no </S> and no <UNK>. Put"):
        TargetIds(["<S>", "a"])
