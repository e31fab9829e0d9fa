"""Regression against scikit-learn's, its gradient against finite differences, and warm starts against cold ones."""

import numpy as np
import pytest

from elmo_paper.analysis.probes.linear_probe import Regression

pytest.importorskip("scipy")


@pytest.fixture
def data():
    """Strongly correlated inputs of unit variance, as a layer's are."""
    random = np.random.default_rng(0)
    hidden = random.normal(size=(600, 3))
    inputs = hidden @ random.normal(size=(3, 8)) + 0.1 * random.normal(size=(600, 8))
    inputs = ((inputs - inputs.mean(axis=0)) / inputs.std(axis=0)).astype(np.float32)
    classes = (hidden @ random.normal(size=(3, 4)) + random.normal(size=(600, 4))).argmax(axis=1)
    return inputs, classes


def objective(inputs, classes, weights, bias, strength):
    scores = (inputs @ weights + bias).astype(np.float64)
    chosen = scores[np.arange(len(classes)), classes]
    return float((np.logaddexp.reduce(scores, axis=1) - chosen).mean() + strength * np.square(weights).sum())


@pytest.mark.parametrize("strength", [1e-1, 1e-3, 1e-5])
def test_the_optimum_is_that_of_scikit_learn(data, strength):
    linear_model = pytest.importorskip("sklearn.linear_model")
    inputs, classes = data
    weights, bias = Regression(inputs, classes, 4).fit(strength)
    c = 1 / (2 * strength * len(classes))
    reference = linear_model.LogisticRegression(C=c, tol=1e-7, max_iter=20_000).fit(inputs.astype(np.float64), classes)
    expected = objective(inputs, classes, reference.coef_.T, reference.intercept_, strength)
    assert objective(inputs, classes, weights, bias, strength) == pytest.approx(expected, rel=2e-3)
    assert ((inputs @ weights + bias).argmax(axis=1) == reference.predict(inputs)).mean() > 0.97


def test_the_gradient_is_that_of_the_function(data):
    regression = Regression(*data, 4)
    random = np.random.default_rng(1)
    square = random.normal(size=(8, 8))
    penalty, inputs = 0.01 * square @ square.T, regression._inputs
    at = 0.3 * random.normal(size=(9, 4))
    _, gradient = regression._loss(at, inputs, penalty)
    for place in random.integers(at.size, size=12):
        step = np.zeros(at.size)
        step[place] = 1e-2
        ahead, behind = (regression._loss(at + sign * step.reshape(at.shape), inputs, penalty)[0] for sign in (1, -1))
        assert gradient[place] == pytest.approx((ahead - behind) / 2e-2, abs=2e-4)


def test_a_fit_from_other_weights_ends_at_the_same_place(data):
    warm = Regression(*data, 4)
    warm.fit(1e-1)
    values = [objective(*data, *one.fit(1e-3), 1e-3) for one in (warm, Regression(*data, 4))]
    assert values[0] == pytest.approx(values[1], rel=2e-3)


def test_a_dimension_that_never_varies_does_no_harm(data):
    inputs, classes = data
    constant = np.concatenate([inputs, np.zeros((len(inputs), 1), dtype=np.float32)], axis=1)
    weights, _ = Regression(constant, classes, 4).fit(1e-3)
    assert np.isfinite(weights).all() and np.abs(weights[-1]).max() < 1e-6
