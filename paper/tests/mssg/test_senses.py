"""MSSG's file of sense vectors: what is written is read again, what is damaged is refused with its line."""

import dataclasses
import gzip
import unicodedata

import numpy as np
import pytest

from elmo.errors import TextError
from elmo.static.vectors import StaticVectors
from elmo_paper.mssg.senses import SenseVectors, read_sense_vectors, write_sense_vectors

LINES = """3 2 2 0
은행 2
1 0
0.5 0.25
1 1
-1 2e-3
-1 -1
the 1
0 1
3 3
0 0
돈 1
0 2
4 4
1 0
"""


def made(words=("은행", "the", "é"), *, is_maxout=False):
    random = np.random.default_rng(0)
    static = StaticVectors(words, random.standard_normal((3, 4)).astype(np.float32))
    vectors, centroids = random.standard_normal((2, 5, 4)).astype(np.float32)
    return SenseVectors(static, vectors, None if is_maxout else centroids, np.array([0, 3, 4, 5]))


@pytest.mark.parametrize("is_maxout", [False, True])
@pytest.mark.parametrize("suffix", [".txt", ".txt.gz"])
def test_what_is_written_is_read_again(tmp_path, is_maxout, suffix):
    senses, path = made(is_maxout=is_maxout), tmp_path / f"senses{suffix}"
    write_sense_vectors(tmp_path / "plain", senses)
    content = (tmp_path / "plain").read_bytes()
    path.write_bytes(gzip.compress(content) if suffix.endswith("gz") else content)
    found = read_sense_vectors(path)
    assert found.static.words == senses.static.words
    np.testing.assert_array_equal(found.static.vectors, senses.static.vectors)
    np.testing.assert_array_equal(found.vectors, senses.vectors)
    np.testing.assert_array_equal(found.bounds, senses.bounds)
    assert (found.centroids is None) == is_maxout
    if not is_maxout:
        np.testing.assert_array_equal(found.centroids, senses.centroids)
    assert content.splitlines()[0] == f"3 4 3 {int(is_maxout)}".encode()


def test_a_window_is_noted_unless_it_is_that_of_files_that_note_none(tmp_path):
    for window, header in ((5, b"3 4 3 0"), (12, b"3 4 3 0 12")):
        write_sense_vectors(tmp_path / "senses", dataclasses.replace(made(), window=window))
        assert (tmp_path / "senses").read_bytes().splitlines()[0] == header
        assert read_sense_vectors(tmp_path / "senses").window == window


def test_words_are_read_in_composed_form_unless_that_has_a_row_too(tmp_path):
    apart = [unicodedata.normalize("NFD", word) for word in ("은행", "é")]
    write_sense_vectors(tmp_path / "senses", made((*apart, "é")))
    assert read_sense_vectors(tmp_path / "senses").static.words == ("은행", apart[1], "é")


def test_the_lines_are_a_word_its_global_vector_and_each_sense_with_its_centroid(tmp_path):
    (tmp_path / "senses").write_text(LINES, encoding="utf-8")
    found = read_sense_vectors(tmp_path / "senses")
    assert found.static.words == ("은행", "the", "돈")
    assert found.static.vectors.tolist() == [[1, 0], [0, 1], [0, 2]]
    assert found.vectors.tolist() == [[0.5, 0.25], [-1, np.float32(2e-3)], [3, 3], [4, 4]]
    assert found.centroids.tolist() == [[1, 1], [-1, -1], [0, 0], [1, 0]]
    assert (found.rows("은행"), found.rows("THE"), found.rows("nothing")) == (range(2), range(2, 3), range(0))
    assert [found.rows(word) for word in ("은행", "the", "돈")] == [range(2), range(2, 3), range(3, 4)]


def test_words_are_utf_8_or_what_the_authors_program_writes(tmp_path):
    path = tmp_path / "senses"
    path.write_bytes("1 1 1 1\ncafé€ 1\n1\n2\n".encode("iso8859-15"))
    assert read_sense_vectors(path).static.words == ("café€",)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("은행 2\n1 0\n", ":1: the line is .* begins with four numbers"),
        ("3 2 2 5\n", ":1: the line is .* begins with four numbers"),
        ("3 0 2 0\n", ":1: the line promises 0 dimensions"),
        ("3 99999 2 0\n", ":1: the line promises 99,999 dimensions"),
        ("3 2 9999 0\n", ":1: the line promises 2 dimensions and 9,999 senses"),
        (LINES.replace("은행 2", "은행 3"), ":2: the line is .* not a word and how many of at most 2"),
        (LINES.replace("은행 2", "은행 000000001" + "0" * 5000), ":2: the line is .* not a word and how many"),
        (LINES.replace("은행 2", "은행 1"), ":6: the line is .* not a word and how many"),
        (LINES.replace("3 3", "3 3 3"), ":10: the line has 3 numbers, but the first line promises vectors of 2"),
        (LINES.replace("3 3", "3 x"), ":10: the line has b'3 x' where 2 numbers are expected"),
        (LINES.replace("3 3", "3 1e99"), ":10: the line has a number that isn't finite"),
        (LINES.replace("돈", "the"), r":12: the line has the word b'the' again, which line 8 has"),
        (LINES.replace("the 1", "\nthe 1"), ":8: the line is blank, but others follow"),
        (LINES + "more 1\n1 1\n1 1\n1 1\n", ":16: the line begins another word, but the first line promises 3"),
        (LINES.replace("3 2 2 0", "4 2 2 0"), ":15: the line is the last one, with 3 words"),
        ("".join(LINES.splitlines(keepends=True)[:-1]), ":14: the line has 0 numbers"),
    ],
)
def test_a_damaged_file_is_refused_with_its_line(tmp_path, wrong, message):
    path = tmp_path / "senses"
    path.write_text(wrong, encoding="utf-8")
    with pytest.raises(TextError, match=f"senses{message}") as caught:
        read_sense_vectors(path)
    assert "elmo-paper mssg TEXT -o FILE" in str(caught.value)


def test_empty_missing_and_cut_off_files_are_refused(tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(TextError, match="empty"):
        read_sense_vectors(tmp_path / "empty")
    with pytest.raises(TextError, match="no such file"):
        read_sense_vectors(tmp_path / "nothing")
    (tmp_path / "cut.gz").write_bytes(gzip.compress(LINES.encode())[:-12])
    with pytest.raises(TextError, match="cut.gz"):
        read_sense_vectors(tmp_path / "cut.gz")


def test_a_word_that_the_format_cannot_hold_is_not_written(tmp_path):
    with pytest.raises(TextError, match=r"the word 'a b' is empty or has a space"):
        write_sense_vectors(tmp_path / "senses", made(("a b", "c", "d")))


def test_a_context_is_the_mean_of_the_known_words_around(tmp_path):
    random = np.random.default_rng(1)
    senses = made(("a", "b", "c"))
    sentence = [str(random.choice(["a", "b", "c", "unknown"])) for _ in range(40)]
    found = senses.contexts(sentence, 2)
    known = [place for place, word in enumerate(sentence) if word != "unknown"]
    for place in range(40):
        before, after = [at for at in known if at < place][-2:], [at for at in known if at > place][:2]
        expected = senses.static.lookup([sentence[at] for at in before + after]).mean(axis=0)
        np.testing.assert_allclose(found[place], expected, rtol=1e-5, atol=1e-6)
    assert senses.contexts(["a", "unknown"], 2)[0].tolist() == [0] * 4
    assert senses.contexts([], 2).shape == (0, 4)


@pytest.mark.parametrize("is_maxout", [False, True])
def test_the_context_chooses_the_nearest_sense(is_maxout):
    senses = made(("a", "b", "c"), is_maxout=is_maxout)
    contexts = np.random.default_rng(2).standard_normal((6, 4)).astype(np.float32)
    contexts[4] = 0
    found = senses.chosen(["a", "a", "A", "b", "a", "unknown"], contexts)
    for place in range(3):
        if is_maxout:
            expected = (senses.vectors[:3] @ contexts[place]).argmax()
        else:
            near = senses.centroids[:3] / np.linalg.norm(senses.centroids[:3], axis=1, keepdims=True)
            expected = (near @ contexts[place]).argmax()
        assert found[place] == expected
    assert found[3:].tolist() == [3, 0, -1]  # the only one; without context the first; unknown
