"""FASTA -> files of vectors: a dataset for each id, in the order of the text; one vector a residue, or pooled."""

import random

import h5py
import numpy as np
import pytest

from elmo import reference
from elmo.embed.corpus.embed_corpus import embed_corpus
from elmo.embed.embedder import Embedder
from elmo.embed.storage.readers import read_vectors
from elmo.errors import ConfigError, TextError

SUFFIXES = (".h5", ".npy", ".parquet")
TINY_TOLERANCE = 1e-5
"""Rounding of float32 in a network of sixteen cells whose values are below one: far more than its hundred products."""
LETTERS = "ACDEFGHIKLMNPQRSTVWYBJOUXZ"


def generated(count: int, seed: int = 1) -> tuple[str, list[tuple[str, str]]]:
    """A FASTA file with every oddity of the format, and the ids and letters in it."""
    chance = random.Random(seed)
    text, proteins = [], []
    for number in range(count):
        id = chance.choice(["sp|P{0}|NAME_HUMAN", "P{0}.2", "a/b/{0}", "단백질{0}", "{0}"]).format(number)
        letters = "".join(chance.choices(LETTERS, k=chance.randint(1, 90)))
        proteins.append((id, letters))
        written = "".join(chance.choice(["", "", "", "-"]) + chance.choice([it, it.lower()]) for it in letters)
        written += chance.choice(["", "*"])
        width, end = chance.choice([10, 60, 1000]), chance.choice(["\n", "\r\n"])
        lines = [f">{chance.choice(['', ' '])}{id} {chance.choice(['', 'Some protein > x', chr(9) + 'OS=y'])}"]
        lines += [written[start : start + width] for start in range(0, len(written), width)]
        lines += chance.choice([[], [""], ["", "; a comment"]])
        text.append(end.join(lines) + end)
    return "".join(text), proteins


@pytest.fixture
def fasta(tmp_path):
    text, proteins = generated(60)
    path = tmp_path / "p.fasta"
    path.write_bytes(text.encode())
    return path, proteins


@pytest.mark.parametrize("count", [200, pytest.param(5000, marks=pytest.mark.slow)])
def test_ids_lengths_and_vectors_are_those_of_the_letters_bit_for_bit(embedder, tmp_path, count):
    text, proteins = generated(count)
    (tmp_path / "p.fasta").write_bytes(text.encode())
    embed_corpus(embedder, tmp_path / "p.fasta", tmp_path / "p.h5", layers=[1, 1, 1])
    with h5py.File(tmp_path / "p.h5") as file:
        assert [it.attrs["original_id"] for it in file.values()] == [id for id, _ in proteins]
        assert list(file) == [id.replace("/", "_") for id, _ in proteins]
        for place, (id, letters) in enumerate(proteins):
            dataset = file[id.replace("/", "_")]
            assert (dataset.attrs["sequence"], dataset.attrs["length"]) == (letters, len(letters))
            assert dataset.shape == (len(letters), embedder.layer_dim)
            if place % (count // 100) == 0:  # each of a call of its own
                assert np.array_equal(dataset[:], embedder.embed([list(letters)], layers=[1, 1, 1])[0])


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("pool", [None, "mean", "first_last"])
@pytest.mark.parametrize("layers", ["all", "top"])
def test_vectors_are_read_back_with_their_ids(embedder, fasta, tmp_path, suffix, pool, layers):
    path, proteins = fasta
    output = tmp_path / f"v{suffix}"
    report = embed_corpus(embedder, path, output, layers=layers, pool=pool, store="float16")
    assert (report["lines"], report["tokens"]) == (60, sum(len(letters) for _, letters in proteins))
    expected = embedder.embed([list(letters) for _, letters in proteins], layers, pool=pool)
    with read_vectors(output) as vectors:
        assert vectors.is_pooled == (pool is not None)
        for place, (id, letters) in enumerate(proteins):
            assert vectors[place].dtype == np.float16
            assert np.array_equal(vectors[place], expected[place].astype(np.float16))
            row = vectors.row(place)
            assert (row.id, "".join(row.tokens)) == (id, letters)
            assert row.spans.tolist() == [[at, at + 1] for at in range(len(letters))]
            assert np.array_equal(vectors[place : place + 1][0], vectors[place])
        pytest.importorskip("pandas")
        table = vectors.to_pandas()
        assert list(table["id"])[-1] == proteins[-1][0]
        assert len(table) == (60 if pool else report["tokens"])
        assert np.array_equal(table["vector"].iloc[-1], vectors[-1] if pool else vectors[-1][..., -1, :])


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    "settings", [{}, {"pool": "mean"}, {"keep_boundaries": True}, {"forget_sentences": True}], ids=str
)
def test_resumed_runs_are_a_single_run_to_the_byte(
    tiny_checkpoint, fasta, tmp_path, suffix, settings, require_equal, interrupt
):
    path, _ = fasta
    embedder = Embedder(tiny_checkpoint, keep_boundaries=settings.pop("keep_boundaries", False))
    whole, resumed = (tmp_path / f"{name}{suffix}" for name in ("whole", "resumed"))
    embed_corpus(embedder, path, whole, window=7, **settings)
    interrupt(3, embedder, path, resumed, window=7, **settings)
    assert embed_corpus(embedder, path, resumed, window=7, resume=True, **settings)["resumed_at_line"] == 21
    require_equal(whole, resumed)
    with read_vectors(whole) as vectors:
        boundaries = 2 if embedder.keep_boundaries else 0
        assert len(vectors.row(0).spans) == vectors.row(0).spans.max() + boundaries
        assert bool(vectors.row(0).tokens) == ("forget_sentences" not in settings)


def test_text_can_be_pooled_too_and_a_blank_line_is_zeros(embedder, text, lines, tmp_path):
    embed_corpus(embedder, text, tmp_path / "v.npy", layers="average", pool="mean")
    found = np.load(tmp_path / "v.npy")
    assert np.array_equal(found, embedder.embed([line.split() for line in lines], "average", pool="mean"))
    assert not found[1].any()


def test_compressed_hdf5_has_the_same_numbers_in_less_space(embedder, fasta, text, tmp_path):
    path, _ = fasta
    for source in (path, text):
        for name, settings in {"plain": {}, "small": {"compress": True}}.items():
            embed_corpus(embedder, source, tmp_path / f"{name}.h5", force=True, store="float16", **settings)
        with h5py.File(tmp_path / "plain.h5") as plain, h5py.File(tmp_path / "small.h5") as small:
            datasets = [name for name, it in plain.items() if isinstance(it, h5py.Dataset) and it.dtype == np.float16]
            for name in datasets:
                assert np.array_equal(plain[name], small[name])
                assert small[name].compression == ("gzip" if small[name].size else None)
            stored = [sum(file[name].id.get_storage_size() for name in datasets) for file in (plain, small)]
            assert stored[1] < stored[0]


def test_an_id_in_two_files_and_text_beside_proteins_are_refused(embedder, fasta, text, tmp_path):
    path, proteins = fasta
    other = tmp_path / "q.fasta"
    other.write_text(f">Q1\nMKT\n>{proteins[0][0]}\nMKT\n", encoding="utf-8")
    with pytest.raises(TextError, match=r"q\.fasta:3: the id .* is that of .*p\.fasta:1 too"):
        embed_corpus(embedder, [path, other], tmp_path / "v.h5")
    with pytest.raises(ConfigError, match=r"p\.fasta is FASTA, but .*corpus\.txt is text.*separately"):
        embed_corpus(embedder, [path, text], tmp_path / "v.h5")
    other.write_text(">Q1\nMKT\n", encoding="utf-8")
    embed_corpus(embedder, [path, other], tmp_path / "v.h5")
    with read_vectors(tmp_path / "v.h5") as vectors:
        assert (vectors.row(60).id, vectors.row(60).file, len(vectors)) == ("Q1", 1, 61)
    assert sorted(tmp_path.glob("*.partial")) == []


def test_records_that_are_skipped_leave_no_row(embedder, tmp_path):
    (tmp_path / "p.fasta").write_text(">P1\nMKT\n>P2\n>P3\nGGS\n>P4\n1\n", encoding="utf-8")
    report = embed_corpus(embedder, tmp_path / "p.fasta", tmp_path / "v.h5", errors="skip")
    assert (report["lines"], report["blank_lines"], len(report["bad_lines"])) == (2, 0, 2)
    with h5py.File(tmp_path / "v.h5") as file:
        assert list(file) == ["P1", "P3"]


@pytest.mark.slow
def test_a_protein_of_ten_thousand_residues_is_read_whole(tiny_checkpoint, tmp_path):
    """As the equations have it, though a batch has fewer tokens; nothing is cut, and the ends know of each other."""
    letters = "".join(random.Random(1).choices(LETTERS, k=10_000))
    (tmp_path / "titin.fasta").write_text(f">T\n{letters}\n", encoding="utf-8")
    embedder = Embedder(tiny_checkpoint, max_tokens=512)
    embed_corpus(embedder, tmp_path / "titin.fasta", tmp_path / "v.h5")
    with h5py.File(tmp_path / "v.h5") as file:
        found = file["T"][:]
    expected = reference.embed(tiny_checkpoint.config, tiny_checkpoint.tensors, list(letters))
    np.testing.assert_allclose(found, expected, rtol=0, atol=TINY_TOLERANCE)
