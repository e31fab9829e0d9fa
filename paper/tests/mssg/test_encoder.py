"""MSSG as an encoder: what it gives for sentences, also to tasks."""

import dataclasses

import numpy as np

from elmo.cli.main import main
from elmo.embed.encoder import Encoder
from elmo.static.vectors import StaticVectors
from elmo_paper.mssg.encoder import MSSGEncoder
from elmo_paper.mssg.senses import SenseVectors, write_sense_vectors

STATIC = StaticVectors(("은행", "돈", "나무"), np.array([[0, 0], [1, 0], [0, 1]], np.float32))
VECTORS = np.array([[1, 2], [3, 4], [5, 0], [0, 6]], np.float32)
CENTROIDS = np.array([[1, 0], [0, 1], [1, 1], [1, 1]], np.float32)
SENSES = SenseVectors(STATIC, VECTORS, CENTROIDS, np.array([0, 2, 3, 4]))


def test_a_token_has_the_vector_of_its_sense_and_its_context():
    encoder = MSSGEncoder(SENSES)
    assert isinstance(encoder, Encoder)
    money, tree, empty = encoder.embed_iter([["돈", "은행", "unknown"], ["나무", "은행"], []])
    assert money.dtype == np.float32 and (encoder.num_layers, encoder.layer_dim) == (2, 2)
    assert money.tolist() == [[[5, 0], [1, 2], [0, 0]], [[0, 0], [1, 0], [0.5, 0]]]
    assert tree.tolist() == [[[0, 6], [3, 4]], [[0, 0], [0, 1]]]
    assert empty.shape == (2, 0, 2)


def test_a_context_is_as_wide_as_in_training():
    sentence = ["돈", "나무", "은행"]
    encoder = MSSGEncoder(dataclasses.replace(SENSES, window=1))
    ((_, contexts),) = encoder.embed_iter([sentence])
    assert contexts[2].tolist() == [0, 1]  # of the tree alone
    assert encoder.model_hash == MSSGEncoder(SENSES, window=1).model_hash


def test_other_vectors_have_another_hash():
    maxout = SenseVectors(STATIC, VECTORS, None, SENSES.bounds)
    changed = SenseVectors(STATIC, VECTORS, CENTROIDS + 1, SENSES.bounds)
    found = [MSSGEncoder(SENSES), MSSGEncoder(SENSES, window=3), MSSGEncoder(maxout), MSSGEncoder(changed)]
    assert len({encoder.model_hash for encoder in found}) == 4
    assert MSSGEncoder(SENSES).model_hash == found[0].model_hash


def test_a_task_whose_words_it_does_not_know_is_refused_before_anything_is_written(tmp_path, capsys):
    write_sense_vectors(tmp_path / "senses.txt", SENSES)
    (tmp_path / "train.tsv").write_text("good\ta film\nbad\tno film\n" * 10)
    paths = [str(tmp_path / name) for name in ("train.tsv", "senses.txt", "run")]
    command = ["task", "train", "sst", "--train", paths[0], "--encoder", "mssg", "--model", paths[1], "-o", paths[2]]
    assert main([*command, "--quiet"]) == 2
    assert "senses.txt: has none of the 3 distinct words of the text" in capsys.readouterr().err
    assert not (tmp_path / "run" / "run.json").exists()
