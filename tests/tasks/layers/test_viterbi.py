"""The best sequence equals that of the enumeration of all, and the original's on its potentials."""

import itertools
import json

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elmo.tasks.layers.viterbi import best_sequences, forbidden
from elmo.tasks.srl.brackets import column_of_spans
from elmo.tasks.tags import OUTSIDE, all_tags, follows, spans_of


@pytest.mark.parametrize("name", ["peaked", "random"])
def test_paths_equal_the_originals(golden_folder, name):
    folder = golden_folder / "tasks" / "viterbi_srl"
    expected = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    with np.load(folder / f"{name}.npz") as file:
        arrays = {key: torch.from_numpy(file[key]) for key in file}
    emissions = arrays["log_probabilities"].double()
    mask = torch.arange(emissions.shape[1]) < arrays["lengths"][:, None]
    tags = expected["labels"]
    allowed = torch.tensor([[follows(before, tag, "iob2") for tag in tags] for before in tags])
    begins = torch.tensor([follows(OUTSIDE, tag, "iob2") for tag in tags])
    assert torch.equal(forbidden(allowed), arrays["transition_potentials"].float())
    assert torch.equal(forbidden(begins), arrays["start_potentials"].float())
    found = best_sequences(emissions, mask, forbidden(allowed), forbidden(begins), torch.zeros(len(tags)))
    assert found == expected["log_probability_paths"]
    named = [[tags[number] for number in row] for row in found]
    assert named == expected["tags"]
    assert [column_of_spans(spans_of(row), len(row)) for row in named] == expected["brackets"]
    greedy = [column_of_spans(spans_of(row), len(row)) for row in expected["greedy_tags"]]
    assert greedy == expected["brackets_of_greedy"]


@given(st.integers(0, 5), st.integers(0, 10_000))
def test_the_sequence_is_the_best_of_all_valid_ones(length, seed):
    tags = all_tags(["A", "B"], "iob2")
    generator = torch.Generator().manual_seed(seed)
    emissions = torch.randn(1, 5, len(tags), generator=generator, dtype=torch.float64)
    transitions = torch.randn(len(tags), len(tags), generator=generator, dtype=torch.float64)
    allowed = torch.tensor([[follows(before, tag, "iob2") for tag in tags] for before in tags])
    begins = torch.tensor([follows(OUTSIDE, tag, "iob2") for tag in tags])
    mask = torch.arange(5)[None] < length
    moves = transitions + forbidden(allowed)
    (found,) = best_sequences(emissions, mask, moves, forbidden(begins), torch.zeros(len(tags)))

    def score(path):
        own = sum(emissions[0, place, tag].item() for place, tag in enumerate(path))
        return own + sum(moves[one, other].item() for one, other in itertools.pairwise(path))

    valid = (
        path
        for path in itertools.product(range(len(tags)), repeat=length)
        if all(
            follows(one, other, "iob2") for one, other in itertools.pairwise([OUTSIDE, *(tags[tag] for tag in path)])
        )
    )
    assert tuple(found) == max(valid, key=score)
