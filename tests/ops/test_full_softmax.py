"""The chunked full softmax equals the plain one, in values and gradients, and holds one chunk at a time."""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from elmo.ops import full_softmax
from elmo.ops.full_softmax import full_softmax_mean, full_softmax_reference


def problem(targets=11, words=23, dim=5, dtype=torch.float64):
    """Random outputs, weights and biases that need gradients, and targets with a word twice."""
    generator = torch.Generator().manual_seed(0)
    tensors = [
        torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype).requires_grad_()
        for shape in ((targets, dim), (words, dim), (words,))
    ]
    ids = torch.randint(words, (targets,), generator=generator)
    ids[0] = ids[-1]
    return tensors, ids


@pytest.mark.parametrize("logits_at_once", [1, 23, 50, 23 * 10, 10**6])
def test_the_mean_and_its_gradients_equal_the_reference_whatever_the_chunk(logits_at_once, monkeypatch):
    monkeypatch.setattr(full_softmax, "_LOGITS_AT_ONCE", logits_at_once)
    (outputs, weight, bias), ids = problem()
    expected = full_softmax_reference(outputs, ids, weight, bias).mean()
    found = full_softmax_mean(outputs, ids, weight, bias)
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=0)
    for one, other in zip(
        torch.autograd.grad(3 * found, (outputs, weight, bias)),
        torch.autograd.grad(3 * expected, (outputs, weight, bias)),
        strict=True,
    ):
        torch.testing.assert_close(one, other, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize(("product_dtype", "tolerance"), [(None, 1e-5), (torch.bfloat16, 2e-2)])
def test_less_precision_stays_next_to_float64(product_dtype, tolerance, monkeypatch):
    monkeypatch.setattr(full_softmax, "_LOGITS_AT_ONCE", 64 * 7)
    tensors, ids = problem(targets=40, words=64, dim=16)
    single, _ = problem(targets=40, words=64, dim=16, dtype=torch.float32)
    exact = torch.autograd.grad(full_softmax_reference(tensors[0], ids, *tensors[1:]).mean(), tensors)
    mean = full_softmax_mean(single[0], ids, *single[1:], product_dtype)
    assert mean.dtype == torch.float32
    for one, other in zip(torch.autograd.grad(mean, single), exact, strict=True):
        assert one.dtype == torch.float32
        assert (one.double() - other).norm() <= tolerance * other.norm()


class _Largest(TorchDispatchMode):
    """The most numbers any new tensor had."""

    def __init__(self):
        super().__init__()
        self.numbers = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor):
            self.numbers = max(self.numbers, result.numel())
        return result


def test_no_tensor_is_larger_than_a_chunk_of_logits(monkeypatch):
    monkeypatch.setattr(full_softmax, "_LOGITS_AT_ONCE", 3 * 300)
    tensors, ids = problem(targets=64, words=300, dim=2)
    with _Largest() as largest:
        full_softmax_mean(tensors[0], ids, *tensors[1:]).backward()
    assert largest.numbers == 3 * 300
    with _Largest() as largest:
        full_softmax_reference(tensors[0], ids, *tensors[1:]).mean().backward()
    assert largest.numbers == 64 * 300
