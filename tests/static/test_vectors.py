"""Static vectors are read from every maker's layout, and every fault is named by its line or byte."""

import gzip
import lzma
import re
import struct
import tracemalloc
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo.errors import ConfigError, TextError, TextWarning
from elmo.static.vectors import StaticVectors, read_static_vectors, vectors_for_words, write_static_vectors

WORDS = ["the", "Café", "서울", "a/b", "12"]
VECTORS = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)


def text(words, vectors, *, header=True, end="\n"):
    lines = [f"{len(words)} {len(vectors[0])}"] if header else []
    lines += [f"{word} {' '.join(map(repr, vector))}" for word, vector in zip(words, vectors.tolist(), strict=True)]
    return "".join(f"{line}{end}" for line in lines).encode()


def binary(words, vectors, *, newline=b"\n"):
    rows = [word.encode() + b" " + struct.pack(f"<{len(vector)}f", *vector) + newline
            for word, vector in zip(words, vectors.tolist(), strict=True)]  # fmt: skip
    return f"{len(words)} {len(vectors[0])}\n".encode() + b"".join(rows)


LAYOUTS = {
    "word2vec text": text(WORDS, VECTORS),
    "fastText, a space before the line's end": text(WORDS, VECTORS, end=" \n"),
    "Windows line ends": text(WORDS, VECTORS, end="\r\n"),
    "byte order mark": b"\xef\xbb\xbf" + text(WORDS, VECTORS),
    "GloVe": text(WORDS, VECTORS, header=False),
    "word2vec binary": binary(WORDS, VECTORS),
    "gensim binary": binary(WORDS, VECTORS, newline=b""),
}


def written(tmp_path, content, name="vectors.txt"):
    path = tmp_path / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_the_same_words_and_numbers_of_all_wanted_and_first_words(tmp_path, layout):
    path = written(tmp_path, LAYOUTS[layout])
    for asked, places in (
        ({}, range(5)),
        ({"words": ["THE", "서울", "zebra"]}, [0, 2]),
        ({"words": []}, []),
        ({"max_words": 2}, [0, 1]),
        ({"max_words": 2, "words": ["A/B", "Café"]}, [0, 1, 3]),
    ):
        found = read_static_vectors(path, **asked)
        assert found.words == tuple(WORDS[place] for place in places)
        assert (found.vectors.dtype, found.dim) == (np.float32, 4)
        np.testing.assert_array_equal(found.vectors, VECTORS[list(places)])


@pytest.mark.parametrize(("ending", "pack"), [(".gz", gzip.compress), (".xz", lzma.compress)])
@pytest.mark.parametrize("layout", ["GloVe", "word2vec binary"])
def test_packed_files_are_unpacked(tmp_path, ending, pack, layout):
    found = read_static_vectors(written(tmp_path, pack(LAYOUTS[layout]), f"v.txt{ending}"))
    np.testing.assert_array_equal(found.vectors, VECTORS)


def test_zstandard_is_unpacked(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    packed = pyarrow.compress(LAYOUTS["GloVe"], codec="zstd", asbytes=True)
    assert read_static_vectors(written(tmp_path, packed, "v.zst")).words == tuple(WORDS)


# In NFD; of letters that NFC takes apart (Hindi) or replaces (hanja); marks in another order; partly composed.
APART = [
    *(unicodedata.normalize("NFD", word) for word in ("한국", "café")),
    "ब\u095cा",
    "\uf90a",
    "s\u0307\u0323",
    "ṡ\u0323",
]


@pytest.mark.parametrize("is_wanted", [False, True])
@pytest.mark.parametrize("binary", [False, True])
def test_a_file_knows_text_in_nfc_whatever_form_its_words_have(tmp_path, binary, is_wanted):
    words = ["cat", *APART[:5]]
    rows = [struct.pack("<2f", number, 1) if binary else b"%d 1" % number for number in range(1, 7)]
    content = b"".join(b"%s %s\n" % (word.encode(), row) for word, row in zip(words, rows, strict=True))
    path = written(tmp_path, b"6 2\n" + content)
    texts = [unicodedata.normalize("NFC", word) for word in words]
    found = read_static_vectors(path, words=[word.title() for word in texts[1:]] if is_wanted else None)
    assert found.words == tuple(texts[is_wanted:])
    assert found.lookup(["Café", texts[3], "dog"]).tolist() == [[3, 1], [4, 1], [0, 0]]
    path.write_bytes(b"%s 1 2\n" % APART[5].encode())
    assert read_static_vectors(path, words=["ṩ"]).words == ("ṩ",)


def test_a_word_is_looked_up_as_it_stands_and_then_lower_cased():
    vectors = StaticVectors(("us", "US", "apple"), np.array([[1.0], [2.0], [3.0]], dtype=np.float32))
    assert vectors.rows(["US", "us", "Us", "Apple", "pear"]).tolist() == [1, 0, 0, 2, -1]
    assert vectors.lookup(["Apple", "pear"]).tolist() == [[3.0], [0.0]]
    assert ("apple" in vectors, "Apple" in vectors) == (True, False)


FAULTS = {
    "too few numbers": (b"2 2\na 1 2\nb 1\n", r"v:3: the row has 1 fields after its word, but 2 are expected"),
    "too many numbers": (b"2 2\na 1 2\nb 1 2 3\n", r"v:3: the row has 3 fields"),
    "too many, no header": (b"a 1.0 2.0\nb 1.0 2.0 3.0\n", r"v:2: the row has 3 fields"),
    "too few, no header": (b"a 1 2\nb 1\n", r"v:2: the row has 1 fields"),
    "decimal commas": (b"1 2\nb 1,5 2,5\n", r"v:2: the row of 'b' has what is no number: .*'1,5'"),
    "no word": (b"1 2\n 1 2\n", r"v:2: the row has 2 fields"),
    "no number": (b"2 2\na 1 2\nb 1 x2\n", r"v:3: the row of 'b' has what is no number: .*'x2'"),
    "not finite": (b"2 2\na 1 2\nb 1 nan\n", r"v:3: number 2 of the row of 'b' is nan"),
    "too large": (b"a 1 1e60\n", r"v:1: number 2 of the row of 'a' is 1e\+60"),
    "not finite, binary": (
        binary(["a", "b"], np.array([[1.0], [np.inf]], dtype=np.float32)),
        r"v: byte 11: number 1 of the row of 'b' is inf",
    ),
}  # fmt: skip


def test_each_word_needs_a_row():
    for vectors in (np.zeros((3, 2), dtype=np.float32), np.zeros(2, dtype=np.float32)):
        with pytest.raises(ConfigError, match="2 words, but the vectors have shape"):
            StaticVectors(("a", "b"), vectors)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_row_is_named_or_left_out(tmp_path, fault):
    content, message = FAULTS[fault]
    path = written(tmp_path, content, "v")
    with pytest.raises(TextError, match=message):
        read_static_vectors(path)
    with pytest.warns(TextWarning, match=f"rows left out: 1. The first: .*{message}"):
        found = read_static_vectors(path, errors="skip")
    assert "b" not in found.words


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"3 2\na 1 2\nb 1 2\na 3 4\n", r"v:4, after .*v:2"),
        (binary(["a", "a"], VECTORS[:2]), "byte 23, after .*byte 4"),
    ],
)
def test_of_a_word_given_twice_the_first_vector_counts_and_it_is_said(tmp_path, content, place):
    path = written(tmp_path, content, "v")
    with pytest.warns(TextWarning, match=f"words that occur again: 1, the first of them 'a' at .*{place}"):
        found = read_static_vectors(path)
    with pytest.warns(TextWarning, match=rf"^{re.escape(str(path))}: words that occur again: 1"):  # no row was left out
        assert read_static_vectors(path, errors="skip").words == found.words
    assert found.words[0] == "a"
    assert found.vectors[0].tolist() in ([1, 2], VECTORS[0].tolist())


@pytest.mark.parametrize("header", ["", "4 2\n"])
def test_words_can_have_spaces_and_columns_tabs_and_the_file_a_blank_end(tmp_path, header):
    content = f"{header}a 1.5 -2\n. . . 0.25 1\n  3 4\nnew york 5 6 \n\n \n".encode()
    found = read_static_vectors(written(tmp_path, content))
    assert found.words == ("a", ". . .", " ", "new york")
    assert found.vectors.tolist() == [[1.5, -2], [0.25, 1], [3, 4], [5, 6]]
    with_tabs = content.replace(b" 1.5 -2", b"\t1.5\t-2").replace(b" 5 6", b"\t5\t6")
    assert read_static_vectors(written(tmp_path, with_tabs)).words == found.words
    assert read_static_vectors(written(tmp_path, with_tabs), words=["new york", " "]).words == (" ", "new york")


def test_text_that_only_its_numbers_tell_from_binary_is_not_taken_for_it(tmp_path):
    content = b"3 4\nthe ....of the ....x ....\nof ................\n"
    with pytest.raises(TextError, match=r"v:2: the row (has|of 'the' has what is no number)"):
        read_static_vectors(written(tmp_path, content, "v"))


def test_a_model_of_fasttext_gives_vectors_of_unseen_words_too(tmp_path):
    fasttext = pytest.importorskip("gensim.models.fasttext")
    sentences = [["the", "bank", "of", "a", "river", unicodedata.normalize("NFD", "한국")]] * 5
    model = fasttext.FastText(sentences, vector_size=4, min_count=1, epochs=1, bucket=50)
    fasttext.save_facebook_model(model, str(tmp_path / "m.bin"))
    every = read_static_vectors(tmp_path / "m.bin")
    assert every.words == tuple(unicodedata.normalize("NFC", word) for word in model.wv.index_to_key)
    assert set(every.words) == {"the", "bank", "of", "a", "river", "한국"}
    found = read_static_vectors(tmp_path / "m.bin", words=["The", "banks", "", "한국"])
    assert found.words == ("the", "banks", "한국")
    rows = [model.wv[word] for word in ("the", "banks", unicodedata.normalize("NFD", "한국"))]
    np.testing.assert_allclose(found.lookup(["The", "banks", "한국"]), rows, rtol=1e-6)
    assert len(read_static_vectors(tmp_path / "m.bin", words=["banks"], max_words=2)) == 3
    assert set(vectors_for_words(tmp_path / "m.bin", limit=0, counts={"banks": 1}).words) == {*every.words, "banks"}
    (tmp_path / "m.bin").write_bytes((tmp_path / "m.bin").read_bytes()[:60])
    with pytest.raises(TextError, match="is a fastText model that gensim can't read"):
        read_static_vectors(tmp_path / "m.bin")


WHOLE_FILES = {
    "cut off": (b"3 2\na 1 2\nb 1 2\n", r"v:3: the first line promises 3 words of dimension 2, but there are 2\."),
    "cut off, binary": (binary(WORDS, VECTORS)[:-9], r"v: byte 93: the first line promises 5 words .* there are 4\."),
    "too long, binary": (binary(WORDS, VECTORS) + b"x", r"v: byte 113: .* more than 5\."),
    "more than memory": (b"99999999999 2\na 1 2\n", r"there are 1\."),
    "only a header": (b"3 2\n", r"v:1: the first line promises 3 words of dimension 2, but there are 0\."),
    "empty": (b"", r"v:1: the line is b''"),
    "no vectors": (b"Once upon a time\n", r"v:1: the line is b'Once upon a time\\n', but a file of static vectors"),
    "endless word": (b"3 2\n" + b"\xff" * 300_000, r"v: byte 4: the first line promises 3 words"),
}


@pytest.mark.parametrize("file", WHOLE_FILES)
def test_a_file_that_is_not_what_it_says_is_refused(tmp_path, file):
    content, message = WHOLE_FILES[file]
    with pytest.raises(TextError, match=message):
        read_static_vectors(written(tmp_path, content, "v"))


def test_a_damaged_package_and_a_missing_file_are_refused(tmp_path):
    with pytest.raises(TextError, match="can't be read to its end"):
        read_static_vectors(written(tmp_path, gzip.compress(LAYOUTS["GloVe"])[:-20], "v.gz"))
    with pytest.raises(TextError, match="no such file"):
        read_static_vectors(tmp_path / "nothing")
    with pytest.raises(ConfigError, match="standard input"):
        read_static_vectors("-")
    with pytest.raises(ConfigError, match=r"errors must be one of .* \(got 'ignore'\)"):
        read_static_vectors(written(tmp_path, b"a 1\n"), errors="ignore")


def test_large_binary_files_are_found_out_and_read_over_block_ends(tmp_path):
    words = [f"w{number}" * (1 + number % 9) for number in range(6000)]
    vectors = np.random.default_rng(1).normal(size=(6000, 50)).astype(np.float32)
    path = written(tmp_path, binary(words, vectors))
    found = read_static_vectors(path)
    assert list(found.words) == words
    np.testing.assert_array_equal(found.vectors, vectors)


@pytest.mark.parametrize("content", [b"a 1 2\nb 1 2 ", b"2 2\na 1 2\nb 1 2 ", b""])
def test_a_row_without_an_end_is_refused_before_it_is_in_memory(tmp_path, content):
    path = written(tmp_path, lzma.compress(content + b"1" * (24 << 20), preset=0), "v.xz")
    number = content.count(b"\n") + 1
    tracemalloc.start()
    try:
        with pytest.raises(
            TextError, match=rf"v.xz:{number}: the line has more than 16,777,216 bytes.*ELMO_NO_LIMITS=1"
        ):
            read_static_vectors(path)
        assert tracemalloc.get_traced_memory()[1] < 40 << 20
    finally:
        tracemalloc.stop()


def test_a_first_row_longer_than_what_is_looked_at_is_read_whole(tmp_path):
    vector = np.arange(20_000, dtype=np.float32)[None]
    for header in (True, False):
        np.testing.assert_array_equal(
            read_static_vectors(written(tmp_path, text(["a"], vector, header=header))).vectors, vector
        )


def test_written_vectors_are_read_back_exactly_and_by_others(tmp_path):
    path = tmp_path / "v.txt"
    write_static_vectors(path, StaticVectors(tuple(WORDS), VECTORS))
    assert path.read_bytes().splitlines()[0] == b"5 4"
    found = read_static_vectors(path)
    assert list(found.words) == WORDS
    np.testing.assert_array_equal(found.vectors, VECTORS)


@pytest.mark.parametrize("word", ["", "a b", "a\nb", "a\tb", "a\rb"])
def test_a_word_that_the_layout_cannot_hold_is_refused(tmp_path, word):
    with pytest.raises(TextError, match="word2vec's text layout can't hold"):
        write_static_vectors(tmp_path / "v.txt", StaticVectors((word,), VECTORS[:1]))


@settings(max_examples=200)
@given(st.binary(max_size=200) | st.text("ab1,.- \t\r\n", max_size=200).map(str.encode))
def test_any_bytes_are_vectors_or_a_text_error(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(b"2 3\n" + content)
    try:
        found = read_static_vectors(path)
    except TextError:
        return
    assert np.isfinite(found.vectors).all()


@pytest.fixture
def path(tmp_path):
    return written(tmp_path, b"the 1 2\nof 3 4\ncat 5 6\ndog 7 8\n")


@pytest.mark.parametrize(("limit", "words"), [(0, "the of cat dog"), (1, "the cat"), (9, "the of cat dog")])
def test_a_task_takes_its_words_and_the_files_first_ones(path, limit, words):
    found = vectors_for_words(path, limit=limit, counts={"Cat": 1, "zebra": 1})
    assert found.words == tuple(words.split())
    assert found.lookup(["Cat", "zebra"]).tolist() == [[5, 6], [0, 0]]


def test_a_file_that_lacks_a_tasks_words_is_refused_or_it_is_said(path):
    with pytest.raises(TextError, match="has none of the 2 distinct words of the data"):
        vectors_for_words(path, limit=1, counts={"고양이": 1, "개": 1})
    counts = {"the": 4, "dog": 1, "Katze": 3, "hat": 1, "Hund": 2}
    with pytest.warns(TextWarning, match=r"has no vector for 55% .*, such as 'Katze', 'Hund', 'hat'; they get zeros"):
        vectors_for_words(path, limit=0, counts=counts)
    vectors_for_words(path, limit=0, counts={**counts, "the": 5})
