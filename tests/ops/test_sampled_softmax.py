"""The sampled softmax: its correction is exact, and its sampler draws what the correction assumes."""

import itertools
import math

import numpy as np
import pytest
import torch
from torch.nn import functional

from elmo.errors import ConfigError
from elmo.ops.sampled_softmax import LogUniformSampler, SoftmaxRows, sampled_softmax_reference


def chances(size):
    """ln((c + 2) / (c + 1)) / ln(V + 1) for every id."""
    rank = np.arange(size)
    return np.log((rank + 2) / (rank + 1)) / math.log(size + 1)


def softmax(size, dim=4, targets=6, seed=0):
    """Random outputs, weights, biases and targets, float64."""
    generator = torch.Generator().manual_seed(seed)
    outputs, weight, bias = (
        torch.randn(*shape, generator=generator, dtype=torch.float64)
        for shape in ((targets, dim), (size, dim), (size,))
    )
    return outputs, weight, bias, torch.randint(size, (targets,), generator=generator)


def nats(outputs, weight, bias, target_ids, negative_ids, log_probability):
    target_rows, negative_rows = (
        SoftmaxRows(weight[ids], bias[ids], log_probability[ids]) for ids in (target_ids, negative_ids)
    )
    return sampled_softmax_reference(outputs, target_ids, target_rows, negative_ids, negative_rows)


def test_with_every_word_as_a_negative_it_is_the_full_softmax_of_corrected_logits():
    outputs, weight, bias, targets = softmax(9)
    sampler = LogUniformSampler(9, 9)
    sample = sampler.draw(np.random.default_rng(0))
    log_probability = sampler.log_probability(torch.arange(9), sample.num_draws).double()
    expected = functional.cross_entropy(outputs @ weight.t() + bias - log_probability, targets, reduction="none")
    torch.testing.assert_close(nats(outputs, weight, bias, targets, sample.ids, log_probability), expected)
    certain = sampler.log_probability(torch.arange(9), 10_000).double()
    assert not certain.any()
    full = functional.cross_entropy(outputs @ weight.t() + bias, targets, reduction="none")
    torch.testing.assert_close(nats(outputs, weight, bias, targets, sample.ids, certain), full)


def test_a_negative_that_is_the_target_is_left_out_of_that_row_only():
    outputs, weight, bias, _ = softmax(9, targets=2)
    targets, negatives, log_probability = torch.tensor([3, 5]), torch.tensor([1, 3, 7]), torch.full((9,), -0.7).double()
    log_probability[3] = -0.1
    logits = outputs @ weight.t() + bias - log_probability
    for row, candidates in enumerate([[3, 1, 7], [5, 1, 3, 7]]):
        expected = torch.logsumexp(logits[row, candidates], dim=0) - logits[row, targets[row]]
        found = nats(outputs, weight, bias, targets, negatives, log_probability)[row]
        torch.testing.assert_close(found, expected)


def test_a_target_that_is_the_only_negative_costs_nothing():
    outputs, weight, bias, _ = softmax(9, targets=1)
    found = nats(outputs, weight, bias, torch.tensor([4]), torch.tensor([4]), torch.zeros(9).double())
    assert found.tolist() == [0.0]


def test_the_expected_gradient_is_zero_where_the_full_softmax_has_none():
    """A model that is right stays as it is, exactly: summed over all targets and all sets of negatives.

    Targets come with the chances the model gives them, so the full softmax's expected gradient is zero. Each word is
    among the negatives with its own chance, whatever the others are.
    """
    size = 6
    outputs, weight, bias, _ = softmax(size, targets=1)
    bias.requires_grad_()
    included = torch.linspace(0.9, 0.2, size, dtype=torch.float64)
    right = torch.softmax(outputs @ weight.t() + bias.detach(), dim=1)[0]
    expected = torch.zeros((), dtype=torch.float64)
    for chosen in itertools.product([False, True], repeat=size):
        here = torch.tensor(chosen)
        chance = torch.where(here, included, 1 - included).prod()
        for target in range(size):
            loss = nats(outputs, weight, bias, torch.tensor([target]), here.nonzero()[:, 0], included.log())
            expected = expected + right[target] * chance * loss[0]
    (gradient,) = torch.autograd.grad(expected, bias)
    assert gradient.abs().max() < 1e-12
    wrong = torch.autograd.grad(
        nats(outputs, weight, bias, torch.tensor([0]), torch.arange(3), included.log())[0], bias
    )
    assert wrong[0].abs().max() > 1e-2  # the terms themselves are not zero


def test_gradients_equal_finite_differences():
    outputs, weight, bias, targets = softmax(9, dim=3)
    negatives, log_probability = torch.tensor([0, 2, 5, 6]), -torch.rand(9, dtype=torch.float64)

    def loss(*tensors):
        return nats(*tensors, targets, negatives, log_probability)

    assert torch.autograd.gradcheck(loss, [tensor.requires_grad_() for tensor in (outputs, weight, bias)])


def test_log_chance_is_how_often_an_id_is_among_the_draws():
    """4,000 times 25 draws of 30 words: every id's share is within 4 standard errors."""
    size, num_draws, times = 30, 25, 4000
    draws = np.random.default_rng(3).choice(size, size=(times, num_draws), p=chances(size))
    share = np.array([(draws == word).any(axis=1).mean() for word in range(size)])
    found = LogUniformSampler(size, 5).log_probability(torch.arange(size), num_draws).double().exp().numpy()
    assert (np.abs(found - share) < 4 * np.sqrt(found * (1 - found) / times)).all()


def test_log_chance_is_exact_for_the_rarest_word_of_a_large_vocabulary():
    size, num_draws = 793_471, 9_000
    rarest = np.longdouble(size - 1)
    p = np.log1p(1 / (rarest + 1)) / np.log(np.longdouble(size + 1))
    expected = float(np.log(-np.expm1(num_draws * np.log1p(-p))))
    found = LogUniformSampler(size, 8192).log_probability(torch.tensor([size - 1, 0]), num_draws)
    assert found[0].item() == pytest.approx(expected, rel=1e-6)
    assert found[1].item() == pytest.approx(0, abs=1e-6)


def test_single_draws_follow_the_log_uniform_distribution():
    sampler, generator, size = LogUniformSampler(8, 1), np.random.default_rng(5), 8
    counts = np.zeros(size)
    for _ in range(4000):
        sample = sampler.draw(generator)
        assert sample.num_draws == 1
        counts[sample.ids.item()] += 1
    expected = 4000 * chances(size)
    assert ((counts - expected) ** 2 / expected).sum() < 24.3  # chi-squared, 7 degrees of freedom, p = 0.001


def _drawn_one_by_one(sampler, generator):
    """The plain loop that the sampler must equal: draws are made in the same portions."""
    found, count = [], 0
    while True:
        for id in sampler._draws(generator, 2 * sampler.num_samples).tolist():
            count += 1
            if id not in found:
                found.append(id)
                if len(found) == sampler.num_samples:
                    return sorted(found), count


@pytest.mark.parametrize(("size", "wanted"), [(50, 50), (50, 49), (300, 200), (1000, 7), (1, 1)])
def test_a_sample_is_that_of_drawing_one_by_one(size, wanted):
    sampler = LogUniformSampler(size, wanted)
    one, other = np.random.default_rng(4), np.random.default_rng(4)
    for _ in range(3):
        ids, num_draws = sampler.draw(one)
        assert (ids.tolist(), num_draws) == _drawn_one_by_one(sampler, other)
    assert one.random() == other.random()


def test_no_draw_is_sorted_twice_however_many_are_needed(monkeypatch):
    plain, sorted_numbers = np.unique, []

    def counting(values, **settings):
        sorted_numbers.append(len(values))
        return plain(values, **settings)

    monkeypatch.setattr(np, "unique", counting)
    sampler = LogUniformSampler(2000, 2000)
    sample = sampler.draw(np.random.default_rng(0))
    assert sample.ids.tolist() == list(range(2000))
    assert 20 * 2000 < sample.num_draws < 3 * 2000 * math.log(2000) ** 2  # many rounds
    assert sum(sorted_numbers) < sample.num_draws + 2 * 2000


@pytest.mark.parametrize("num_samples", [0, 11])
def test_more_negatives_than_words_are_refused(num_samples):
    with pytest.raises(ConfigError, match=rf"num_negative_samples must be from 1 to .* 10 \(got {num_samples}\)"):
        LogUniformSampler(10, num_samples)
