"""ELMos out of AllenNLP's state dicts."""

import h5py
import numpy as np
import pytest
import torch

from elmo.errors import WeightFileError
from elmo.layer.elmo import ELMo
from elmo.model.bilm import BiLM
from elmo.text.characters import CharacterMap
from elmo.text.token_map import TokenMap
from elmo.weights.allennlp.read import read
from elmo.weights.allennlp.state_dict import from_state_dict
from elmo.weights.checkpoint import Checkpoint

LSTM, ENCODER = "_elmo_lstm._elmo_lstm", "_elmo_lstm._token_embedder"


def as_allennlp_loads(path):
    """A weight file's datasets by AllenNLP's parameter names and layouts: the specification, 4.1 and 4.7."""
    with h5py.File(path) as file:
        state = {f"{ENCODER}._char_embedding_weights": np.pad(file["char_embed"][:], ((1, 0), (0, 0)))}
        for i in range(sum(name.startswith("W_") for name in file["CNN"])):
            state[f"{ENCODER}.char_conv_{i}.weight"] = file[f"CNN/W_cnn_{i}"][0].transpose(2, 1, 0)
            state[f"{ENCODER}.char_conv_{i}.bias"] = file[f"CNN/b_cnn_{i}"][:]
        for k in range(sum(name.startswith("CNN_high") for name in file)):
            high, layer = file[f"CNN_high_{k}"], f"{ENCODER}._highways._layers.{k}"
            state[f"{layer}.weight"] = np.concatenate([high["W_transform"][:].T, -high["W_carry"][:].T])
            state[f"{layer}.bias"] = np.concatenate([high["b_transform"][:], -high["b_carry"][:]])
        state[f"{ENCODER}._projection.weight"] = file["CNN_proj/W_proj"][:].T
        state[f"{ENCODER}._projection.bias"] = file["CNN_proj/b_proj"][:]
        for d, direction in enumerate(("forward", "backward")):
            for number in range(len(file[f"RNN_{d}/RNN/MultiRNNCell"])):
                cell, layer = (
                    file[f"RNN_{d}/RNN/MultiRNNCell/Cell{number}/LSTMCell"],
                    f"{LSTM}.{direction}_layer_{number}",
                )
                kernel, bias = reorder(cell["W_0"][:].T), cell["B"][:]
                bias[2 * len(bias) // 4 : 3 * len(bias) // 4] += 1
                width = cell["W_P_0"].shape[1]
                state[f"{layer}.input_linearity.weight"] = kernel[:, :-width]
                state[f"{layer}.state_linearity.weight"] = kernel[:, -width:]
                state[f"{layer}.state_linearity.bias"] = reorder(bias)
                state[f"{layer}.state_projection.weight"] = cell["W_P_0"][:].T
    return state


def reorder(rows):
    """Gates i, j, f, o -> i, f, j, o."""
    i, j, f, o = np.split(rows, 4)
    return np.concatenate([i, f, j, o])


def with_mixes(state, mixes):
    for number, (weights, gamma) in enumerate(mixes):
        for layer, weight in enumerate(weights):
            state[f"scalar_mix_{number}.scalar_parameters.{layer}"] = np.array([weight], dtype=np.float32)
        state[f"scalar_mix_{number}.gamma"] = np.array([gamma], dtype=np.float32)
    return state


def test_an_imported_elmo_gives_the_published_vectors(golden):
    settings = read(*golden.files).config
    if not settings.skip_connections:
        pytest.skip("AllenNLP has no such model")
    mixes = [(mix["scalar_mix_parameters"], mix["gamma"]) for mix in golden.mixes]
    found = from_state_dict(with_mixes(as_allennlp_loads(golden.files[1]), mixes), settings)
    assert found.config.forget_bias == 0
    bilm = BiLM.from_checkpoint(Checkpoint(found.config, found.tensors, TokenMap(CharacterMap.for_bytes())))
    elmo = ELMo(bilm, num_mixes=len(mixes)).eval()
    elmo.load_learned_state_dict(found.mixes)
    output = elmo(golden.batches[0])
    np.testing.assert_allclose(output.mixes[0].detach(), golden.expected["b0_mix0"], rtol=0, atol=golden.tolerance)
    for shown, (weights, gamma) in zip(elmo.mix_weights(), mixes, strict=True):
        assert shown["weights"] == pytest.approx(torch.tensor(weights).softmax(dim=0).tolist())
        assert shown["gamma"] == pytest.approx(gamma)


@pytest.fixture
def state(published):
    """Of a small model of random numbers: 2 filters, 1 highway, 2 layers, 2 mixes."""
    return with_mixes(as_allennlp_loads(published / "weights.hdf5"), [((0.5, 1.0, -1.0), 2.0), ((0.0, 0.0, 0.0), 1.0)])


def test_sizes_come_from_the_shapes(state):
    found = from_state_dict(state)
    config = found.config
    assert (config.filters, config.num_highway, config.num_layers) == (((1, 2), (2, 3)), 1, 2)
    assert (config.cell_size, config.projection_size, config.character_dim) == (6, 4, 3)
    assert found.mixes["mixes.0.raw_weights"].tolist() == [0.5, 1.0, -1.0]
    assert not found.tensors["token_encoder.character_embedding"][0].any()


def test_a_prefix_and_the_tasks_own_tensors_are_left_aside(state):
    prefix = "text_field_embedder.token_embedder_elmo._elmo."
    whole = {prefix + name: array for name, array in state.items()} | {
        "classifier.weight": np.zeros((2, 2)),
        "text_field_embedder.token_embedder_elmo._projection.weight": np.zeros((3, 12)),
        f"{prefix}_elmo_lstm._word_embedding.weight": np.zeros((7, 6)),
    }
    plain, found = from_state_dict(state), from_state_dict(whole)
    assert found.config == plain.config
    for name, array in {**plain.tensors, **plain.mixes}.items():
        np.testing.assert_array_equal({**found.tensors, **found.mixes}[name], array)


def test_state_dicts_that_are_no_elmo_are_refused(state):
    with pytest.raises(WeightFileError, match="the state dict has no ELMo"):
        from_state_dict({"weight": np.zeros(2)})
    with pytest.raises(WeightFileError, match="has 2 ELMos"):
        from_state_dict({**state, **{f"other.{name}": array for name, array in state.items()}})


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        (f"{ENCODER}._projection.weight", None, "'_elmo_lstm._token_embedder._projection.weight' is missing"),
        (f"{LSTM}.backward_layer_1.state_linearity.bias", None, "state_linearity.bias' has shape none"),
        (f"{LSTM}.forward_layer_0.input_linearity.weight", np.zeros((40, 7)), r"has shape \(40, 7\)"),
        ("_elmo_lstm._something.weight", np.zeros(2), "asks for none"),
        ("scalar_mix_1.scalar_parameters.2", None, "'scalar_mix_1': .*'scalar_mix_1.scalar_parameters.2' is missing"),
    ],
)
def test_what_is_missing_or_misshapen_is_named(state, name, array, message):
    if array is None:
        del state[name]
    else:
        state[name] = array
    with pytest.raises(WeightFileError, match=message):
        from_state_dict(state)
