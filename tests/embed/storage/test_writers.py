"""Files of vectors: AllenNLP's layout, npy, Parquet, and the way back."""

import json
import sys

import h5py
import numpy as np
import pytest

from elmo.embed.corpus.embed_corpus import embed_corpus
from elmo.embed.storage.layout import VectorLayout
from elmo.embed.storage.readers import read_vectors
from elmo.embed.storage.text_columns import StoredRow, TextColumns
from elmo.embed.storage.writers import FileContent
from elmo.errors import MissingExtraError, OutputError, TextError

SUFFIXES = (".hdf5", ".npy", ".parquet")


@pytest.mark.parametrize("layers", ["all", "average"])
@pytest.mark.parametrize("store", ["float32", "float16"])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_vectors_are_read_back_as_they_were_embedded(embedder, text, lines, tmp_path, suffix, store, layers):
    output = tmp_path / f"vectors{suffix}"
    embed_corpus(embedder, text, output, layers=layers, store=store, window=5)
    expected = embedder.embed(lines, layers)
    rounded = {"float32": 0, "float16": 2**-11}[store]  # by half of the last of 11 bits
    with read_vectors(output) as vectors:
        assert len(vectors) == len(lines)
        for found, array in zip(vectors, expected, strict=True):
            assert found.dtype == store
            assert found.shape == array.shape
            np.testing.assert_allclose(found, array, rtol=rounded, atol=2e-5)
        np.testing.assert_array_equal(vectors[-1], vectors[len(lines) - 1])
        assert [len(array) for array in vectors[:2]] == [len(array) for array in expected[:2]]
        with pytest.raises(IndexError, match=f"no row {len(lines)}: the file has {len(lines)} rows, counted from 0"):
            vectors[len(lines)]
        assert vectors.metadata == {
            "elmo_version": vectors.metadata["elmo_version"],
            "model_hash": embedder.model_hash,
            "layers": layers,
            "num_layers": "3",
            "dim": "16",
            "state": "zero",
            "dtype": "float32",
            "store": store,
            "tokenizer": "whitespace",
            "sentences": "lines",
            "keep_boundaries": "False",
            "run": vectors.metadata["run"],
        }


def test_hdf5_has_the_layout_of_allennlp(embedder, text, lines, tmp_path):
    embed_corpus(embedder, text, tmp_path / "vectors.hdf5")
    with h5py.File(tmp_path / "vectors.hdf5") as file:
        assert set(file) == {"sentence_to_index", "text", *map(str, range(len(lines)))}
        assert file["0"].shape == (3, 7, 16)
        assert file["1"].shape == (3, 0, 16)
        assert file["0"].dtype == np.float32
        assert file["sentence_to_index"].shape == (1,)
        index = json.loads(file["sentence_to_index"][0])
    assert index == {line.strip(): str(number) for number, line in enumerate(lines) if line.strip()}
    assert index["the cat sat on the mat ."] == "3"


def test_npy_is_one_array_for_numpy_alone(embedder, text, lines, tmp_path):
    embed_corpus(embedder, text, tmp_path / "vectors.npy")
    numbers = np.load(tmp_path / "vectors.npy", mmap_mode="r")
    offsets = np.load(tmp_path / "vectors.npy.offsets.npy")
    assert numbers.shape == (offsets[-1], 3, 16)
    assert np.diff(offsets).tolist() == [len(line.split()) for line in lines]
    fourth = embedder.embed(lines)[3]
    np.testing.assert_allclose(numbers[offsets[3] : offsets[4]].swapaxes(0, 1), fourth, rtol=0, atol=2e-5)


def test_parquet_has_a_row_for_each_line(embedder, text, lines, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    embed_corpus(embedder, text, tmp_path / "vectors.parquet", window=10)
    table = parquet.read_table(tmp_path / "vectors.parquet")
    assert table["index"].to_pylist() == list(range(len(lines)))
    assert table["tokens"].to_pylist() == [line.split() for line in lines]
    assert table["shape"][0].as_py() == [3, 7, 16]
    assert table.schema.field("vectors").type.value_type.list_size == 3 * 16
    assert parquet.ParquetFile(tmp_path / "vectors.parquet").num_row_groups == 3


def test_threads_that_read_one_parquet_file_get_their_own_rows(embedder, text, tmp_path, run_at_once):
    pytest.importorskip("pyarrow")
    embed_corpus(embedder, text, tmp_path / "vectors.parquet", window=3)
    with read_vectors(tmp_path / "vectors.parquet") as vectors:
        expected, lines = list(vectors), [vectors.row(row).line for row in range(len(vectors))]

        def read(number: int) -> None:
            for row in ((1, 5, 7)[number] * place % len(lines) for place in range(100)):
                assert np.array_equal(vectors[row], expected[row]) and vectors.row(row).line == lines[row]

        run_at_once(read, 3)


def test_a_number_float16_cannot_hold_is_an_error_that_names_its_line(tmp_path):
    layout = VectorLayout(np.array([1, 1]), None, 2, "float16")
    rows = [StoredRow([token], np.array([[0, 1]]), 1) for token in "ab"]
    arrays = [np.ones((1, 2), np.float32), np.array([[0, -70000]], np.float32)]
    texts, windows = (lambda: iter(rows)), (lambda: iter([arrays]))
    content = FileContent(layout, {}, TextColumns(), texts, lambda: None, windows, layout.lengths)
    for file_format in ("npy", "hdf5", "parquet"):
        with pytest.raises(OutputError, match="row 2 has the value 70000.*--store float32"):
            content.write(file_format, tmp_path / file_format)


def test_parquet_without_pyarrow_says_what_to_install(embedder, text, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"writing Parquet needs pyarrow.*pyelmo\[data\]"):
        embed_corpus(embedder, text, tmp_path / "vectors.parquet")
    assert not (tmp_path / "vectors.parquet.partial").exists()
    (tmp_path / "other.parquet").touch()
    with pytest.raises(MissingExtraError, match="reading Parquet"):
        read_vectors(tmp_path / "other.parquet")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_is_no_file_of_vectors_is_refused(tmp_path, suffix):
    path = tmp_path / f"wrong{suffix}"
    with pytest.raises(TextError, match="no such file"):
        read_vectors(path)
    path.write_bytes(b"no vectors at all")
    with pytest.raises(TextError, match=r"wrong\S*: can't be (used|read)|wrong\S*: there is"):
        read_vectors(path)
    with pytest.raises(TextError, match=r"vectors\.txt: there is no such file"):
        read_vectors(tmp_path / "vectors.txt")
    (tmp_path / "vectors.txt").write_bytes(b"no vectors at all")
    with pytest.raises(TextError, match=r"vectors\.txt: is neither HDF5 nor npy nor Parquet"):
        read_vectors(tmp_path / "vectors.txt")


def test_a_damaged_row_of_hdf5_is_told_when_it_is_read(embedder, text, tmp_path):
    output = tmp_path / "v.h5"
    embed_corpus(embedder, text, output, compress=True)
    with h5py.File(output) as file:
        place = file["0"].id.get_chunk_info(0).byte_offset
    with output.open("r+b") as file:
        file.seek(place)
        file.write(b"\xff" * 16)
    with read_vectors(output) as vectors:
        for read in (lambda: vectors[0], lambda: vectors[:2]):
            with pytest.raises(TextError, match=r"v\.h5: can't be used: .* no file of vectors"):
                read()
        assert len(vectors[2])
    with pytest.raises(TextError, match=r"v\.h5: was closed"):
        vectors[2]


def test_a_damaged_npy_is_refused(embedder, text, tmp_path):
    """np.load raises tokenize.TokenError for some headers, and offsets that lead elsewhere give other rows' vectors."""
    output, offsets = tmp_path / "v.npy", tmp_path / "v.npy.offsets.npy"
    embed_corpus(embedder, text, output)
    good, places = output.read_bytes(), np.load(offsets)
    for header in (good.replace(b"'shape': (", b"'shape': (("), good[:-4], good + b"x"):
        output.write_bytes(header)
        with pytest.raises(TextError, match=r"v.npy: can't be used: .* Embed the text"):
            read_vectors(output)
    output.write_bytes(good)
    metadata = tmp_path / "v.npy.metadata.json"
    for facts in ("[]", '{"files": 3}'):
        metadata.write_text(facts, encoding="utf-8")
        with pytest.raises(TextError, match=r"v.npy: can't be used: .* Embed the text"):
            read_vectors(output)
    metadata.unlink()
    for other in (places[:-1], places[::-1], places + 1, places[:0], places * 2):
        np.save(offsets, other)
        with pytest.raises(TextError, match=r"v.npy: can't be used: its .* vectors"):
            read_vectors(output)


def test_a_file_of_something_else_is_refused(tmp_path):
    with h5py.File(tmp_path / "weights.hdf5", "w") as file:
        file["CNN/W_cnn_0"] = np.zeros(3)
    with pytest.raises(TextError, match=r"weights.hdf5: .* not named 0, 1, 2"):
        read_vectors(tmp_path / "weights.hdf5")
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table({"text": ["a b", "c"]}), tmp_path / "texts.parquet")
    with pytest.raises(TextError, match=r"texts.parquet: can't be used: .*vectors"):
        read_vectors(tmp_path / "texts.parquet")


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names are Unicode there")
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_names_that_are_not_utf8_are_written_and_read(embedder, text, lines, tmp_path, suffix):
    (tmp_path / "a\udcff.txt").write_bytes(text.read_bytes())
    output = tmp_path / f"out\udcfe{suffix}"
    embed_corpus(embedder, [text, tmp_path / "a\udcff.txt"], output)
    with read_vectors(output) as vectors:
        assert json.loads(vectors.metadata["files"]) == ["corpus.txt", "a\\udcff.txt"]
        assert [vectors.row(row).file for row in (0, len(lines))] == [0, 1]
        np.testing.assert_array_equal(vectors[len(lines)], vectors[0])


@pytest.mark.skipif(sys.platform == "win32", reason="locks are of another kind there")
def test_hdf5_is_read_where_its_locks_can_not_be_had(embedder, text, tmp_path):
    fcntl = pytest.importorskip("fcntl")
    embed_corpus(embedder, text, tmp_path / "v.h5")
    with (tmp_path / "v.h5").open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # what HDF5 would wait for in vain
        with read_vectors(tmp_path / "v.h5") as vectors:
            assert len(vectors[0])
