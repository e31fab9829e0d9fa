"""The words a language model predicts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo.errors import ConfigError, TextError
from elmo.text.targets.target_ids import SPECIAL_WORDS
from elmo.text.vocabulary import Vocabulary

COUNTS = {"b": 5, "a": 5, "rare": 1, "the": 9, "밥": 2}


def test_words_stand_by_descending_count_and_ties_by_themselves():
    assert Vocabulary.from_counts(COUNTS).words == ("<S>", "</S>", "<UNK>", "the", "a", "b", "밥", "rare")


@settings(max_examples=40)
@given(st.dictionaries(st.text(max_size=3), st.integers(1, 3)), st.randoms())
def test_the_order_of_counting_changes_nothing(counts, random):
    shuffled = list(counts.items())
    random.shuffle(shuffled)
    assert Vocabulary.from_counts(dict(shuffled)) == Vocabulary.from_counts(counts)


def test_size_includes_the_special_words():
    assert Vocabulary.from_counts(COUNTS, max_size=5).words == (*SPECIAL_WORDS, "the", "a")


def test_rare_words_are_left_out():
    assert Vocabulary.from_counts(COUNTS, min_count=5).words == (*SPECIAL_WORDS, "the", "a", "b")


def test_special_words_in_the_text_are_not_counted_again():
    assert Vocabulary.from_counts({"<UNK>": 100, "<S>": 3, "a": 1}).words == (*SPECIAL_WORDS, "a")


@pytest.mark.parametrize("size", [3, 0, -1])
def test_a_size_without_room_for_a_word_is_refused(size):
    with pytest.raises(ConfigError, match=f"size is {size}, but must be at least 4"):
        Vocabulary.from_counts(COUNTS, max_size=size)


def test_a_minimum_count_of_nothing_is_refused():
    with pytest.raises(ConfigError, match="min_count is 0"):
        Vocabulary.from_counts(COUNTS, min_count=0)


def test_a_count_that_no_word_reaches_is_refused_with_the_highest_one():
    with pytest.raises(
        ConfigError, match=r"min_count is 1001, but the most frequent word .* 'the', has a count of 1000"
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
    with pytest.raises(TextError, match="word 4 of the vocabulary is .*one word per line can't hold"):
        Vocabulary.from_counts({word: 1}).write(tmp_path / "vocab.txt")
    assert (tmp_path / "vocab.txt").read_text() == "old"


def read(folder, content: bytes) -> Vocabulary:
    (folder / "vocab.txt").write_bytes(content)
    return Vocabulary.read(folder / "vocab.txt")


def test_lines_are_stripped_and_a_blank_line_is_the_empty_word(tmp_path):
    vocabulary = read(tmp_path, "\ufeff<S>\r\n</S>\r\n<UNK>\r\n the\t\r\n\r\nend".encode())
    assert vocabulary.words == (*SPECIAL_WORDS, "the", "", "end")
    assert vocabulary.id("") == 4


def test_the_line_maxtermid_is_skipped(tmp_path):
    vocabulary = read(tmp_path, b"!!!MAXTERMID\n<S>\n</S>\n<UNK>\na\n!!!MAXTERMID\nb\n")
    assert vocabulary.words == (*SPECIAL_WORDS, "a", "b")


def test_a_word_that_readers_skip_is_not_listed(tmp_path):
    vocabulary = Vocabulary.from_counts({"!!!MAXTERMID": 9, "a": 1})
    assert vocabulary.words == (*SPECIAL_WORDS, "a")
    with pytest.raises(TextError, match="word 4 of the vocabulary is '!!!MAXTERMID', .* bilm-tf skips the line"):
        Vocabulary((*SPECIAL_WORDS, "!!!MAXTERMID")).write(tmp_path / "vocab.txt")


def test_of_equal_words_the_later_id_counts_and_both_rows_stay(tmp_path):
    vocabulary = read(tmp_path, b"<S>\n</S>\n<UNK>\na\nb\na\n<UNK>\n")
    assert len(vocabulary) == 7
    assert vocabulary.ids(["a", "b", "<UNK>", "nope"]).tolist() == [5, 4, 2, 2]


def test_words_with_inner_line_separators_stay_whole(tmp_path):
    assert read(tmp_path, "<S>\n</S>\n<UNK>\na\u2028b\x0cc\n".encode()).words[3:] == ("a\u2028b\x0cc",)


def test_a_vocabulary_without_special_words_is_refused_with_where_they_are(tmp_path):
    with pytest.raises(TextError) as caught:
        read(tmp_path, b"the\n<UNK>\n<S>\n")
    message = str(caught.value)
    assert "vocab.txt: the first three words must be <S>, </S>, <UNK>" in message
    assert "<S> in line 3, </S> nowhere, <UNK> in line 2" in message
    assert "elmo prepare" in message


def test_a_line_that_is_skipped_counts_among_the_lines_of_the_file(tmp_path):
    with pytest.raises(TextError, match="<S> in line 4, </S> in line 2, <UNK> in line 6") as caught:
        read(tmp_path, b"!!!MAXTERMID\n</S>\n!!!MAXTERMID\n<S>\n\n<UNK>\n")
    assert "the first three words must be <S>, </S>, <UNK>" in str(caught.value)


def test_words_without_special_ones_are_refused():
    with pytest.raises(TextError, match="Put these three words first"):
        Vocabulary(("a", "b"))


def test_a_file_that_is_missing_or_not_utf8_is_an_error(tmp_path):
    with pytest.raises(TextError, match="nowhere.txt: can't be read: No such file"):
        Vocabulary.read(tmp_path / "nowhere.txt")
    with pytest.raises(TextError, match=r"vocab.txt:1: not valid UTF-8 \(byte 0xE9 at column 4\)"):
        read(tmp_path, b"caf\xe9\n")
