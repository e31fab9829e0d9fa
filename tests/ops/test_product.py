"""The prepacked product: equal to the plain one, and each row on its own."""

import pytest
import torch

from elmo.ops.product import Prepacked, prepack, product_reference

SHAPES = [(16, 64), (128, 512), (512, 128), (2048, 24)]


@pytest.mark.parametrize(("inner", "outer"), SHAPES)
@pytest.mark.parametrize("rows", [0, 1, 2, 3, 40])
def test_it_equals_the_reference(inner: int, outer: int, rows: int) -> None:
    torch.manual_seed(inner)
    inputs, weight = torch.randn(rows, inner), torch.randn(outer, inner)
    torch.testing.assert_close(prepack(weight)(inputs), product_reference(inputs, weight), rtol=1e-4, atol=1e-4)


@pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="torch has no oneDNN here")
@pytest.mark.parametrize(("inner", "outer"), SHAPES)
def test_a_row_does_not_feel_the_rows_beside_it(inner: int, outer: int) -> None:
    torch.manual_seed(outer)
    inputs, product = torch.randn(130, inner), Prepacked(torch.randn(outer, inner))
    everything = product(inputs)
    for rows in (1, 2, 3, 4, 5, 7, 8, 16, 17, 33, 64, 129):
        assert torch.equal(product(inputs[-rows:]), everything[-rows:])


def test_a_weight_changed_in_place_is_packed_again() -> None:
    inputs, weight = torch.randn(4, 8), torch.randn(6, 8)
    before = prepack(weight)(inputs)
    assert prepack(weight) is prepack(weight)
    with torch.no_grad():
        weight.mul_(2)
    torch.testing.assert_close(prepack(weight)(inputs), 2 * before)


def test_double_precision_runs_the_plain_product() -> None:
    inputs, weight = torch.randn(4, 8, dtype=torch.float64), torch.randn(6, 8, dtype=torch.float64)
    assert torch.equal(prepack(weight)(inputs), product_reference(inputs, weight))


def test_a_weight_of_inference_mode_works() -> None:
    with torch.inference_mode():
        inputs, weight = torch.randn(4, 8), torch.randn(6, 8)
        torch.testing.assert_close(prepack(weight)(inputs), product_reference(inputs, weight))


def test_a_weight_in_training_is_never_remembered() -> None:
    inputs, weight = torch.randn(4, 8), torch.nn.Parameter(torch.randn(6, 8))
    optimizer = torch.optim.AdamW([weight], lr=0.1, fused=True)
    prepack(weight)(inputs)
    weight.grad = torch.ones_like(weight)
    optimizer.step()
    torch.testing.assert_close(prepack(weight)(inputs), product_reference(inputs, weight.detach()))
