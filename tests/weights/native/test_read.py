import json
import resource
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from elmo.config import BiLMConfig
from elmo.errors import ConfigError, OutputError, WeightFileError
from elmo.text.characters import CharacterMap
from elmo.text.token_map import TokenMap, WordMap
from elmo.weights.allennlp.read import read as read_allennlp
from elmo.weights.allennlp.write import write as write_allennlp
from elmo.weights.checkpoint import Checkpoint, content_hash
from elmo.weights.describe import describe
from elmo.weights.fingerprint import fingerprint
from elmo.weights.native import tensor_file
from elmo.weights.native.read import read
from elmo.weights.native.write import write

MARKS = ("begin_sentence", "end_sentence", "begin_word", "end_word", "padding", "unknown")


@pytest.fixture
def full_checkpoint(random_checkpoint, random_softmax):
    """A checkpoint with every part there can be."""
    return replace(
        random_checkpoint(),
        vocabulary=["<S>", "</S>", "<UNK>", "the", "책", "a b"[0]],
        softmax=random_softmax,
        warm_state={"hidden": np.ones((2, 8), np.float32), "cell": np.ones((2, 12), np.float32)},
        source_format="allennlp",
        source_hash="0" * 64,
        metadata={"licence": "CC BY 4.0", "data": "위키"},
    )


@pytest.fixture
def written(tmp_path, full_checkpoint):
    write(full_checkpoint, tmp_path / "model")
    return tmp_path / "model"


def edit_config(folder, change):
    path = folder / "config.json"
    facts = json.loads(path.read_text())
    change(facts)
    path.write_text(json.dumps(facts))


def dictionary_checkpoint(random_checkpoint) -> Checkpoint:
    """A model of whole characters and words, as ELMoForManyLangs'."""
    characters = CharacterMap.for_dictionary(
        {"a": 1, "가": 2, "\u3000": 3}, dict(zip(MARKS, range(4, 10), strict=True)), boundary_tokens=("<bos>", "<eos>")
    )
    words = WordMap(
        {"<bos>": 1, "<eos>": 2, "<oov>": 3}, unknown="<oov>", max_characters=48, boundary_tokens=("<bos>", "<eos>")
    )
    both = random_checkpoint(num_words=4, word_dim=2, forget_bias=0.0)
    config = replace(both.config, characters="dictionary", num_characters=10)
    tensors = both.tensors | {
        "token_encoder.character_embedding": both.tensors["token_encoder.character_embedding"][:10]
    }
    return replace(both, config=config, tensors=tensors, token_map=TokenMap(characters, words), vocabulary=None)


def test_every_part_comes_back_bit_for_bit(written, full_checkpoint, require_equal):
    found = read(written)
    require_equal(found, full_checkpoint)
    for field in ("vocabulary", "source_format", "source_hash", "metadata"):
        assert getattr(found, field) == getattr(full_checkpoint, field)
    names = {"config.json", "model.safetensors", "softmax.safetensors", "vocab.txt", "warm_state.safetensors"}
    assert {path.name for path in written.iterdir()} == names


def test_a_model_of_characters_and_words_comes_back_with_its_token_map(tmp_path, random_checkpoint, require_equal):
    checkpoint = dictionary_checkpoint(random_checkpoint)
    write(checkpoint, tmp_path / "model")
    found = read(tmp_path / "model")
    require_equal(found, checkpoint)
    ids = found.token_map.ids(["a가b", "<bos>"])
    assert ids.characters[0, 1:4].tolist() == [1, 2, 9]
    assert ids.words.tolist() == [3, 1]


def test_config_json_has_the_documented_keys_and_no_paths(written, tmp_path):
    text = (written / "config.json").read_text()
    facts = json.loads(text)
    assert list(facts) == ["format_version", "architecture", "source_format", "source_hash", "metadata", "sha256"]
    assert facts["format_version"] == 1
    assert BiLMConfig.from_dict(facts["architecture"]).cell_size == 6
    assert str(tmp_path) not in text


def test_facts_may_be_edited(written):
    edit_config(written, lambda facts: facts["metadata"].update(license="MIT"))
    assert read(written).metadata["license"] == "MIT"


def test_other_words_than_were_written_are_refused(written):
    words = (written / "vocab.txt").read_bytes()
    (written / "vocab.txt").write_bytes(words.replace(b"the", b"thf"))
    with pytest.raises(WeightFileError, match="vocab.txt has the SHA-256 .*, but config.json states"):
        read(written)
    (written / "vocab.txt").unlink()
    assert read(written).vocabulary is None


def test_tokens_that_were_written_must_be_there(tmp_path, random_checkpoint):
    write(dictionary_checkpoint(random_checkpoint), tmp_path / "model")
    tokens = json.loads((tmp_path / "model" / "tokens.json").read_text())
    (tmp_path / "model" / "tokens.json").write_text(json.dumps(tokens, indent=1))
    with pytest.raises(WeightFileError, match="tokens.json has the SHA-256"):
        read(tmp_path / "model")


def test_float16_storage_is_widened_when_read(tmp_path, full_checkpoint):
    write(full_checkpoint, tmp_path / "half", dtype="float16")
    found = read(tmp_path / "half")
    name = "forward_lstm.layers.0.input_weight"
    assert load_file(tmp_path / "half" / "model.safetensors")[name].dtype == np.float16
    wanted = full_checkpoint.tensors[name].astype(np.float16).astype(np.float32)
    assert found.tensors[name].dtype == np.float32
    assert np.array_equal(found.tensors[name], wanted)
    assert found.softmax["weight"].dtype == np.float32


def test_float16_that_cant_hold_a_value_is_refused(tmp_path, full_checkpoint):
    full_checkpoint.tensors["token_encoder.projection.bias"][1] = 1e5
    with pytest.raises(ConfigError, match="'token_encoder.projection.bias' holds 100000, which float16 can't hold"):
        write(full_checkpoint, tmp_path / "half", dtype="float16")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.pop("token_encoder.projection.bias"), "tensor 'token_encoder.projection.bias' has shape none"),
        (lambda t: t.update(stray=np.zeros(2, np.float32)), r"tensor 'stray' has shape \(2,\).* asks for none"),
        (
            lambda t: t.update({"token_encoder.projection.bias": np.zeros(5, np.float32)}),
            r"has shape \(5,\), but config.json asks for \(4,\): these files belong to different models",
        ),
        (lambda t: t.update({"token_encoder.projection.bias": np.zeros(4, np.int32)}), "'I32' is missing or unknown"),
        (lambda t: t["forward_lstm.layers.0.bias"].fill(np.nan), "'forward_lstm.layers.0.bias' has the value nan at"),
        (lambda t: t["token_encoder.character_embedding"].fill(1), "row 0 of .*character_embedding' is not zero"),
    ],
)
def test_tensors_that_dont_fit_the_config_are_named(written, change, message):
    tensors = load_file(written / "model.safetensors")
    tensors = {name: tensor.copy() for name, tensor in tensors.items()}
    change(tensors)
    digests = {"sha256": fingerprint(tensors)}
    save_file(tensors, written / "model.safetensors", metadata=digests)
    with pytest.raises(WeightFileError, match=message):
        read(written)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda steps: None, "can't be used"),
        (lambda steps: steps[:, 0], "can't be used"),
        (lambda steps: steps[1:], "can't be used"),
        (lambda steps: steps.astype(np.float16), "don't have the SHA-256"),
        (lambda steps: np.full_like(steps, np.inf), "has the value"),
    ],
)
def test_integers_need_a_step_for_each_row(tmp_path, random_checkpoint, change, message):
    write(random_checkpoint(), tmp_path / "model", dtype="int8")
    file, name = tmp_path / "model" / "model.safetensors", "forward_lstm.layers.0.input_weight.steps"
    tensors = load_file(file)
    changed = {name: change(tensors.pop(name))}
    save_file(tensors | {key: one for key, one in changed.items() if one is not None}, file, metadata={"sha256": "0"})
    for narrow in (True, False):
        with pytest.raises(WeightFileError, match=message):
            read(tmp_path / "model", narrow=narrow)


def test_tensors_without_or_with_another_fingerprint_are_refused(written):
    tensors = load_file(written / "model.safetensors")
    for metadata in (None, {"sha256": "0" * 64}):
        save_file(tensors, written / "model.safetensors", metadata=metadata)
        with pytest.raises(WeightFileError, match="don't have the SHA-256 that was stored"):
            read(written)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.update(format_version=2), "format_version is 2 .*, but this elmo reads 1. Upgrade with"),
        (lambda f: f.update(format_version="1"), "format_version is '1' "),
        (lambda f: f.pop("format_version"), r"format_version is None \(the file's keys: .* is for 'elmo task predict'"),
        (lambda f: f.pop("source_hash"), "'source_hash' is missing"),
        (lambda f: f.pop("sha256"), "'sha256' is missing"),
        (lambda f: f.update(metadata=[1]), "can't be used: .*The file was edited or damaged"),
        (lambda f: f.update(architecture=[]), "key 'activation' of the architecture is missing"),
        (lambda f: f["architecture"].pop("cell_size"), "key 'cell_size' of the architecture is missing"),
        (lambda f: f["architecture"].update(colour=1), "unknown setting 'colour'"),
        (lambda f: f["architecture"].update(num_layers=2.0), "num_layers must be a whole number .*2.0"),
        (lambda f: f["architecture"].update(num_layers=999), "'forward_lstm.layers.2.input_weight' has shape none"),
        (lambda f: f["architecture"].update(num_highway=1000), "'token_encoder.highways.1.transform.weight' has shape"),
        (lambda f: f["architecture"].update(max_characters_per_token=40), "'architecture' has the SHA-256 .* states"),
        (lambda f: f["sha256"].update(architecture="0" * 64), "'architecture' has the SHA-256 .* was changed"),
        (lambda f: f["sha256"].update({"vocab.txt": 1}), "config.json states 1"),
        (lambda f: f.update(sha256=[]), "can't be used: 'list'"),
    ],
)
def test_a_config_that_makes_no_sense_is_named_with_its_value(written, change, message):
    edit_config(written, change)
    with pytest.raises((WeightFileError, ConfigError), match=message):
        read(written)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not valid JSON"),
        (b"[1]", "holds a JSON list, not an object"),
        (b"[" * 100_000, "is not valid JSON"),
        (b"\xff\xfe", "is not valid JSON"),
        (b" " * (1 << 21), "it has more than 1,048,576 bytes, the limit for such a file"),
    ],
    ids=range(5),
)
def test_a_config_that_is_no_json_object_is_refused(written, content, message):
    (written / "config.json").write_bytes(content)
    with pytest.raises(WeightFileError, match=message):
        read(written)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda v: v.pop("words"), "The token map is damaged"),
        (lambda v: v["characters"].pop("begin_word"), "The token map is damaged"),
        (lambda v: v["characters"]["dictionary"].update(a=10), "its token map and its config are of different models"),
        (lambda v: v["words"]["words"].update(a=4), "its token map and its config"),
        (lambda v: v["words"]["words"].update(a=0), "its token map and its config"),
        (lambda v: v["characters"].update(max_characters_per_token=10), "its token map and its config"),
        (lambda v: v.update(words=None), "its token map and its config"),
        (lambda v: v["characters"].update(boundary_tokens=[1]), "The token map is damaged"),
    ],
)
def test_a_damaged_token_map_is_refused(tmp_path, random_checkpoint, change, message):
    folder = tmp_path / "model"
    write(dictionary_checkpoint(random_checkpoint), folder)
    values = json.loads((folder / "tokens.json").read_text())
    change(values)
    (folder / "tokens.json").write_text(json.dumps(values))
    with pytest.raises(WeightFileError, match=message):
        read(folder)


def test_a_softmax_of_another_vocabulary_is_refused(written):
    (written / "vocab.txt").write_text("one\n", encoding="utf-8")
    with pytest.raises(WeightFileError, match="the softmax has 6 rows, but the vocabulary has 1 words"):
        read(written)


def adaptive_softmax(size):
    """Three frequent words and clusters of 2 and 1, for an output of `size` numbers."""
    shapes = {
        "weight": (5, size), "bias": (5,),
        "clusters.0.projection": (3, size), "clusters.0.weight": (2, 3), "clusters.0.bias": (2,),
        "clusters.1.projection": (1, size), "clusters.1.weight": (1, 1), "clusters.1.bias": (1,),
    }  # fmt: skip
    return {name: np.full(shape, 0.5, np.float32) for name, shape in shapes.items()}


@pytest.mark.parametrize("adaptive", [False, True])
def test_a_softmax_in_int8_has_a_byte_for_each_value_and_keeps_its_values(tmp_path, full_checkpoint, adaptive):
    softmax = adaptive_softmax(full_checkpoint.config.projection_size) if adaptive else full_checkpoint.softmax
    write(replace(full_checkpoint, softmax=softmax), tmp_path / "model", dtype="int8")
    stored, found = load_file(tmp_path / "model" / "softmax.safetensors"), read(tmp_path / "model").softmax
    assert set(found) == set(softmax)
    for name, tensor in softmax.items():
        is_matrix = not name.endswith("bias")
        assert stored[name].dtype == (np.int8 if is_matrix else np.float32)
        steps = np.abs(tensor).max(axis=1, keepdims=True) / 127 if is_matrix else 0
        assert (np.abs(found[name] - tensor) <= 0.51 * steps).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"clusters.1.bias": (2,)}, r"'clusters.1.bias' has shape \(2,\), but .* asks for \(1,\)"),
        ({"clusters.0.weight": (2,)}, "'clusters.0.projection' has shape"),
        ({"clusters.0.projection": None}, "'clusters.0.projection' has shape none"),
        ({"clusters.1.weight": (2, 1), "clusters.1.bias": (2,)}, "has 7 rows, but the vocabulary has 6 words"),
        ({"clusters.2.bias": (1,)}, "'clusters.2.projection' has shape none"),
        ({"clusters.x": (1,)}, "'clusters.2.projection' has shape none"),
    ],
)
def test_an_adaptive_softmax_that_contradicts_itself_is_refused(tmp_path, full_checkpoint, change, message):
    size = full_checkpoint.config.projection_size
    shapes = {name: (shape, size) if isinstance(shape, int) else shape for name, shape in change.items()}
    changed = {name: np.zeros(shape, np.float32) for name, shape in shapes.items() if shape is not None}
    softmax = {name: tensor for name, tensor in adaptive_softmax(size).items() if change.get(name, ()) is not None}
    with pytest.raises(WeightFileError, match=message):
        write(replace(full_checkpoint, softmax={**softmax, **changed}), tmp_path / "model")


def test_parts_that_contradict_each_other_are_not_written(tmp_path, random_checkpoint):
    checkpoint = random_checkpoint()
    wrong = {
        "has shape none": {},
        "has the value inf": checkpoint.tensors | {"token_encoder.projection.bias": np.full(4, np.inf, np.float32)},
    }
    for message, tensors in wrong.items():
        with pytest.raises(WeightFileError, match=message):
            write(replace(checkpoint, tensors=tensors), tmp_path / "model")
    with pytest.raises(WeightFileError, match="softmax: tensor 'bias' has shape none"):
        write(replace(checkpoint, softmax={"weight": np.zeros((3, 4), np.float32)}), tmp_path / "model")
    state = {"hidden": np.ones((2, 6), np.float32), "cell": np.ones((2, 12), np.float32)}
    with pytest.raises(WeightFileError, match=r"warm state: tensor 'hidden' has shape \(2, 6\), but"):
        write(replace(checkpoint, warm_state=state), tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_an_existing_folder_is_only_replaced_by_force(written, random_checkpoint):
    with pytest.raises(OutputError, match="exists already"):
        write(random_checkpoint(), written)
    assert read(written).softmax is not None
    write(random_checkpoint(), written, force=True)
    assert read(written).softmax is None
    assert [path.name for path in written.parent.iterdir()] == ["model"]


def test_force_never_removes_files_that_are_no_models(written, random_checkpoint):
    (written / "thesis.tex").write_text("years of work")
    with pytest.raises(OutputError, match="holds 'thesis.tex', which is not a file of a model"):
        write(random_checkpoint(), written, force=True)
    assert (written / "thesis.tex").read_text() == "years of work"


@pytest.mark.parametrize("writer", [write, write_allennlp])
def test_a_full_disk_leaves_nothing_and_keeps_the_old_model(tmp_path, random_checkpoint, writer):
    checkpoint = random_checkpoint(cell_size=512)
    writer(checkpoint, tmp_path / "model")
    before = sorted((path.name, path.read_bytes()) for path in (tmp_path / "model").iterdir())
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
    try:
        with pytest.raises(OutputError, match="can't be written.* bytes are needed, [0-9]+ are free"):
            writer(checkpoint, tmp_path / "model", force=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert sorted((path.name, path.read_bytes()) for path in (tmp_path / "model").iterdir()) == before
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_the_content_hash_follows_names_shapes_and_values(random_checkpoint):
    checkpoint = random_checkpoint()
    first = content_hash(checkpoint)
    shuffled = dict(reversed(checkpoint.tensors.items()))
    assert content_hash(replace(checkpoint, tensors=shuffled)) == first
    turned = checkpoint.tensors["token_encoder.projection.weight"]
    for values in (turned.reshape(turned.shape[::-1]), turned + 1):
        changed = checkpoint.tensors | {"token_encoder.projection.weight": values}
        assert content_hash(replace(checkpoint, tensors=changed)) != first


@pytest.mark.parametrize(
    "changes",
    [
        {"activation": "tanh"},
        {"cell_clip": None},
        {"projection_clip": 2.0},
        {"skip_connections": False},
        {"forget_bias": 0.0},
        {"max_characters_per_token": 20},
    ],
)
def test_the_content_hash_follows_what_no_tensor_shows(random_checkpoint, changes):
    assert content_hash(random_checkpoint(**changes)) != content_hash(random_checkpoint())


def test_the_content_hash_follows_the_words(random_word_checkpoint):
    checkpoint = random_word_checkpoint()
    ids = dict(checkpoint.token_map.words.words)
    ids["the"], ids["책"] = ids["책"], ids["the"]
    assert content_hash(replace(checkpoint, token_map=TokenMap(None, WordMap(ids)))) != content_hash(checkpoint)


def test_the_content_hash_of_a_published_architecture_is_that_of_its_tensors(random_checkpoint):
    """So it is the same as in files of before settings counted."""
    checkpoint = random_checkpoint()
    assert content_hash(checkpoint) == fingerprint(checkpoint.tensors)


def test_the_content_hash_is_the_same_in_every_format(written, tmp_path, full_checkpoint):
    write_allennlp(full_checkpoint, tmp_path / "published")
    published = read_allennlp(tmp_path / "published" / "options.json", tmp_path / "published" / "weights.hdf5")
    assert content_hash(published) == content_hash(read(written)) == content_hash(full_checkpoint)


def test_a_model_is_described_in_figures(full_checkpoint):
    facts = json.loads(json.dumps(describe(full_checkpoint)))
    assert facts["format"] == "allennlp"
    assert facts["reads"] == ["bytes"]
    assert facts["filters"] == [[1, 2], [2, 3]]
    assert (facts["layers"], facts["directions"], facts["output_dim"]) == (2, ["forward", "backward"], 8)
    assert facts["parameters"]["parts"]["character_embedding"] == 261 * 3
    assert facts["parameters"]["parts"]["forward_lstm"] == 2 * (2 * 24 * 4 + 24 + 4 * 6)
    assert facts["parameters"]["total"] == sum(facts["parameters"]["parts"].values())
    assert facts["parameters"]["softmax"] == 6 * 4 + 6
    assert facts["vocabulary_size"] == 6
    assert facts["has_softmax"] is facts["has_warm_state"] is True
    assert facts["content_hash"] == content_hash(full_checkpoint)
    assert facts["metadata"]["data"] == "위키"


def test_a_file_that_may_not_be_read_is_not_called_damaged(tiny_checkpoint, tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    write(tiny_checkpoint, tmp_path / "model")
    monkeypatch.setattr(tensor_file, "open_regular", refuse)
    with pytest.raises(WeightFileError, match=r"model\.safetensors: can't be read: Permission denied"):
        read(tmp_path / "model")


def test_a_model_is_written_where_permissions_can_not_be_set(tiny_checkpoint, tmp_path, monkeypatch):
    def refuse(path, mode):
        raise PermissionError(1, "Operation not permitted", str(path))

    monkeypatch.setattr(Path, "chmod", refuse)
    write(tiny_checkpoint, tmp_path / "model")
    assert read(tmp_path / "model").tensors.keys() == tiny_checkpoint.tensors.keys()
