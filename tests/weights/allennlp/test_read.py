import json
import shutil
from dataclasses import replace

import h5py
import numpy as np
import pytest

from elmo.config import BiLMConfig
from elmo.errors import ConfigError, TextError, WeightFileError
from elmo.weights.allennlp.hdf5 import write_hdf5
from elmo.weights.allennlp.names import LstmNames, dataset_shapes
from elmo.weights.allennlp.read import read
from elmo.weights.allennlp.write import write
from elmo.weights.shapes import network_shapes

# Name, shape in the "original" model (specification 4.1).
PUBLISHED_DATASETS = {
    "char_embed": (261, 16),
    "CNN/W_cnn_0": (1, 1, 16, 32),
    "CNN/b_cnn_0": (32,),
    "CNN/W_cnn_6": (1, 7, 16, 1024),
    "CNN/b_cnn_6": (1024,),
    "CNN_high_1/W_carry": (2048, 2048),
    "CNN_high_1/b_carry": (2048,),
    "CNN_high_1/W_transform": (2048, 2048),
    "CNN_high_1/b_transform": (2048,),
    "CNN_proj/W_proj": (2048, 512),
    "CNN_proj/b_proj": (512,),
    "RNN_0/RNN/MultiRNNCell/Cell0/LSTMCell/W_0": (1024, 16384),
    "RNN_0/RNN/MultiRNNCell/Cell0/LSTMCell/B": (16384,),
    "RNN_1/RNN/MultiRNNCell/Cell1/LSTMCell/W_P_0": (4096, 512),
}
LAYER = "RNN_0/RNN/MultiRNNCell/Cell0/LSTMCell"


def read_folder(folder, **extras):
    return read(folder / "options.json", folder / "weights.hdf5", **extras)


def edit_options(folder, section, **values):
    path = folder / "options.json"
    options = json.loads(path.read_text())
    options[section].update(values)
    options[section] = {key: value for key, value in options[section].items() if value != "absent"}
    path.write_text(json.dumps(options))


def rename_datasets(path, new_name):
    """The weights as another program would write them: no fingerprint, other names."""
    with h5py.File(path, "r") as file:
        arrays = {}
        file.visititems(lambda name, item: arrays.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
    with h5py.File(path, "w") as file:
        for name, array in arrays.items():
            file[new_name(name)] = array


def test_a_golden_model_written_again_has_the_same_datasets_bit_for_bit(golden_folder, tmp_path):
    folder = golden_folder / "relu_hw2_l2_skip_mixed"
    write(read_folder(folder), tmp_path / "copy")
    with h5py.File(folder / "weights.hdf5") as original, h5py.File(tmp_path / "copy" / "weights.hdf5") as copy:
        names = []
        original.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
        for name in names:
            assert copy[name].shape == original[name].shape
            assert copy[name][()].tobytes() == original[name][()].tobytes()


@pytest.mark.parametrize(
    "settings",
    [
        {"num_highway": 0, "num_layers": 1},
        {"num_highway": 1, "num_layers": 3, "skip_connections": False},
        {"num_highway": 2, "activation": "tanh", "cell_clip": None, "projection_clip": 0.8},
        {"filters": ((1, 2), (3, 2)), "token_projection": False},
        {"filters": ((1, 2), (3, 2)), "token_projection": True},
        {"cell_size": 4, "projection_clip": None},
        {"max_characters_per_token": 20},
    ],
    ids=str,
)
def test_native_to_allennlp_to_native_is_bit_exact(tmp_path, random_checkpoint, require_equal, settings):
    checkpoint = random_checkpoint(**settings)
    write(checkpoint, tmp_path / "model")
    require_equal(read_folder(tmp_path / "model"), checkpoint)


def test_a_word_model_with_its_softmax_comes_back_bit_exact(
    tmp_path, random_word_checkpoint, random_softmax, require_equal
):
    checkpoint = replace(random_word_checkpoint(), softmax=random_softmax)
    folder = tmp_path / "model"
    write(checkpoint, folder)
    assert "char_cnn" not in json.loads((folder / "options.json").read_text())
    again = read_folder(folder, vocabulary=folder / "vocab.txt", softmax=folder / "softmax.hdf5")
    require_equal(again, checkpoint)
    assert again.vocabulary == checkpoint.vocabulary


def test_names_and_shapes_are_the_published_ones():
    config = BiLMConfig()
    shapes = dict(dataset_shapes(config, LstmNames()))
    assert {name: shapes.get(name) for name in PUBLISHED_DATASETS} == PUBLISHED_DATASETS
    assert len(shapes) == 1 + 2 * 7 + 4 * 2 + 2 + 2 * 2 * 3
    assert sum(4 * int(np.prod(shape)) for shape in shapes.values()) == 4 * 93_600_848


def test_written_datasets_are_contiguous_float32_and_options_say_262(published):
    with h5py.File(published / "weights.hdf5") as file:
        assert file[f"{LAYER}/W_0"].shape == (8, 24)
        assert file["CNN/W_cnn_1"].shape == (1, 2, 3, 3)
        for name in ("char_embed", f"{LAYER}/B", f"{LAYER}/W_P_0", "CNN_high_0/W_carry"):
            assert file[name].dtype == np.dtype("<f4")
            assert file[name].chunks is None
    options = json.loads((published / "options.json").read_text())
    assert options["char_cnn"]["n_characters"] == 262
    assert options["lstm"] == {
        "use_skip_connections": True,
        "projection_dim": 4,
        "cell_clip": 3.0,
        "proj_clip": 3.0,
        "dim": 6,
        "n_layers": 2,
    }


def test_mix_ups_of_two_models_name_dataset_and_both_shapes(published):
    edit_options(published, "lstm", dim=8)
    with pytest.raises(WeightFileError) as error:
        read_folder(published)
    assert str(error.value).endswith(
        f"weights.hdf5: dataset '{LAYER}/W_0' has shape (8, 24), but options.json asks for (8, 32): these files "
        "belong to different models, or one is incomplete. Pass the matching options.json; 'elmo inspect' "
        "shows what a file has."
    )


@pytest.mark.parametrize("n_characters", [261, 262, "absent"])
def test_both_counts_of_characters_are_accepted(published, n_characters):
    edit_options(published, "char_cnn", n_characters=n_characters)
    assert read_folder(published).config.num_characters == 262


@pytest.mark.parametrize(
    ("section", "values", "message"),
    [
        ("char_cnn", {"n_characters": 260}, "'char_cnn.n_characters' must be one of 261, 262 or None .got 260"),
        ("char_cnn", {"activation": "gelu"}, "activation must be .*'gelu'"),
        ("char_cnn", {"filters": [[1, 2], [2]]}, r"filters must be pairs of .*got \[\[1, 2\], \[2\]\]"),
        ("char_cnn", {"embedding": 4}, "'char_cnn.embedding' must be an object .*got 4"),
        ("lstm", {"dim": "absent"}, "'lstm.dim' is missing"),
        ("lstm", {"dim": 6.0}, "'lstm.dim' must be a whole number .*got 6.0"),
        ("lstm", {"n_layers": 0}, "num_layers must be .*got 0"),
        ("lstm", {"n_layers": 999}, "dataset 'RNN_0/RNN/MultiRNNCell/Cell2/LSTMCell/W_0' has shape none"),
        ("lstm", {"n_layers": 1}, "dataset 'RNN_0/RNN/MultiRNNCell/Cell1/LSTMCell/B' .* asks for none"),
        ("lstm", {"cell_clip": "3"}, "'lstm.cell_clip' must be a finite number .*or None .got '3'"),
        ("lstm", {"use_skip_connections": "yes"}, "'lstm.use_skip_connections' must be true or false .got 'yes'"),
    ],
    ids=str,
)
def test_wrong_options_are_named_with_their_value(published, section, values, message):
    edit_options(published, section, **values)
    with pytest.raises(WeightFileError, match=message):
        read_folder(published)


def test_sizes_left_out_have_bilm_tfs_defaults(tmp_path, random_checkpoint):
    """The weights show whether they are right."""
    write(random_checkpoint(num_highway=0, num_layers=1), tmp_path / "model")
    edit_options(tmp_path / "model", "lstm", n_layers="absent", cell_clip=None, proj_clip=0)
    edit_options(tmp_path / "model", "char_cnn", n_highway="absent")
    config = read_folder(tmp_path / "model").config
    assert (config.num_layers, config.num_highway) == (1, 0)
    assert config.cell_clip is None and config.projection_clip is None


@pytest.mark.parametrize("key", ["use_skip_connections", "cell_clip", "proj_clip"])
def test_what_no_shape_shows_must_not_be_missing(published, key):
    edit_options(published, "lstm", **{key: "absent"})
    with pytest.raises(WeightFileError, match=f"options.json: .*'lstm.{key}' is missing.* add what is"):
        read_folder(published)


def test_a_misspelt_section_is_noticed_by_the_weights(published):
    options = json.loads((published / "options.json").read_text())
    options["char_cnm"] = options.pop("char_cnn")
    (published / "options.json").write_text(json.dumps(options))
    with pytest.raises(WeightFileError, match="dataset .* options.json asks for"):
        read_folder(published)


@pytest.mark.parametrize("text", ["1e999", "1e-320", "1e-9", "1e7", "-3", "1" * 400])
@pytest.mark.parametrize("key", ["cell_clip", "proj_clip"])
def test_a_clip_that_clips_all_or_nothing_is_refused(published, key, text):
    content = (published / "options.json").read_text()
    (published / "options.json").write_text(content.replace(f'"{key}": 3.0', f'"{key}": {text}'))
    with pytest.raises(WeightFileError, match=rf"'lstm.{key}' must be a .*number .*or None \(got"):
        read_folder(published)


def test_keys_of_training_are_passed_over(published):
    options = json.loads((published / "options.json").read_text())
    options |= {"bidirectional": True, "dropout": 0.1, "n_tokens_vocab": 100, "sample_softmax": False}
    options |= {"optimizer_type": "lamb", "n_gpus": 3, "_comment": "a fork's own settings"}
    (published / "options.json").write_text(json.dumps(options))
    assert read_folder(published).config.num_layers == 2


def test_float64_gzip_datasets_are_read(published):
    path = published / "weights.hdf5"
    before = read_folder(published).tensors
    with h5py.File(path, "a") as file:
        del file.attrs["elmo_sha256"]
        values = file[f"{LAYER}/W_0"][()]
        del file[f"{LAYER}/W_0"]
        file.create_dataset(f"{LAYER}/W_0", data=values.astype("<f8"), compression="gzip", chunks=(3, 5))
    (converted := published.parent / "converted").mkdir()
    for name in ("options.json", "weights.hdf5"):
        shutil.copy(published / name, converted)
    after = read_folder(converted).tensors
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_a_dump_of_one_direction_is_read(tmp_path, random_checkpoint):
    checkpoint = random_checkpoint()
    write(checkpoint, tmp_path / "model")
    path = tmp_path / "model" / "weights.hdf5"
    with h5py.File(path, "a") as file:
        del file["RNN_1"]
    new = {"/W_0": "/kernel", "/B": "/bias", "/W_P_0": "/projection/kernel"}

    def dumped(name):
        if not name.startswith("RNN_0"):
            return name
        folder, _, part = name.removeprefix("RNN_0/RNN/").rpartition("/")
        return f"rnn/{folder}{new[f'/{part}']}"

    rename_datasets(path, dumped)
    found = read_folder(tmp_path / "model")
    assert found.config == replace(checkpoint.config, direction="forward")
    assert all(np.array_equal(found.tensors[name], checkpoint.tensors[name]) for name in found.tensors)


def test_a_dump_of_one_layer_is_read(tmp_path, random_checkpoint, require_equal):
    checkpoint = random_checkpoint(num_layers=1)
    write(checkpoint, tmp_path / "model")
    rename_datasets(tmp_path / "model" / "weights.hdf5", lambda name: name.replace("MultiRNNCell/Cell0/", ""))
    require_equal(read_folder(tmp_path / "model"), checkpoint)


def test_cached_token_vectors_replace_the_char_cnn(tmp_path, random_checkpoint):
    checkpoint = random_checkpoint()
    write(checkpoint, tmp_path / "model")
    vectors = np.arange(16, dtype=np.float32).reshape(4, 4)
    write_hdf5(tmp_path / "vectors.hdf5", {"embedding": vectors})
    (tmp_path / "vocab.txt").write_text(" the \n<S>\r\n!!!MAXTERMID\n</S>\nthe", encoding="utf-8")
    extras = {"token_embeddings": tmp_path / "vectors.hdf5", "vocabulary": tmp_path / "vocab.txt"}
    found = read_folder(tmp_path / "model", **extras)
    assert found.config == BiLMConfig(
        characters="none", num_words=5, word_dim=4, token_projection=False, cell_size=6, projection_size=4
    )
    write(found, tmp_path / "words")
    assert read_folder(tmp_path / "words", vocabulary=tmp_path / "words" / "vocab.txt").config == found.config
    assert {name: tensor.shape for name, tensor in found.tensors.items()} == dict(network_shapes(found.config))
    table = found.tensors["token_encoder.word_embedding"]
    assert np.array_equal(table, np.concatenate([np.zeros((1, 4)), vectors]))
    # Of the two lines "the" the later one counts.
    assert found.token_map.words.words == {"the": 4, "<S>": 2, "</S>": 3}
    assert found.token_map.words.unknown is None
    lstm = [name for name in checkpoint.tensors if "lstm" in name]
    assert all(np.array_equal(found.tensors[name], checkpoint.tensors[name]) for name in lstm)


def test_token_vectors_of_another_width_are_refused(published, tmp_path):
    write_hdf5(tmp_path / "vectors.hdf5", {"embedding": np.ones((3, 5))})
    with pytest.raises(WeightFileError, match=r"'embedding' has shape \(3, 5\), but options.json asks for \(3, 4\)"):
        read_folder(published, token_embeddings=tmp_path / "vectors.hdf5")


def test_a_word_model_without_a_fitting_vocabulary_is_refused(tmp_path, random_word_checkpoint):
    folder = tmp_path / "model"
    write(random_word_checkpoint(), folder)
    with pytest.raises(WeightFileError, match="reads words, not characters. Pass vocabulary="):
        read_folder(folder)
    (tmp_path / "short.txt").write_text("<S>\n</S>\n", encoding="utf-8")
    with pytest.raises(WeightFileError, match="'embedding' has 6 rows, but .*short.txt has 2 words"):
        read_folder(folder, vocabulary=tmp_path / "short.txt")
    (tmp_path / "bare.txt").write_text("a\nb\nc\nd\ne\nf\n", encoding="utf-8")
    with pytest.raises(TextError, match="bare.txt: the word list lacks '<S>'"):
        read_folder(folder, vocabulary=tmp_path / "bare.txt")


def test_a_softmax_of_another_vocabulary_is_refused(tmp_path, random_checkpoint, random_softmax):
    words = [f"word{number}" for number in range(len(random_softmax["bias"]))]
    folder = tmp_path / "model"
    write(replace(random_checkpoint(), softmax=random_softmax, vocabulary=words), folder)
    (tmp_path / "short.txt").write_text("one\n", encoding="utf-8")
    with pytest.raises(WeightFileError, match=r"'softmax/W' has shape \(6, \d+\), but the vocabulary asks for \(1, "):
        read_folder(folder, softmax=folder / "softmax.hdf5", vocabulary=tmp_path / "short.txt")


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"direction": "forward"}, "it has only the forward direction"),
        ({"forget_bias": 0.0}, "its forget_bias is 0.0"),
        ({"num_words": 7, "word_dim": 2}, "it reads words beside characters"),
        ({"characters": "dictionary", "num_characters": 9}, "it reads characters of a dictionary, not bytes"),
    ],
    ids=str,
)
def test_models_the_format_cant_hold_are_refused_with_the_reason(tmp_path, random_checkpoint, settings, reason):
    checkpoint = random_checkpoint()
    with pytest.raises(ConfigError, match=reason):
        write(replace(checkpoint, config=replace(checkpoint.config, **settings)), tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_the_source_hash_follows_every_file(published):
    first = read_folder(published).source_hash
    assert first == read_folder(published).source_hash
    shutil.copytree(published, published.parent / "edited")
    edit_options(published.parent / "edited", "char_cnn", n_characters=261)
    assert read_folder(published.parent / "edited").source_hash != first


def test_an_adaptive_softmax_has_no_place_in_the_format(random_checkpoint, tmp_path):
    checkpoint = random_checkpoint()
    softmax = {"weight": np.zeros((3, checkpoint.config.projection_size), dtype=np.float32)}
    softmax["clusters.0.bias"] = np.zeros(2, dtype=np.float32)
    with pytest.raises(ConfigError, match="its softmax is adaptive"):
        write(replace(checkpoint, softmax=softmax), tmp_path / "copy")
