"""model.onnx, run by onnxruntime, against the embedder."""

import json
import os
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.conftest import checkpoint_of

from elmo.cli.main import main
from elmo.config import BiLMConfig
from elmo.embed.embedder import Embedder
from elmo.errors import OutputError, WeightFileError
from elmo.integrations import onnx as onnx_file
from elmo.model.bilm import BiLM
from elmo.text.characters import CharacterMap
from elmo.text.token_map import TokenMap
from elmo.weights import formats, hub
from elmo.weights.checkpoint import Checkpoint

pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

SMALL = BiLMConfig(cell_size=12, projection_size=6, filters=((1, 4), (2, 3), (3, 5)), character_dim=4, num_highway=1)
VARIANTS = {
    "as published": SMALL,
    "two highway layers, tanh": replace(SMALL, num_highway=2, activation="tanh"),
    "no highway layer": replace(SMALL, num_highway=0),
    "no projection of tokens": replace(SMALL, token_projection=False, projection_size=12, cell_size=20),
    "an LSTM without projection": replace(SMALL, cell_size=6),
    "no clips": replace(SMALL, cell_clip=None, projection_clip=None),
    "tight clips": replace(SMALL, cell_clip=0.1, projection_clip=0.05),
    "no skip connections, no forget bias": replace(SMALL, skip_connections=False, forget_bias=0.0),
    "one layer": replace(SMALL, num_layers=1),
    "three layers": replace(SMALL, num_layers=3),
    "forward alone": replace(SMALL, direction="forward"),
    "backward alone": replace(SMALL, direction="backward"),
    "words alone": replace(SMALL, characters="none", num_characters=0, filters=(), num_words=9, word_dim=5),
    "words and characters": replace(SMALL, num_words=9, word_dim=5),
}
WORDS = ["<S>", "</S>", "<UNK>", *"abcde"]
SENTENCES = [["a"], ["b", "zebra", "c"], ["e", "", "한국어", "d", "a", "b"], [*"abcdeabcd"]]


def random_checkpoint(config: BiLMConfig) -> Checkpoint:
    """Random weights of a config, large enough that clips and gates matter."""
    return checkpoint_of(config, scale=2, words=WORDS)


def session_of(folder: Path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(folder / onnx_file.ONNX_FILE, options, providers=["CPUExecutionProvider"])


def inputs_of(checkpoint: Checkpoint, sentences: list[list[str]], beyond: int = 0) -> dict[str, np.ndarray]:
    """What the file is given; `beyond` is in all places after a sentence."""
    begin, end = checkpoint.token_map.boundary_tokens
    ids = [checkpoint.token_map.ids([begin, *sentence, end]) for sentence in sentences]
    lengths = np.array([len(sentence) + 2 for sentence in sentences])
    given = {"lengths": lengths}
    if checkpoint.config.has_characters:
        width = checkpoint.config.max_characters_per_token
        given["characters"] = np.full((len(ids), lengths.max(), width), beyond, np.int64)
    if checkpoint.config.has_words:
        given["words"] = np.full((len(ids), lengths.max()), beyond, np.int64)
    for row, one in enumerate(ids):
        for name, found in (("characters", one.characters), ("words", one.words)):
            if found is not None:
                given[name][row, : len(found)] = found
    return given


@pytest.mark.parametrize("variant", VARIANTS)
def test_vectors_are_those_of_the_embedder(variant: str, tmp_path: Path) -> None:
    """The bound: as many terms as a product here has, at most 40, in float32, some steps long."""
    checkpoint = random_checkpoint(VARIANTS[variant])
    onnx_file.write(checkpoint, tmp_path / "out")
    (found,) = session_of(tmp_path / "out").run(["layers"], inputs_of(checkpoint, SENTENCES))
    embedder = Embedder(BiLM.from_checkpoint(checkpoint), keep_boundaries=True)
    for row, expected in enumerate(embedder.embed(SENTENCES)):
        length = expected.shape[1]
        np.testing.assert_allclose(found[:, row, :length], expected, rtol=0, atol=5e-5)
        assert not found[:, row, length:].any()


def test_a_sentence_alone_has_the_bits_it_has_in_a_batch_whatever_follows_it(tmp_path: Path) -> None:
    checkpoint = random_checkpoint(SMALL)
    onnx_file.write(checkpoint, tmp_path / "out")
    session = session_of(tmp_path / "out")
    (together,) = session.run(["layers"], inputs_of(checkpoint, SENTENCES, beyond=7))
    for row, sentence in enumerate(SENTENCES):
        (alone,) = session.run(["layers"], inputs_of(checkpoint, [sentence]))
        np.testing.assert_array_equal(together[:, row, : len(sentence) + 2], alone[:, 0])


@pytest.mark.parametrize("name", ["small-en", "small-ko"])
def test_bundled_models_give_their_vectors_in_another_runtime(name: str, tmp_path: Path) -> None:
    checkpoint = formats.read(hub.resolve(name))
    sentences = [["He", "sat", "by", "the", "bank", "."], ["나는", "배를", "먹었다", "."]]
    expected = Embedder.from_pretrained(name, device="cpu", keep_boundaries=True).embed(sentences)
    onnx_file.write(checkpoint, tmp_path / "out")
    (found,) = session_of(tmp_path / "out").run(["layers"], inputs_of(checkpoint, sentences))
    for row, layers in enumerate(expected):
        np.testing.assert_allclose(found[:, row, : layers.shape[1]], layers, rtol=0, atol=5e-5)


def test_int8_files_are_smaller_and_have_the_bits_of_a_model_stored_so(tmp_path: Path) -> None:
    checkpoint = formats.read(hub.resolve("small-en"))  # which is stored in int8
    given = inputs_of(checkpoint, [["He", "sat", "by", "the", "bank", "."]])
    found = []
    for dtype in ("float32", "int8"):
        onnx_file.write(checkpoint, tmp_path / dtype, dtype=dtype)
        found += session_of(tmp_path / dtype).run(["layers"], given)
    np.testing.assert_array_equal(found[0], found[1])
    sizes = [(tmp_path / dtype / onnx_file.ONNX_FILE).stat().st_size for dtype in ("float32", "int8")]
    assert sizes[1] < sizes[0] / 3


def test_the_file_says_what_it_is_and_ids_can_be_made_from_what_lies_beside_it(tmp_path: Path) -> None:
    checkpoint = random_checkpoint(VARIANTS["words and characters"])
    onnx_file.write(checkpoint, tmp_path / "out")
    facts = session_of(tmp_path / "out").get_modelmeta().custom_metadata_map
    assert facts["characters"] == "bytes" and facts["max_characters_per_token"] == "50"
    assert facts["boundary_words"] == "[1, 2]" and len(facts["model_hash"]) == 64
    tokens = json.loads((tmp_path / "out" / onnx_file.TOKENS_FILE).read_text(encoding="utf-8"))
    assert TokenMap.from_dict(tokens) == checkpoint.token_map


def test_a_file_whose_vectors_differ_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = onnx_file.Engine
    larger = lambda tensors: {name: 1.01 * tensor for name, tensor in tensors.items()}  # noqa: E731
    monkeypatch.setattr(onnx_file, "Engine", lambda config, tensors: engine(config, larger(tensors)))
    with pytest.raises(WeightFileError, match=r"vectors that differ from this package's by .*\. Nothing was written"):
        onnx_file.write(random_checkpoint(SMALL), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_that_exists_is_kept_unless_forced(tmp_path: Path) -> None:
    checkpoint = random_checkpoint(SMALL)
    onnx_file.write(checkpoint, tmp_path / "out")
    with pytest.raises(OutputError):
        onnx_file.write(checkpoint, tmp_path / "out")
    onnx_file.write(checkpoint, tmp_path / "out", dtype="int8", force=True)


def test_convert_writes_it_and_refuses_other_types(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", "small-en", str(tmp_path / "out"), "--to", "onnx", "--dtype", "int8"]) == 0
    assert (tmp_path / "out" / "model.onnx").is_file()
    assert main(["convert", "small-en", str(tmp_path / "two"), "--to", "onnx", "--dtype", "float16"]) == 2
    assert "dtype must be one of 'float32', 'int8' (got 'float16')" in capsys.readouterr().err


def test_the_page_runs_as_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    page = (Path(__file__).parents[3] / "docs/other-languages.md").read_text(encoding="utf-8")
    commands, code = (re.findall(rf"^```{kind}\n(.*?)^```$", page, re.M | re.S) for kind in ("sh", "python"))
    monkeypatch.chdir(tmp_path)
    (command,) = (one for one in commands if one.startswith("elmo "))
    assert main(command.split()[1:]) == 0
    capsys.readouterr()
    names: dict = {}
    for block in code:
        exec(block, names)
    assert capsys.readouterr().out.splitlines()[0] == "(3, 1, 7, 512)"
    tokens = ["", "bank", "은행", "😀", "x" * 60, "<S>", "</S>"]
    np.testing.assert_array_equal([names["ids"](token) for token in tokens], CharacterMap.for_bytes(50).ids(tokens))


@pytest.mark.skipif("ELMO_ONNXRUNTIME_WEB" not in os.environ, reason="needs npm's onnxruntime-web: see test_web.py")
def test_the_block_in_javascript_runs_as_written(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs/other-languages.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```js\n(.*?)^```$", page, re.M | re.S)
    onnx_file.write(formats.read(hub.resolve("small-en")), tmp_path / "small-en-onnx", dtype="int8")
    # Words that every object of JavaScript has a property of.
    block += 'for (const token of ["constructor", "__proto__"]) ids(token);\n'
    (tmp_path / "page.mjs").write_text(block, encoding="utf-8")
    (tmp_path / "node_modules").symlink_to(os.environ["ELMO_ONNXRUNTIME_WEB"])
    done = subprocess.run(["node", "page.mjs"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["[", "3,", "1,", "7,", "512", "]"]
