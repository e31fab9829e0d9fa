"""The softmax in blocks against elmo.reference, in float64."""

import numpy as np
import pytest

from elmo import reference
from elmo.engine import softmax
from elmo.engine.softmax import Softmax, log_softmax

SIZES = {"full": (23, ()), "clusters": (5, ((4, 3), (14, 2)))}


@pytest.fixture(params=SIZES)
def tensors(request: pytest.FixtureRequest) -> dict[str, np.ndarray]:
    """23 words, full or with two clusters of rarer ones."""
    frequent, clusters = SIZES[request.param]
    shapes = {"weight": (frequent + len(clusters), 8), "bias": (frequent + len(clusters),)}
    for index, (words, width) in enumerate(clusters):
        names = ("projection", "weight", "bias")
        of_cluster = ((width, 8), (words, width), (words,))
        shapes |= {f"clusters.{index}.{name}": shape for name, shape in zip(names, of_cluster, strict=True)}
    chance = np.random.default_rng(1)
    return {name: chance.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


@pytest.fixture
def outputs() -> np.ndarray:
    return np.random.default_rng(2).standard_normal((37, 8)).astype(np.float32)


def by_hand(tensors: dict[str, np.ndarray], outputs: np.ndarray) -> np.ndarray:
    """ln p of every word, from the definition."""
    wide = {name: array.astype(np.float64) for name, array in tensors.items()}

    def log_probabilities(inputs: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
        return np.array([reference.log_probabilities(h, weight, bias) for h in inputs])

    outputs = outputs.astype(np.float64)
    first = log_probabilities(outputs, wide["weight"], wide["bias"])
    clusters = sum(name.endswith(".projection") for name in tensors)
    parts = [first[:, : first.shape[1] - clusters]]
    for index in range(clusters):
        projection, weight, bias = (wide[f"clusters.{index}.{name}"] for name in ("projection", "weight", "bias"))
        within = log_probabilities(outputs @ projection.T, weight, bias)
        parts.append(first[:, first.shape[1] - clusters + index, None] + within)
    return np.concatenate(parts, axis=1)


@pytest.mark.parametrize("block", [(1, 1), (5, 4), (256, 2048)])
def test_nats_are_those_of_the_definition_whatever_the_blocks(tensors, outputs, block, monkeypatch):
    monkeypatch.setattr(softmax, "_TARGETS", block[0])
    monkeypatch.setattr(softmax, "_WORDS", block[1])
    targets = np.arange(len(outputs)) % 23
    found = Softmax(tensors).nats(outputs, targets)
    assert found.dtype == np.float32
    expected = -by_hand(tensors, outputs)[np.arange(len(outputs)), targets]
    np.testing.assert_allclose(found, expected, atol=2e-6, rtol=2e-6)


def test_every_word_has_its_log_probability(tensors, outputs):
    found = Softmax(tensors).log_probabilities(outputs)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, by_hand(tensors, outputs), atol=2e-6, rtol=2e-6)


def test_large_logits_do_not_overflow(tensors, outputs):
    found = Softmax({**tensors, "bias": tensors["bias"] + 1e4}).nats(outputs, np.zeros(len(outputs), np.int64))
    assert np.isfinite(found).all()


def test_outputs_that_are_not_finite_have_no_nats(tensors, outputs):
    outputs[3, 2] = np.nan
    with np.errstate(invalid="ignore"):
        found = Softmax(tensors).nats(outputs, np.zeros(len(outputs), np.int64))
    assert np.flatnonzero(np.isnan(found)).tolist() == [3]


def test_no_targets_have_no_nats(tensors, outputs):
    assert Softmax(tensors).nats(outputs[:0], np.zeros(0, np.int64)).shape == (0,)


def test_it_is_polled_before_each_block_of_targets(tensors, outputs, monkeypatch):
    monkeypatch.setattr(softmax, "_TARGETS", 10)
    polls: list[int] = []
    Softmax(tensors).nats(outputs, np.zeros(len(outputs), np.int64), poll=lambda: polls.append(1))
    assert len(polls) == 4


def test_impossible_words_stay_impossible():
    found = log_softmax(np.array([[0.0, -np.inf, 0.0]]))
    assert found[0].tolist() == pytest.approx([-np.log(2), -np.inf, -np.log(2)])
