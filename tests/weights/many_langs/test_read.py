"""ELMoForManyLangs folders. Vectors of the golden model are compared with the original's in tests/test_reference.py."""

import codecs
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from elmo.errors import WeightFileError
from elmo.weights import formats
from elmo.weights.checkpoint import content_hash
from elmo.weights.many_langs import read as many_langs
from elmo.weights.many_langs.read import PUBLISHED_ARCHITECTURE, config_of
from elmo.weights.soundness import require_sound

SYMBOLS = ["<bos>", "<eos>", "<oov>", "<pad>", "<bow>", "<eow>", "a", "b"]
ARCHITECTURE = {
    "encoder": {"name": "elmo", "projection_dim": 3, "cell_clip": 3, "proj_clip": 3, "dim": 4, "n_layers": 2},
    "token_embedder": {
        "name": "cnn",
        "activation": "relu",
        "filters": [[1, 2], [2, 3]],
        "n_highway": 1,
        "word_dim": 2,
        "char_dim": 3,
        "max_characters_per_token": 6,
    },
}


def test_golden_tables_have_the_swapped_marks_and_the_lost_space(many_langs_checkpoint):
    require_sound(many_langs_checkpoint)
    characters, words = many_langs_checkpoint.token_map.characters, many_langs_checkpoint.token_map.words
    # char.dic: <bos> 39, <eos> 40, <oov> 41, <pad> 42, <bow> 43, <eow> 44, U+3000 38; each id moves up by 1.
    found = characters.ids(["<bos>", "\u3000", "?"])[:, :4].tolist()
    assert found == [[45, 40, 44, 43], [45, 39, 44, 43], [45, 42, 44, 43]]
    assert words.ids(["<bos>", "the", "nowhere", "x" * 49]).tolist() == [2, 5, 1, 1]
    assert words.max_characters == characters.max_kept == 48
    assert many_langs_checkpoint.config.forget_bias == 0
    assert many_langs_checkpoint.source_format == "many_langs" and len(many_langs_checkpoint.source_hash) == 64


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    def trusted(path: Path) -> dict[str, np.ndarray]:
        return {name: tensor.numpy() for name, tensor in torch.load(path, weights_only=True).items()}

    monkeypatch.setattr(many_langs, "read_state_dict", trusted)
    write_folder(tmp_path, ARCHITECTURE)
    return tmp_path


def write_folder(folder: Path, architecture: dict) -> None:
    (folder / "config.json").write_text(json.dumps({"config_path": "sizes.json", "seed": 1}))
    (folder / "sizes.json").write_text(json.dumps(architecture))
    for name in ("char.dic", "word.dic"):
        (folder / name).write_text("".join(f"{symbol}\t{i}\n" for i, symbol in enumerate(SYMBOLS)), "utf-8")
    generator = torch.Generator().manual_seed(0)
    for name, shapes in state_shapes(architecture).items():
        state = {key: torch.randn(shape, generator=generator) for key, shape in shapes.items()}
        torch.save(state, folder / name)


def state_shapes(architecture: dict) -> dict[str, dict[str, tuple[int, ...]]]:
    encoder, embedder = architecture["encoder"], architecture["token_embedder"]
    size, cells, dim = encoder["projection_dim"], encoder["dim"], embedder["char_dim"]
    features = sum(count for _, count in embedder["filters"]) if dim else 0
    embedder_shapes = {"projection.weight": (size, embedder["word_dim"] + features), "projection.bias": (size,)}
    if embedder["word_dim"]:
        embedder_shapes["word_emb_layer.embedding.weight"] = (len(SYMBOLS), embedder["word_dim"])
    if dim:
        embedder_shapes["char_emb_layer.embedding.weight"] = (len(SYMBOLS), dim)
        for i, (width, count) in enumerate(embedder["filters"]):
            embedder_shapes |= {f"convolutions.{i}.weight": (count, dim, width), f"convolutions.{i}.bias": (count,)}
        for k in range(embedder["n_highway"]):
            embedder_shapes[f"highways._layers.{k}.weight"] = (2 * features, features)
            embedder_shapes[f"highways._layers.{k}.bias"] = (2 * features,)
    encoder_shapes = {}
    for prefix in (f"{way}_layer_{layer}" for way in ("forward", "backward") for layer in range(encoder["n_layers"])):
        encoder_shapes[f"{prefix}.input_linearity.weight"] = (4 * cells, size)
        encoder_shapes[f"{prefix}.state_linearity.weight"] = (4 * cells, size)
        encoder_shapes[f"{prefix}.state_linearity.bias"] = (4 * cells,)
        encoder_shapes[f"{prefix}.state_projection.weight"] = (size, cells)
    return {"token_embedder.pkl": embedder_shapes, "encoder.pkl": encoder_shapes}


def changed(section: str, **values: object) -> dict:
    return {**ARCHITECTURE, section: {**ARCHITECTURE[section], **values}}


def test_folder_is_recognized_by_its_pickles(folder):
    assert many_langs.recognizes(folder)
    (folder / "encoder.pkl").unlink()
    assert not many_langs.recognizes(folder)
    assert not many_langs.recognizes(folder / "nowhere")


def test_vectors_in_the_folder_and_the_name_of_a_pickle_do_not_hide_the_model(folder):
    (folder / "text.ly-1.hdf5").write_bytes(b"\x89HDF\r\n\x1a\n")
    expected = content_hash(many_langs.read(folder))
    for path in (folder, folder / "token_embedder.pkl", folder / "encoder.pkl"):
        assert content_hash(formats.read(path)) == expected


def test_model_of_words_only_needs_no_character_dictionary(folder):
    write_folder(folder, changed("token_embedder", char_dim=0))
    (folder / "char.dic").unlink()
    model = many_langs.read(folder)
    require_sound(model)
    assert not model.config.has_characters and model.token_map.characters is None
    assert model.token_map.words.ids(["a", "abba"]).tolist() == [7, 3]
    assert not model.tensors["token_encoder.word_embedding"][0].any()


def test_model_of_characters_only_needs_no_word_dictionary(folder):
    write_folder(folder, changed("token_embedder", word_dim=0))
    (folder / "word.dic").unlink()
    model = many_langs.read(folder)
    require_sound(model)
    assert not model.config.has_words and model.token_map.words is None
    assert model.token_map.characters.ids(["ab?abab"]).tolist() == [[6, 7, 8, 3, 7, 5]]


@pytest.mark.parametrize("named", ["/home/author/configs/sizes.json", "C:\\models\\sizes.json", "../up/sizes.json"])
def test_path_of_the_authors_machine_means_the_file_in_the_folder(folder, named):
    (folder / "config.json").write_text(json.dumps({"config_path": named}))
    assert many_langs.read(folder).config.cell_size == 4


def test_architecture_in_a_subfolder_goes_before_the_same_name_in_the_folder(folder):
    (folder / "configs").mkdir()
    shutil.move(folder / "sizes.json", folder / "configs" / "sizes.json")
    (folder / "sizes.json").write_text("{}")
    (folder / "config.json").write_text(json.dumps({"config_path": "configs/sizes.json"}))
    assert many_langs.read(folder).config.cell_size == 4


def test_nothing_outside_the_folder_is_read(folder, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "other.json"
    elsewhere.write_text(json.dumps(ARCHITECTURE))
    (folder / "config.json").write_text(json.dumps({"config_path": str(elsewhere)}))
    with pytest.raises(WeightFileError, match="the published architecture asks for"):
        many_langs.read(folder)


@pytest.mark.parametrize("absent", [("sizes.json",), ("sizes.json", "config.json")])
def test_missing_architecture_is_the_published_one(folder, absent, monkeypatch):
    for name in absent:
        (folder / name).unlink()
    with pytest.raises(WeightFileError, match=r"\(8, 2\), but the published architecture asks for \(8, 100\)"):
        many_langs.read(folder)
    monkeypatch.setattr(many_langs, "PUBLISHED_ARCHITECTURE", ARCHITECTURE)
    model = many_langs.read(folder)
    assert model.config.cell_size == 4
    assert model.metadata == {"architecture": "the published architecture"}


def test_published_architecture_has_the_published_sizes():
    config = config_of(PUBLISHED_ARCHITECTURE, 6000, 150_001, "test")
    found = (config.num_filters, config.token_features, config.projection_size, config.cell_size)
    assert found == (2048, 2148, 512, 4096)


@pytest.mark.parametrize(
    ("architecture", "message"),
    [
        (changed("encoder", dim=5), r"encoder.pkl: tensor .* has shape \(16, 3\), but .* asks for \(20, 3\)"),
        (changed("encoder", n_layers=1), "asks for none"),
        (changed("encoder", n_layers=3), "'forward_layer_2.input_linearity.weight' has shape none"),
        (changed("encoder", name="lstm"), r"^\S+sizes.json: .*encoder is of kind 'lstm'"),
        (changed("encoder", dim=3), "has shape"),
        (changed("encoder", dim="4"), "sizes.json: .*cell_size must be a whole number .*got .4."),
        (changed("encoder", name=None), "sizes.json: can't be used: .*The network can't be known"),
        (changed("token_embedder", filters=[[1, 2]]), "tensor 'highways._layers.0.weight' has shape|asks for none"),
        (changed("token_embedder", n_highway=1000), "'highways._layers.1.weight' has shape none"),
        (changed("token_embedder", filters=[]), "filters must be"),
        ({"encoder": ARCHITECTURE["encoder"]}, "'token_embedder' is missing"),
        (
            {**ARCHITECTURE, "encoder": {k: v for k, v in ARCHITECTURE["encoder"].items() if k != "cell_clip"}},
            "'cell_clip' is missing",
        ),
    ],
)
def test_architecture_that_contradicts_the_weights_is_an_error(folder, architecture, message):
    (folder / "sizes.json").write_text(json.dumps(architecture))
    with pytest.raises(WeightFileError, match=message):
        many_langs.read(folder)


def test_value_that_is_not_finite_is_an_error(folder):
    state = torch.load(folder / "encoder.pkl", weights_only=True)
    state["forward_layer_0.state_linearity.bias"][3] = float("nan")
    torch.save(state, folder / "encoder.pkl")
    with pytest.raises(WeightFileError, match=r"encoder.pkl: tensor 'forward_layer_0.state_linearity.bias' .*nan"):
        many_langs.read(folder)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a\tx\n", "char.dic:1: is not 'symbol<TAB>id'"),
        ("a\t0\nb\t8\n", "char.dic:2: id 8 of 'b' has no row"),
        ("a\t-1\n", "char.dic:1: id -1 of 'a' has no row"),
        ("a\tb\t1\n", "char.dic:1: is not"),
        ("a\t0\n\nb\t1\n", "char.dic:2: is not"),
        ("a\t0\n\udcff\t1\n", "char.dic:2: is not"),
        ("a\t0\n", "char.dic: has 1 symbols without '<bos>'"),
        ("", "char.dic: has 0 symbols without '<bos>'"),
        ("".join(f"{symbol}\t{i}\n" for i, symbol in enumerate(SYMBOLS[:-1])), "char.dic: has 7 symbols, .* 8 rows"),
    ],
)
def test_damaged_dictionary_is_an_error_with_file_and_line(folder, content, message):
    (folder / "char.dic").write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(WeightFileError, match=message):
        many_langs.read(folder)


@pytest.mark.parametrize("name", ["char.dic", "word.dic"])
def test_a_byte_order_mark_is_no_part_of_the_first_symbol(folder, name):
    whole = many_langs.read(folder).token_map
    (folder / name).write_bytes(codecs.BOM_UTF8 + (folder / name).read_bytes())
    assert many_langs.read(folder).token_map == whole


def test_missing_dictionary_is_an_error(folder):
    (folder / "word.dic").unlink()
    with pytest.raises(WeightFileError, match="word.dic"):
        many_langs.read(folder)


def test_last_of_several_spaces_stands_for_the_ideographic_space(folder):
    text = "".join(f"{symbol}\t{i}\n" for i, symbol in enumerate([*SYMBOLS[:6], "\u00a0", "\u2003"]))
    (folder / "char.dic").write_text(text, "utf-8")
    characters = many_langs.read(folder).token_map.characters
    assert characters.dictionary["\u3000"] == 8
    assert "\u00a0" not in characters.dictionary and "\u2003" not in characters.dictionary
