"""The adaptive softmax: a distribution over the whole vocabulary, computed only where a target needs it."""

import pytest
import torch

from elmo.ops.adaptive_softmax import (
    AdaptiveWeights,
    Cluster,
    adaptive_log_probabilities,
    adaptive_softmax_mean,
    adaptive_softmax_nats,
    adaptive_softmax_reference,
)

FREQUENT, SIZES, WIDTHS, DIM = 7, (4, 9), (3, 2), 6
WORDS = FREQUENT + sum(SIZES)


def weights(dtype=torch.float64):
    """Two clusters; every tensor needs a gradient."""
    generator = torch.Generator().manual_seed(1)

    def normal(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype).requires_grad_()

    clusters = tuple(
        Cluster(normal(width, DIM), normal(size, width), normal(size))
        for size, width in zip(SIZES, WIDTHS, strict=True)
    )
    return AdaptiveWeights(normal(FREQUENT + 2, DIM), normal(FREQUENT + 2), clusters)


def outputs(count, dtype=torch.float64):
    values = torch.randn(count, DIM, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    return values.to(dtype).requires_grad_()


def flat(parts):
    return [parts.weight, parts.bias, *(tensor for cluster in parts.clusters for tensor in cluster)]


def test_a_word_of_a_cluster_has_the_clusters_chance_times_its_own():
    given, parts = outputs(1), weights()
    first = torch.softmax(given @ parts.weight.t() + parts.bias, dim=1)[0]
    projection, weight, bias = parts.clusters[1]
    within = torch.softmax(given @ projection.t() @ weight.t() + bias, dim=1)[0]
    chances = adaptive_log_probabilities(given, parts).exp()[0]
    torch.testing.assert_close(chances[:FREQUENT], first[:FREQUENT])
    torch.testing.assert_close(chances[FREQUENT + SIZES[0] :], first[FREQUENT + 1] * within)


@pytest.mark.parametrize(
    "ids", [list(range(WORDS)), [0, 6, 6], [7, 10, 7], [11, 19], [19, 0, 11, 7]], ids=lambda ids: f"{len(ids)} targets"
)
def test_cluster_by_cluster_equals_the_reference_in_values_and_gradients(ids):
    targets, given, parts = torch.tensor(ids), outputs(len(ids)), weights()
    leaves = [given, *flat(parts)]
    expected = adaptive_softmax_reference(given, targets, parts)
    nats, mean = (run(given, targets, parts) for run in (adaptive_softmax_nats, adaptive_softmax_mean))
    torch.testing.assert_close(nats, expected, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(mean, expected.mean(), rtol=1e-12, atol=1e-12)
    wanted = torch.autograd.grad(expected.mean(), leaves, retain_graph=True)
    for found in (nats.mean(), mean):
        gradients = torch.autograd.grad(found, leaves, allow_unused=True)
        for one, other in zip(gradients, wanted, strict=True):
            torch.testing.assert_close(torch.zeros_like(other) if one is None else one, other, rtol=1e-9, atol=1e-13)


def test_bfloat16_products_change_the_mean_little():
    targets, given, parts = torch.arange(WORDS), outputs(WORDS, torch.float32), weights(torch.float32)
    exact = adaptive_softmax_mean(given, targets, parts)
    rounded = adaptive_softmax_mean(given, targets, parts, torch.bfloat16)
    assert rounded.dtype == torch.float32
    assert rounded.item() == pytest.approx(exact.item(), rel=0.02)
