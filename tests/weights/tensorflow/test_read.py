"""bilm-tf checkpoints, read without TensorFlow.

The reader was also run once on a bundle saved by TensorFlow 2.21's tf.compat.v1.train.Saver: every array was equal.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.weights.tensorflow.bundles import checksum, entry, message_field, number_field, table, write_bundle

from elmo.errors import WeightFileError
from elmo.weights import formats
from elmo.weights.hub import resolve
from elmo.weights.soundness import require_sound
from elmo.weights.tensorflow import read as tensorflow
from elmo.weights.tensorflow.crc32c import crc32c
from elmo.weights.tensorflow.tensor_bundle import TensorBundle

# --- checksums --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", 0),
        (b"123456789", 0xE3069283),
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
        (bytes(range(31, -1, -1)), 0x113FDB5C),
    ],
)
def test_examples_of_the_standard(data, expected):
    assert crc32c(data) == checksum(data) == expected


# The last has more than one block of 4 MiB.
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 1023, 1024, 1025, 4096, 5003, (4 << 20) + 4099])
def test_any_length_equals_division_byte_by_byte(size):
    data = np.random.default_rng(size).integers(0, 256, size, dtype=np.uint8)
    assert crc32c(data) == crc32c(data.tobytes()) == checksum(data.tobytes())


# --- bundles ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def arrays() -> dict[str, np.ndarray]:
    generator = np.random.default_rng(0)
    arrays = {f"scope/part_{i}/kernel": generator.normal(size=(i, 3)).astype(np.float32) for i in range(20)}
    arrays |= {f"scope/part_{i}/kernel/Adagrad": np.ones((i, 3), np.float32) for i in range(20)}
    return arrays | {
        "double": generator.normal(size=(2, 2, 2)),
        "half": np.array([1.5], np.float16),
        "step": np.array(2**40, np.int64),
        "small": np.array([-1, 2], np.int32),
        "yes": np.array([True, False]),
    }


@pytest.fixture
def prefix(tmp_path, arrays) -> Path:
    write_bundle(tmp_path / "model.ckpt-7", arrays)
    return tmp_path / "model.ckpt-7"


def assert_equal(bundle: TensorBundle, arrays: dict[str, np.ndarray]) -> None:
    assert sorted(bundle.shapes) == sorted(arrays)
    for name, array in arrays.items():
        assert bundle[name].dtype == array.dtype and bundle.shapes[name] == array.shape
        assert np.array_equal(bundle[name], array), name


@pytest.mark.parametrize(
    "settings", [{}, {"num_shards": 1}, {"entries_per_block": 1}, {"entries_per_block": 99}, {"big_endian": True}]
)
def test_every_tensor_comes_back(tmp_path, arrays, settings):
    write_bundle(tmp_path / "m", arrays, **settings)
    assert_equal(TensorBundle(tmp_path / "m"), arrays)


def test_tensor_is_read_only_when_asked_for(prefix, arrays):
    bundle = TensorBundle(prefix)
    shards = [path for path in bundle.files if ".data-" in path.name]
    assert len(shards) == 2
    shards[1].unlink()
    assert np.array_equal(bundle["scope/part_4/kernel"], arrays["scope/part_4/kernel"])
    with pytest.raises(
        WeightFileError, match=r"data-00001-of-00002: there is no such file. Tensor 'scope/part_5/kernel'"
    ):
        bundle["scope/part_5/kernel"]


def flip(path: Path, position: int, bits: int = 0x10) -> None:
    content = bytearray(path.read_bytes())
    content[position] ^= bits
    path.write_bytes(content)


def test_flipped_byte_in_the_data_names_the_tensor(prefix, arrays):
    path = prefix.with_name("model.ckpt-7.data-00000-of-00002")
    # The first shard begins with part_0 (no bytes), then part_2 (24 bytes), then part_4.
    flip(path, 30)
    bundle = TensorBundle(prefix)
    assert np.array_equal(bundle["scope/part_2/kernel"], arrays["scope/part_2/kernel"])
    with pytest.raises(WeightFileError, match="tensor 'scope/part_4/kernel', .* has another checksum"):
        bundle["scope/part_4/kernel"]


@pytest.mark.parametrize("size", [0, 7, 47, 48, 200, -1])
def test_truncated_index_is_an_error(prefix, size):
    path = prefix.with_name("model.ckpt-7.index")
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(WeightFileError, match="model.ckpt-7.index: .*it ends with the bytes .* damaged, cut short"):
        TensorBundle(prefix)


def test_flipped_byte_in_an_index_block_is_an_error(prefix):
    flip(prefix.with_name("model.ckpt-7.index"), 20)
    with pytest.raises(WeightFileError, match="the block of .* bytes at 0 does not match its checksum"):
        TensorBundle(prefix)


def test_table_of_something_else_is_an_error(tmp_path):
    for pairs in ({b"key": b"value"}, {b"": b"\x08\x01", b"key": b"\x07value"}):
        (tmp_path / "m.index").write_bytes(table(pairs))
        with pytest.raises(WeightFileError, match="m.index: .* not the index of a checkpoint"):
            TensorBundle(tmp_path / "m")


def test_shape_that_does_not_fit_the_bytes_is_an_error(tmp_path):
    array = np.zeros(6, np.float32)
    for shape in ((7,), (2**40, 2**40), (-6,), (-2, -3)):
        fields = entry(array, 0, 0, array.tobytes())
        dims = b"".join(message_field(2, number_field(1, size)) for size in shape)
        # A later field 2 stands for the whole shape.
        (tmp_path / "m.index").write_bytes(table({b"": number_field(1, 1), b"a": fields + message_field(2, dims)}))
        (tmp_path / "m.data-00000-of-00001").write_bytes(array.tobytes())
        with pytest.raises(WeightFileError, match="tensor 'a' has shape .* 24 bytes"):
            TensorBundle(tmp_path / "m")["a"]


def test_strings_and_slices_are_listed_but_not_read(tmp_path):
    text = number_field(1, 7) + number_field(5, 3)
    slices = entry(np.zeros(2, np.float32), 0, 0, b"12345678") + message_field(7, b"")
    (tmp_path / "m.index").write_bytes(table({b"": number_field(1, 1), b"text": text, b"slices": slices}))
    bundle = TensorBundle(tmp_path / "m")
    for name, reason in (("text", "data type 7"), ("slices", "cut into slices")):
        with pytest.raises(WeightFileError, match=f"tensor '{name}' has shape .*{reason}"):
            bundle[name]


@pytest.mark.slow
def test_mutants_give_the_same_tensors_or_an_error(tmp_path, arrays):
    arrays = {name: arrays[name] for name in ("double", "half", "step", "scope/part_3/kernel", "scope/part_4/kernel")}
    write_bundle(tmp_path / "m", arrays, num_shards=1, entries_per_block=2)
    index = tmp_path / "m.index"
    whole, generator, refused = index.read_bytes(), np.random.default_rng(2), 0
    for _ in range(400):
        mutant = bytearray(whole)
        for _ in range(generator.integers(1, 4)):
            mutant[generator.integers(len(mutant))] = generator.integers(256)
        if generator.random() < 0.2:
            del mutant[generator.integers(len(mutant)) :]
        index.write_bytes(mutant)
        try:
            assert_equal(TensorBundle(tmp_path / "m"), arrays)
        except WeightFileError as error:
            refused += 1
            assert str(error).startswith(str(tmp_path))
    assert refused > 300


# --- models -----------------------------------------------------------------------------------------------------------

P, H, D, FILTERS, VOCABULARY = 6, 8, 4, [[1, 3], [2, 5]], ["<S>", "</S>", "<UNK>", "the", "cat"]
FEATURES = 8
CELL = "multi_rnn_cell/cell_{}/lstm_cell"


def options(**changes: object) -> dict:
    lstm = {"dim": H, "projection_dim": P, "n_layers": 2, "cell_clip": 3, "proj_clip": 3, "use_skip_connections": True}
    char_cnn = {
        "activation": "relu",
        "embedding": {"dim": D},
        "filters": FILTERS,
        "max_characters_per_token": 50,
        "n_characters": 261,
        "n_highway": 1,
    }
    values = {"bidirectional": True, "lstm": lstm, "char_cnn": char_cnn, "n_tokens_vocab": len(VOCABULARY)}
    for key, value in changes.items():
        section = lstm if key in lstm else char_cnn if key in char_cnn else values
        section[key] = value
    return {key: value for key, value in values.items() if value is not None}


def token_encoder_shapes() -> dict[str, tuple[int, ...]]:
    shapes = {"lm/char_embed": (261, D), "lm/CNN_proj/W_proj": (FEATURES, P), "lm/CNN_proj/b_proj": (P,)}
    for i, (width, count) in enumerate(FILTERS):
        shapes |= {f"lm/CNN/W_cnn_{i}": (1, width, D, count), f"lm/CNN/b_cnn_{i}": (count,)}
    for part in ("carry", "transform"):
        shapes |= {f"lm/CNN_high_0/W_{part}": (FEATURES, FEATURES), f"lm/CNN_high_0/b_{part}": (FEATURES,)}
    return shapes


def lstm_shapes(cells: list[str], kernel: str = "kernel", bias: str = "bias") -> dict[str, tuple[int, ...]]:
    shapes = {}
    for cell in cells:
        shapes |= {f"lm/{cell}/{kernel}": (2 * P, 4 * H), f"lm/{cell}/{bias}": (4 * H,)}
        shapes[f"lm/{cell}/projection/{kernel}"] = (H, P)
    return shapes


SOFTMAX = {"lm/softmax/W": (len(VOCABULARY), P), "lm/softmax/b": (len(VOCABULARY),)}
BOTH = [f"RNN_{direction}/rnn/{CELL.format(layer)}" for direction in (0, 1) for layer in (0, 1)]


def write_model(folder: Path, shapes: dict[str, tuple[int, ...]], settings: dict, step: int = 7) -> dict:
    generator = np.random.default_rng(step)
    arrays = {name: generator.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    slots = {f"{name}/Adagrad": np.ones_like(array) for name, array in arrays.items()}
    others = {"global_step": np.array(step, np.int32), "train_perplexity": np.array(40, np.float32)}
    write_bundle(folder / f"model.ckpt-{step}", arrays | slots | others)
    (folder / "options.json").write_text(json.dumps(settings))
    latest = f'model_checkpoint_path: "/home/author/run/model.ckpt-{step}"\n'
    (folder / "checkpoint").write_text(latest + 'all_model_checkpoint_paths: "/home/author/run/model.ckpt-1"\n')
    return arrays


@pytest.fixture
def folder(tmp_path) -> Path:
    write_model(tmp_path, token_encoder_shapes() | lstm_shapes(BOTH) | SOFTMAX, options())
    (tmp_path / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
    return tmp_path


def step(arrays: dict[str, np.ndarray], cell: str, x: np.ndarray, h: np.ndarray, c: np.ndarray) -> np.ndarray:
    """One step of bilm-tf's cell, as the paper's formulas have it; no clip."""
    i, j, f, o = np.split(np.concatenate([x, h]) @ arrays[f"lm/{cell}/kernel"] + arrays[f"lm/{cell}/bias"], 4)
    c = sigmoid(f + 1.0) * c + sigmoid(i) * np.tanh(j)
    return (sigmoid(o) * np.tanh(c)) @ arrays[f"lm/{cell}/projection/kernel"]


def our_step(tensors: dict[str, np.ndarray], prefix: str, x: np.ndarray, h: np.ndarray, c: np.ndarray) -> np.ndarray:
    gates = tensors[f"{prefix}.input_weight"] @ x + tensors[f"{prefix}.recurrent_weight"] @ h
    i, f, o, j = np.split(gates + tensors[f"{prefix}.bias"], 4)
    c = sigmoid(f + 1.0) * c + sigmoid(i) * np.tanh(j)
    return tensors[f"{prefix}.projection_weight"] @ (sigmoid(o) * np.tanh(c))


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def assert_same_cells(model, arrays: dict[str, np.ndarray], cells: dict[str, str]) -> None:
    generator = np.random.default_rng(3)
    x, h, c = generator.normal(size=P), generator.normal(size=P), generator.normal(size=H)
    for theirs, ours in cells.items():
        difference = step(arrays, theirs, x, h, c) - our_step(model.tensors, ours, x, h, c)
        assert np.abs(difference).max() < 1e-6


def test_folder_of_a_training_run_becomes_a_checkpoint(tmp_path):
    arrays = write_model(tmp_path, token_encoder_shapes() | lstm_shapes(BOTH) | SOFTMAX, options())
    (tmp_path / "vocab-2016-09-10.txt").write_text("\n".join(VOCABULARY))
    model = tensorflow.read(tmp_path)
    require_sound(model)
    encoder = {key.removeprefix("token_encoder."): tensor for key, tensor in model.tensors.items()}
    assert not encoder["character_embedding"][0].any()
    assert np.array_equal(encoder["character_embedding"][1:], arrays["lm/char_embed"])
    assert np.array_equal(encoder["convolutions.1.weight"][4, 2], arrays["lm/CNN/W_cnn_1"][0, :, 2, 4])
    assert np.array_equal(encoder["highways.0.gate.weight"], arrays["lm/CNN_high_0/W_carry"].T)
    assert np.array_equal(encoder["highways.0.transform.bias"], arrays["lm/CNN_high_0/b_transform"])
    assert np.array_equal(encoder["projection.weight"], arrays["lm/CNN_proj/W_proj"].T)
    names = ("forward_lstm.layers.0", "forward_lstm.layers.1", "backward_lstm.layers.0", "backward_lstm.layers.1")
    assert_same_cells(model, arrays, dict(zip(BOTH, names, strict=True)))
    assert np.array_equal(model.softmax["weight"], arrays["lm/softmax/W"])
    assert np.array_equal(model.softmax["bias"], arrays["lm/softmax/b"])
    assert model.vocabulary == VOCABULARY
    assert model.config.forget_bias == 1 and model.config.direction == "both"
    assert model.source_format == "tensorflow" and model.metadata == {"checkpoint": "model.ckpt-7"}


@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize("num_layers", [1, 2])
def test_models_of_one_direction_or_one_layer_load(tmp_path, both, num_layers):
    scopes = {"RNN_0/rnn": "forward", "RNN_1/rnn": "backward"} if both else {"rnn": "forward"}
    cells = {
        f"{scope}/{CELL.format(layer) if num_layers > 1 else 'lstm_cell'}": f"{direction}_lstm.layers.{layer}"
        for scope, direction in scopes.items()
        for layer in range(num_layers)
    }
    shapes = token_encoder_shapes() | lstm_shapes(list(cells)) | SOFTMAX
    arrays = write_model(tmp_path, shapes, options(n_layers=num_layers, bidirectional=both))
    model = tensorflow.read(tmp_path)
    require_sound(model)
    assert model.config.directions == tuple(scopes.values())
    assert_same_cells(model, arrays, cells)


def test_names_before_tensorflow_1_2_load(tmp_path):
    write_model(tmp_path, token_encoder_shapes() | lstm_shapes(BOTH, "weights", "biases"), options())
    model = tensorflow.read(tmp_path)
    require_sound(model)
    assert model.softmax is None and model.vocabulary is None


def word_model(folder: Path, tied: bool) -> dict[str, np.ndarray]:
    shapes = {"lm/embedding": (len(VOCABULARY), P)} | lstm_shapes(BOTH) | SOFTMAX
    if tied:
        del shapes["lm/softmax/W"]
    return write_model(folder, shapes, options(char_cnn=None, share_embedding_softmax=tied))


@pytest.mark.parametrize("tied", [False, True])
def test_model_of_words_loads_with_its_vocabulary(tmp_path, tied):
    arrays = word_model(tmp_path, tied)
    (tmp_path / "words").write_text("\n".join(VOCABULARY))
    model = tensorflow.read(tmp_path, vocabulary=tmp_path / "words")
    require_sound(model)
    assert model.token_map.ids(["<S>", "cat", "dog"]).words.tolist() == [1, 5, 3]
    assert np.array_equal(model.tensors["token_encoder.word_embedding"][1:], arrays["lm/embedding"])
    assert np.array_equal(model.softmax["weight"], arrays["lm/embedding" if tied else "lm/softmax/W"])


def test_model_of_words_without_its_vocabulary_is_an_error(tmp_path):
    word_model(tmp_path, tied=False)
    with pytest.raises(WeightFileError, match="reads words.*Pass vocabulary="):
        tensorflow.read(tmp_path)


def test_one_checkpoint_of_several_can_be_named(folder):
    write_model(folder, token_encoder_shapes() | lstm_shapes(BOTH) | SOFTMAX, options(), step=9)
    assert tensorflow.read(folder).metadata["checkpoint"] == "model.ckpt-9"
    for path in (folder / "model.ckpt-7", folder / "model.ckpt-7.index"):
        assert tensorflow.recognizes(path)
        assert tensorflow.read(path).metadata["checkpoint"] == "model.ckpt-7"


def test_the_path_of_a_checkpoint_is_no_name_of_the_hub(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    for path in (f"{folder.name}/model.ckpt-7", folder / "model.ckpt-7"):
        assert formats.read(resolve(path, download=False)).metadata["checkpoint"] == "model.ckpt-7"


def test_folder_that_does_not_say_which_checkpoint_is_the_latest(folder):
    (folder / "checkpoint").unlink()
    assert tensorflow.recognizes(folder)
    assert tensorflow.read(folder).metadata["checkpoint"] == "model.ckpt-7"
    write_bundle(folder / "model.ckpt-9", {})
    with pytest.raises(WeightFileError, match=r"2 checkpoints \(model.ckpt-7, model.ckpt-9\)"):
        tensorflow.read(folder)


def test_latest_checkpoint_that_is_missing_is_an_error_that_lists_the_others(folder):
    (folder / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-11"\n')
    with pytest.raises(WeightFileError, match=r"1 checkpoints \(model.ckpt-7\).* 'checkpoint' names 'model.ckpt-11'"):
        tensorflow.read(folder)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dim": 9}, r"variable 'lm/RNN_0/.*/kernel' has shape \(12, 32\), but options.json asks for \(12, 36\)"),
        ({"n_layers": 1000}, "has shape none, but options.json asks for"),
        ({"n_highway": 0}, "'lm/CNN_high_0/W_carry' has shape .* asks for none"),
        ({"projection_dim": 9}, "projection_size must be .*got 9"),
    ],
)
def test_options_that_contradict_the_checkpoint_are_an_error(folder, changes, message):
    (folder / "options.json").write_text(json.dumps(options(**changes)))
    with pytest.raises(WeightFileError, match=message):
        tensorflow.read(folder)


def test_vocabulary_of_another_model_is_an_error(folder):
    (folder / "vocab.txt").write_text("<S>\n</S>\n<UNK>\n")
    with pytest.raises(WeightFileError, match=r"'lm/softmax/W' has shape \(5, 6\), but the vocabulary asks"):
        tensorflow.read(folder)
    (folder / "vocab2.txt").write_text("<S>\n")
    with pytest.raises(WeightFileError, match="has 2 files vocab.*Pass vocabulary="):
        tensorflow.read(folder)


def test_value_that_is_not_finite_is_an_error(tmp_path):
    arrays = write_model(tmp_path, token_encoder_shapes() | lstm_shapes(BOTH), options())
    arrays["lm/CNN/b_cnn_0"][1] = np.inf
    write_bundle(tmp_path / "model.ckpt-7", arrays)
    with pytest.raises(WeightFileError, match="'lm/CNN/b_cnn_0' has the value inf"):
        tensorflow.read(tmp_path)
