"""What a language model predicts for a token."""

import pytest

from elmo.errors import TextError
from elmo.text.targets.target_ids import BEGINNING_MARK, SPECIAL_WORDS, TargetIds, is_beginning


def _ids(*entries: str) -> TargetIds:
    return TargetIds([*SPECIAL_WORDS, *entries])


def test_a_listed_token_is_its_own_target_and_others_are_unknown():
    ids = _ids("학교", "학교에서")
    assert [ids.id(token) for token in ("학교", "학교에서", "학교도", "")] == [3, 4, 2, 2]
    assert "학교" in ids
    assert "학교도" not in ids


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


def test_of_equal_entries_the_last_counts_but_special_words_stay():
    ids = _ids("a", "b", "a", "<UNK>")
    assert ids.id("a") == 5
    assert (ids.begin, ids.end, ids.unknown) == (0, 1, 2)


def test_special_words_may_stand_anywhere_but_must_be_there():
    ids = TargetIds(["a", "<UNK>", "</S>", "<S>"])
    assert (ids.begin, ids.end, ids.unknown, ids.id("x")) == (3, 2, 1, 1)
    with pytest.raises(TextError, match="the vocabulary has no </S> and no <UNK>, which language models predict"):
        TargetIds(["<S>", "a"])
