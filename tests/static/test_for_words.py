"""A task takes its words' vectors and the file's first ones, and refuses a file of another language."""

import pytest

from elmo.errors import TextError, TextWarning
from elmo.static.vectors import vectors_for_words
from elmo.tasks.tokens.static_embedding import StaticEmbedding


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("the 1 2\nof 3 4\ncat 5 6\ndog 7 8\n")
    return path


@pytest.mark.parametrize(("limit", "words"), [(0, ["the", "of", "cat", "dog"]), (1, ["the", "cat"]), (9, None)])
def test_wanted_words_and_first_ones_are_read(path, limit, words):
    found = vectors_for_words(path, limit=limit, counts={"Cat": 1, "zebra": 1})
    assert list(found.words) == (words or ["the", "of", "cat", "dog"])
    assert StaticEmbedding(found)([["Cat", "zebra"]]).tolist() == [[[5.0, 6.0], [0.0, 0.0]]]


def test_vectors_of_none_of_the_words_are_refused(path):
    with pytest.raises(TextError, match="has none of the 2 distinct words of the data"):
        vectors_for_words(path, limit=1, counts={"고양이": 1, "개": 1})


def test_it_is_said_if_most_tokens_have_no_vector(path):
    counts = {"the": 4, "dog": 1, "Katze": 3, "hat": 1, "Hund": 2}
    with pytest.warns(TextWarning, match=r"has no vector for 55% .*, such as 'Katze', 'Hund', 'hat'; they get zeros"):
        vectors_for_words(path, limit=0, counts=counts)
    vectors_for_words(path, limit=0, counts={**counts, "the": 5})
