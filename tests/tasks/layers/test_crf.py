"""The CRF equals the enumeration of every sequence, in values and gradients."""

import itertools
import json

import numpy as np
import pytest
import torch

from elmo.tasks.layers.crf import CRF, best_sequences, forbidden
from elmo.tasks.srl.columns import column_of_spans
from elmo.tasks.tags import OUTSIDE, all_tags, follows, spans_of, tags_of


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


NUM_TAGS = 4


@pytest.fixture
def crf() -> CRF:
    torch.manual_seed(0)
    anything = torch.ones(NUM_TAGS, NUM_TAGS, dtype=torch.bool)
    crf = CRF(anything, anything[0], anything[0]).double()
    torch.nn.init.normal_(crf.transitions)
    return crf


def batch(num_tags: int = NUM_TAGS) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Rows of 4, 1, 3 and 0 tokens; behind the ends stands what nothing may read."""
    generator = torch.Generator().manual_seed(1)
    emissions = torch.randn(4, 4, num_tags, dtype=torch.float64, generator=generator)
    tags = torch.randint(num_tags, (4, 4), generator=generator)
    mask = torch.arange(4)[None] < torch.tensor([4, 1, 3, 0])[:, None]
    emissions[~mask] = torch.nan
    tags[~mask] = -100
    return emissions, tags, mask


def score(crf: CRF, emissions: torch.Tensor, tags: tuple[int, ...]) -> torch.Tensor:
    total = emissions.new_zeros(())
    for place, tag in enumerate(tags):
        total = total + emissions[place, tag]
        if place:
            total = total + crf.transitions[tags[place - 1], tag]
    return total


def enumerated(crf: CRF, emissions: torch.Tensor, tags: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """The log-likelihoods, by every sequence there is."""
    rows = []
    for emission, gold, length in zip(emissions, tags, mask.sum(dim=1).tolist(), strict=True):
        every = itertools.product(range(emission.shape[1]), repeat=length)
        partition = torch.logsumexp(torch.stack([score(crf, emission, one) for one in every]), dim=0)
        rows.append(score(crf, emission, tuple(gold[:length].tolist())) - partition)
    return torch.stack(rows)


def test_log_likelihoods_equal_the_enumeration_of_all_sequences(crf):
    emissions, tags, mask = batch()
    found = crf.log_likelihood(emissions, tags, mask)
    torch.testing.assert_close(found, enumerated(crf, emissions, tags, mask))
    assert found[3] == 0


def test_gradients_equal_those_of_the_enumeration(crf):
    emissions, tags, mask = batch()
    emissions.requires_grad_()
    fast = torch.autograd.grad(crf.log_likelihood(emissions, tags, mask).sum(), [emissions, crf.transitions])
    slow = torch.autograd.grad(enumerated(crf, emissions, tags, mask).sum(), [emissions, crf.transitions])
    for one, other in zip(fast, slow, strict=True):
        torch.testing.assert_close(one, other)
    assert (fast[0][~mask] == 0).all()


@pytest.mark.parametrize("scheme", ["bioul", "iob2", "iob1"])
@pytest.mark.parametrize("seed", range(3))
def test_the_decoded_sequence_is_the_best_that_the_scheme_allows(scheme, seed):
    tags = all_tags(["A", "B"], scheme)
    allowed = torch.tensor([[follows(before, tag, scheme) for tag in tags] for before in tags])
    begins = torch.tensor([follows(OUTSIDE, tag, scheme) for tag in tags])
    ends = torch.tensor([follows(tag, OUTSIDE, scheme) for tag in tags])
    torch.manual_seed(seed)
    crf = CRF(allowed, begins, ends).double()
    torch.nn.init.normal_(crf.transitions)
    emissions, _, mask = batch(len(tags))
    for row, emission, length in zip(
        crf.decode(emissions, mask, crf.transitions), emissions, [4, 1, 3, 0], strict=True
    ):
        valid = [
            one
            for one in itertools.product(range(len(tags)), repeat=length)
            # A sequence is in the scheme if it is how the scheme writes its own entities.
            if tags_of(spans_of([tags[tag] for tag in one]), length, scheme) == [tags[tag] for tag in one]
        ]
        assert tuple(row) == max(valid, key=lambda one: score(crf, emission, one).item())


def test_nothing_to_tag_is_no_error(crf):
    empty = torch.zeros(2, 0, NUM_TAGS, dtype=torch.float64)
    mask = torch.zeros(2, 0, dtype=torch.bool)
    assert crf.log_likelihood(empty, torch.zeros(2, 0, dtype=torch.int64), mask).tolist() == [0, 0]
    assert crf.decode(empty, mask, crf.transitions) == [[], []]
