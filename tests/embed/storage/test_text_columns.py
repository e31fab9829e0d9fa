"""What joins the vectors in a file to the text: tokens, spans, lines and sentences, in every format, checked."""

import json

import h5py
import numpy as np
import pytest

from elmo.embed.corpus.embed_corpus import embed_corpus
from elmo.embed.embedder import Embedder
from elmo.embed.storage.readers import read_vectors
from elmo.embed.storage.text_columns import storable
from elmo.errors import TextError

SUFFIXES = (".hdf5", ".npy", ".parquet")
RAW = "It rained. We stayed in (London).\n\n비가 왔다. 우리는 남았다.\nend\n"


@pytest.fixture
def raw(tmp_path):
    path = tmp_path / "raw.txt"
    path.write_text(RAW, encoding="utf-8")
    return path


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_token_stands_in_the_text_where_the_file_says(embedder, raw, tmp_path, suffix):
    output = tmp_path / f"vectors{suffix}"
    embed_corpus(embedder, raw, output, tokenizer="unicode", sentences="within-lines", window=2)
    lines = RAW.split("\n")
    with read_vectors(output) as vectors:
        rows = [vectors.row(row) for row in range(len(vectors))]
        assert [(row.line, row.sentence) for row in rows] == [(1, 1), (1, 2), (2, 1), (3, 1), (3, 2), (4, 1)]
        assert rows[1].tokens == ["We", "stayed", "in", "(", "London", ")", "."]
        for row, array in zip(rows, vectors, strict=True):
            assert [lines[row.line - 1][start:end] for start, end in row.spans.tolist()] == row.tokens
            assert array.shape[1] == len(row.tokens)
        assert vectors.row(-1).tokens == ["end"]
        with pytest.raises(IndexError):
            vectors.row(6)
        assert "6 rows" in repr(vectors)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("layers", ["all", "top"])
def test_a_table_joins_tokens_and_vectors(embedder, raw, tmp_path, suffix, layers):
    output = tmp_path / f"vectors{suffix}"
    embed_corpus(embedder, raw, output, layers=layers, tokenizer="unicode")
    with read_vectors(output) as vectors:
        table = vectors.to_pandas()
    assert list(table.columns) == ["row", "line", "sentence", "position", "token", "start", "end", "vector"]
    lines = RAW.split("\n")
    assert [lines[it.line - 1][it.start : it.end] for it in table.itertuples()] == list(table.token)
    (korean,) = embedder.embed([["비가", "왔다", ".", "우리는", "남았다", "."]], layers)
    of_line = np.stack(table[table.line == 3].vector)
    np.testing.assert_allclose(of_line, korean.swapaxes(0, 1) if layers == "all" else korean, atol=2e-5)


def test_hdf5_lies_as_documented(embedder, raw, tmp_path):
    embed_corpus(embedder, raw, tmp_path / "v.h5", tokenizer="unicode")
    with h5py.File(tmp_path / "v.h5") as file:
        text = file["text"]
        assert sorted(text) == ["line", "offsets", "sentence", "spans", "tokens"]
        offsets = text["offsets"][:]
        assert offsets.tolist()[:3] == [0, 10, 10]
        assert text["tokens"].asstr()[offsets[2] : offsets[3]].tolist() == [
            "비가",
            "왔다",
            ".",
            "우리는",
            "남았다",
            ".",
        ]
        assert text["spans"].shape == (offsets[-1], 2)
        assert text["line"][:].tolist() == [1, 2, 3, 4]


def test_several_files_are_told_apart(embedder, raw, tmp_path):
    (tmp_path / "b.jsonl").write_text('{"text": "in b"}\n', encoding="utf-8")
    for suffix in SUFFIXES:
        output = tmp_path / f"v{suffix}"
        embed_corpus(embedder, [raw, tmp_path / "b.jsonl"], output, tokenizer="unicode")
        with read_vectors(output) as vectors:
            assert json.loads(vectors.metadata["files"]) == ["raw.txt", "b.jsonl"]
            assert [vectors.row(row).file for row in range(5)] == [0, 0, 0, 0, 1]
            assert vectors.row(4).line == 1
    with h5py.File(tmp_path / "v.hdf5") as file:
        assert file["text/files"].asstr()[:].tolist() == ["raw.txt", "b.jsonl"]
        assert file["text/file"][:].tolist() == [0, 0, 0, 0, 1]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_boundaries_stand_among_the_tokens(tiny_checkpoint, raw, tmp_path, suffix):
    output = tmp_path / f"v{suffix}"
    embed_corpus(Embedder(tiny_checkpoint, keep_boundaries=True), raw, output, tokenizer="unicode")
    with read_vectors(output) as vectors:
        row = vectors.row(3)
        assert row.tokens == ["<S>", "end", "</S>"]
        assert row.spans.tolist() == [[-1, -1], [0, 3], [-1, -1]]
        assert (vectors[3].shape[1], vectors[1].shape[1]) == (3, 2)  # also on a blank line
        assert len(vectors.to_pandas()) == sum(array.shape[1] for array in vectors)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_words_that_are_left_out_leave_their_places(embedder, raw, tmp_path, suffix):
    output = tmp_path / f"v{suffix}"
    embed_corpus(embedder, raw, output, tokenizer="unicode", forget_sentences=True)
    with read_vectors(output) as vectors:
        assert vectors.row(3).tokens == []
        assert vectors.row(3).spans.tolist() == [[0, 3]]
        assert "token" not in vectors.to_pandas().columns
    for path in tmp_path.glob("v*"):
        assert b"London" not in path.read_bytes()  # other letters would be escaped in JSON


def test_a_file_of_another_program_says_that_it_has_no_tokens(tmp_path):
    with h5py.File(tmp_path / "theirs.h5", "w") as file:
        file["0"] = np.zeros((3, 2, 4), np.float32)
    with read_vectors(tmp_path / "theirs.h5") as vectors:
        assert len(vectors) == 1
        with pytest.raises(TextError, match="not the tokens that they belong to"):
            vectors.row(0)
    np.save(tmp_path / "a.npy", np.zeros((2, 4), np.float32))
    np.save(tmp_path / "a.npy.offsets.npy", [0, 2])
    with read_vectors(tmp_path / "a.npy") as vectors, pytest.raises(TextError, match="another program"):
        vectors.row(0)


def test_a_text_file_of_another_run_is_noticed(embedder, raw, tmp_path):
    embed_corpus(embedder, raw, tmp_path / "v.npy", tokenizer="unicode")
    beside = tmp_path / "v.npy.text.jsonl"
    content = beside.read_text(encoding="utf-8")
    beside.write_text(content + content, encoding="utf-8")
    with read_vectors(tmp_path / "v.npy") as vectors, pytest.raises(TextError, match="belong to different runs"):
        vectors.row(0)
    beside.write_text(content.replace("[", "", 1), encoding="utf-8")
    with read_vectors(tmp_path / "v.npy") as vectors, pytest.raises(TextError, match=r"text.jsonl: can't be used"):
        vectors.row(0)


def test_json_beside_npy_is_readable(embedder, raw, tmp_path):
    embed_corpus(embedder, raw, tmp_path / "v.npy", tokenizer="unicode")
    assert "비가" in (tmp_path / "v.npy.text.jsonl").read_text(encoding="utf-8")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_tokens_that_a_file_can_not_hold_are_marked(embedder, tmp_path, suffix):
    path = tmp_path / "t.jsonl"
    path.write_text('{"text": ["a\\u0000b", "c"]}\n', encoding="utf-8")
    embed_corpus(embedder, path, tmp_path / f"v{suffix}")
    with read_vectors(tmp_path / f"v{suffix}") as vectors:
        assert vectors.row(0).tokens == ["a\u2400b", "c"]
    assert storable("\ud800") == "?"


@pytest.mark.parametrize(("lost", "name"), [("0", "/"), ("text/offsets", "/text"), ("text/line", "/text")])
def test_a_file_without_one_of_its_datasets_is_refused_by_name(embedder, raw, tmp_path, lost, name):
    output = tmp_path / "vectors.hdf5"
    embed_corpus(embedder, raw, output, tokenizer="unicode")
    with h5py.File(output, "a") as file:
        del file[lost]
        file.create_group(lost)  # of the same name, so that the number of rows stays
    with (
        read_vectors(output) as vectors,
        pytest.raises(TextError, match=rf"{name}: there is no dataset '{lost.split('/')[-1]}'.* Embed the text again"),
    ):
        vectors.row(0)
        vectors[0]
