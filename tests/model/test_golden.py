"""The vectors of the original implementations, computed again."""

import json

import numpy as np
import torch

from elmo.layer.elmo import ELMo
from elmo.layer.on_engine import padded_ids
from elmo.model.bilm import BiLM, BiLMState

LOOSE = 1e-4  # golden/README.md: safe for float32


def of_rows(state: BiLMState, rows: slice) -> BiLMState:
    return BiLMState(state.hidden[:, rows], state.cell[:, rows])


class AllenNlpStates:
    """AllenNLP's table of states, one row per place in the batch: it grows with zeros and never shrinks."""

    def __init__(self, bilm: BiLM) -> None:
        self.bilm = bilm
        self.table = bilm.zero_state(0)

    def take(self, rows: int) -> BiLMState:
        new = self.bilm.zero_state(max(0, rows - self.table.hidden.shape[1]))
        self.table = BiLMState(torch.cat([self.table.hidden, new.hidden], 1), torch.cat([self.table.cell, new.cell], 1))
        return of_rows(self.table, slice(rows))

    def put(self, state: BiLMState) -> None:
        rest = of_rows(self.table, slice(state.hidden.shape[1], None))
        self.table = BiLMState(torch.cat([state.hidden, rest.hidden], 1), torch.cat([state.cell, rest.cell], 1))


def layers_of(raw_weights: list[float] | None) -> str | list[float]:
    """AllenNLP's `scalar_mix_parameters`, which a softmax turns into the weights, as `ELMo` takes them."""
    return "mix" if raw_weights is None else torch.tensor(raw_weights, dtype=torch.float64).softmax(0).tolist()


def run(bilm, batches, ids_of):
    """The biLM on batches one after the other, the state carried on as AllenNLP does."""
    states = AllenNlpStates(bilm)
    for batch in batches:
        with torch.no_grad():
            output = bilm(ids_of(batch), state=states.take(len(batch)))
        states.put(output.state)
        yield output, states.table


def assert_close(found, expected, tolerance):
    np.testing.assert_allclose(np.asarray(found), expected, rtol=0, atol=tolerance)


def test_character_ids_equal_those_of_batch_to_ids(golden):
    elmo = ELMo.from_pretrained(golden.files)
    for index, batch in enumerate(golden.batches):
        np.testing.assert_array_equal(elmo.character_ids(batch), golden.expected[f"b{index}_char_ids"])


def test_layers_masks_and_states_equal_published_vectors(golden):
    elmo = ELMo.from_pretrained(golden.files)
    for index, (output, table) in enumerate(run(elmo.bilm, golden.batches, elmo.character_ids)):
        mask = golden.expected[f"b{index}_mask"]
        np.testing.assert_array_equal(output.mask, mask)
        for number, layer in enumerate(output.layers):
            assert_close(layer, golden.expected[f"b{index}_layer{number}"], golden.tolerance)
            assert not layer[~output.mask].any()
        assert_close(table.hidden, golden.expected[f"b{index}_state_h"], golden.tolerance)
        assert_close(table.cell, golden.expected[f"b{index}_state_c"], golden.tolerance)


def test_float64_agrees_as_closely_as_the_golden_arrays_allow(golden):
    elmo = ELMo.from_pretrained(golden.files).double()
    for index, (output, _) in enumerate(run(elmo.bilm, golden.batches, elmo.character_ids)):
        for number, layer in enumerate(output.layers):
            assert_close(layer, golden.expected[f"b{index}_layer{number}"], 1.1 * golden.rounding)


def test_mixes_equal_published_vectors(golden):
    for number, setting in enumerate(golden.mixes):
        elmo = ELMo.from_pretrained(
            golden.files,
            layers=layers_of(setting["scalar_mix_parameters"]),
            layer_norm=setting["do_layer_norm"],
            keep_boundaries=setting["keep_sentence_boundaries"],
        ).eval()
        elmo.load_learned_state_dict({**elmo.learned_state_dict(), "mixes.0.gamma": np.array([setting["gamma"]])})
        for index, (output, _) in enumerate(run(elmo.bilm, golden.batches, elmo.character_ids)):
            mixed = elmo.mix(output)
            np.testing.assert_array_equal(mixed.mask, golden.expected[f"b{index}_mix{number}_mask"])
            assert_close(mixed.mixes[0].detach(), golden.expected[f"b{index}_mix{number}"], golden.tolerance)


def test_layers_equal_elmo_for_many_langs_from_zeros_and_after_a_call_before(golden_folder, many_langs_checkpoint):
    folder, bilm = golden_folder / "efml_word_and_char", BiLM.from_checkpoint(many_langs_checkpoint)
    calls = json.loads((folder / "sentences.json").read_text())
    first, second = calls["call0"], calls["call1"]
    layers, state = embed_many_langs(bilm, first)
    found = {
        "call0": layers,
        "fresh1": embed_many_langs(bilm, second)[0],
        "call1": embed_many_langs(bilm, second, of_rows(state, slice(len(second))))[0],
    }
    with np.load(folder / "expected.npz") as expected:
        for name, sentences in found.items():
            for row, vectors in sentences.items():
                assert_close(vectors, expected[f"{name}_s{row}_all"], LOOSE)


@torch.no_grad()
def embed_many_langs(bilm, sentences, state=None):
    """Each sentence's (layers, tokens, dim) and the state; rows stand longest first, as in ELMoForManyLangs."""
    order = sorted(range(len(sentences)), key=lambda row: -len(sentences[row]))
    output = bilm(*padded_ids(bilm, [sentences[row] for row in order]), state)
    return {row: output.layers[:, place, 1 : len(sentences[row]) + 1] for place, row in enumerate(order)}, output.state
