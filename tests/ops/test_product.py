"""Products: with rounded factors next to the plain one, and of weights that are trained."""

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

from elmo.config import LSTMSettings
from elmo.ops import product as module
from elmo.ops.full_softmax import full_softmax_mean
from elmo.ops.product import RoundedProducts, TrainedProducts, product, repeated_factor, trained_product
from elmo.ops.projected_lstm import LayerWeights, projected_lstm_window

SHAPES = [(16, 64), (128, 512), (512, 128), (2048, 24)]
DTYPES = ("float32", "bfloat16", "int8")


def rounded(inputs, weight, dtype, bias=None):
    with torch.no_grad(), RoundedProducts(dtype):
        return functional.linear(inputs, weight, bias)


def test_products_of_double_precision_are_rounded_too() -> None:
    inputs, weight = torch.randn(4, 8, dtype=torch.float64), torch.randn(6, 8, dtype=torch.float64)
    assert torch.equal(rounded(inputs, weight, "float32"), torch.nn.functional.linear(inputs, weight))
    expected = inputs.bfloat16().double() @ weight.bfloat16().double().T
    torch.testing.assert_close(rounded(inputs, weight, "bfloat16"), expected)


def test_every_linear_layer_in_the_block_is_rounded_and_none_after_it() -> None:
    layer, inputs = nn.Linear(8, 6), torch.randn(2, 3, 8)
    with torch.no_grad():
        expected = layer(inputs)
        with RoundedProducts("int8"):
            inside = layer(inputs)
        assert torch.equal(inside, rounded(inputs, layer.weight, "int8", layer.bias))
        assert not torch.equal(inside, expected)
        assert torch.equal(layer(inputs), expected)


def test_a_weight_changed_between_two_blocks_is_rounded_again() -> None:
    inputs, weight = torch.randn(4, 8), nn.Parameter(torch.randn(6, 8))
    before = rounded(inputs, weight, "bfloat16")
    weight.data.mul_(2)
    assert torch.equal(rounded(inputs, weight, "bfloat16"), 2 * before)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("inner", "outer"), [*SHAPES, (1, 1), (3, 65), (4100, 30)])
@pytest.mark.parametrize("rows", [0, 1, 2, 3, 7, 40, 130])
def test_it_stays_next_to_double_precision(dtype, inner, outer, rows, require_near_product) -> None:
    torch.manual_seed(inner)
    inputs, weight, bias = torch.randn(rows, inner), torch.randn(outer, inner) / inner**0.5, torch.randn(outer)
    found = rounded(inputs, weight, dtype, bias)
    assert found.dtype == torch.float32
    require_near_product(found, inputs, weight, bias, dtype, f"{rows} rows")


def test_rows_of_zeros_stay_zeros() -> None:
    for dtype in DTYPES:
        assert not rounded(torch.zeros(2, 6), torch.randn(5, 6), dtype).any()
        assert not rounded(torch.randn(2, 6), torch.zeros(5, 6), dtype).any()


@pytest.fixture(params=["MKL", "oneDNN"])
def multiplier(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Multiplies as where MKL is faster, and as where oneDNN is."""
    monkeypatch.setattr(module, "_is_faster_in_mkl", lambda: request.param == "MKL")
    return request.param


@pytest.mark.usefixtures("multiplier")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    ("rows", "inner", "outer"), [(1, 1, 1), (7, 5, 3), (80, 100, 500), (0, 4, 3), (4, 0, 3), (4, 3, 0)]
)
def test_the_product_of_a_changing_weight_equals_the_reference_for_transposed_factors_too(rows, inner, outer, dtype):
    torch.manual_seed(0)
    inputs, weight, bias = torch.randn(rows, inner), torch.randn(outer, inner), torch.randn(outer)
    inputs, weight, bias = inputs.to(dtype), weight.to(dtype), bias.to(dtype)
    expected = inputs.double() @ weight.double().T
    turned = inputs.T.contiguous().T, weight.T.contiguous().T
    for one, other in ((inputs, weight), (turned[0], weight), (inputs, turned[1]), turned):
        torch.testing.assert_close(product(one, other).double(), expected, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(product(inputs, weight, bias).double(), expected + bias.double(), rtol=1e-4, atol=1e-4)


@pytest.mark.usefixtures("multiplier")
@pytest.mark.parametrize("bias", [torch.arange(8.0)[::2], torch.ones(1).expand(4), torch._neg_view(-torch.ones(4))])
def test_a_bias_may_have_any_strides(bias):
    inputs, weight = torch.randn(7, 5), torch.randn(4, 5)
    expected = inputs.double() @ weight.double().T + bias.double()
    for found in (product(inputs, weight, bias), trained_product(inputs, weight, bias)):
        torch.testing.assert_close(found.double(), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.usefixtures("multiplier")
@pytest.mark.parametrize("shape", [(7, 5), (2, 3, 5), (0, 5), (1, 5), (5,)])
@pytest.mark.parametrize("is_biased", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_trained_product_has_the_values_and_gradients_of_the_plain_one(shape, is_biased, dtype):
    torch.manual_seed(0)
    inputs, weight, bias = (torch.randn(*size, dtype=dtype, requires_grad=True) for size in (shape, (4, 5), (4,)))
    given = [inputs, weight, bias] if is_biased else [inputs, weight]
    found, plain = trained_product(*given), torch.nn.functional.linear(*given)
    torch.testing.assert_close(found, plain)
    for wanted in (torch.ones_like(plain), torch.randn_like(plain)):
        own, other = (torch.autograd.grad(it, given, wanted, retain_graph=True) for it in (found, plain))
        torch.testing.assert_close(own, other)
    # What every position gets alike comes as an expanded gradient.
    torch.testing.assert_close(torch.autograd.grad(found.sum(), given), torch.autograd.grad(plain.sum(), given))


@pytest.mark.usefixtures("multiplier")
@pytest.mark.parametrize("step", [1, 2])
def test_a_trained_product_has_second_gradients(step):
    sizes = ((3, 5 * step), (4, 5 * step), (4 * step,))
    factors = [torch.randn(*size, dtype=torch.float64, requires_grad=True) for size in sizes]
    assert torch.autograd.gradgradcheck(lambda *given: trained_product(*(one[..., ::step] for one in given)), factors)


def test_a_trained_product_knows_every_device():
    there = torch.empty(3, 5, device="meta")
    assert trained_product(there, torch.empty(4, 5, device="meta")).shape == (3, 4)


@pytest.mark.parametrize("product_dtype", [None, torch.float32, torch.bfloat16])
def test_in_the_block_a_linear_layers_factors_and_those_of_its_gradients_are_rounded(product_dtype):
    torch.manual_seed(0)
    layer, inputs, wanted = nn.Linear(40, 6), torch.randn(2, 3, 40, requires_grad=True), torch.randn(2, 3, 6)
    given = [inputs, layer.weight, layer.bias]
    with TrainedProducts(product_dtype):
        found = layer(inputs)
    rounded = (lambda one: one.bfloat16().float()) if product_dtype == torch.bfloat16 else (lambda one: one)
    assert found.dtype == torch.float32
    expected = [
        functional.linear(rounded(inputs), rounded(layer.weight), layer.bias),
        rounded(wanted) @ rounded(layer.weight),
        rounded(wanted).flatten(0, 1).T @ rounded(inputs).flatten(0, 1),
        wanted.sum(dim=(0, 1)),
    ]
    # torch rounds the results of such products to bfloat16, too.
    loose = 2**-7 if product_dtype == torch.bfloat16 else 1e-5
    for own, other in zip([found, *torch.autograd.grad(found, given, wanted)], expected, strict=True):
        torch.testing.assert_close(own, other, rtol=loose, atol=loose)
    torch.testing.assert_close(layer(inputs), functional.linear(*given), rtol=0, atol=0)


class FactorTypes(TorchDispatchMode):
    """The types of all factors that torch multiplies in the block."""

    def __init__(self) -> None:
        super().__init__()
        self.found = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func._opname in ("mm", "addmm", "linear", "_linear_pointwise"):
            self.found |= {one.dtype for one in args if isinstance(one, torch.Tensor)}
        return func(*args, **(kwargs or {}))


def in_bfloat16(name):
    """The result and the gradients of an operation that rounds its factors to bfloat16."""
    torch.manual_seed(0)
    sizes = {
        "trained_product": [(2, 3, 40), (6, 40)],
        "full_softmax": [(5, 8), (12, 8), (12,)],
        "window": [(4, 3, 6), (48, 6), (48, 8), (48,), (8, 12)],
    }[name]
    given = [torch.randn(*size, requires_grad=True) for size in sizes]
    if name == "trained_product":
        found = trained_product(*given, product_dtype=torch.bfloat16)
    elif name == "full_softmax":
        found = full_softmax_mean(given[0], torch.tensor([3, 9, 1, 0, 5]), *given[1:], torch.bfloat16)
    else:
        state = torch.zeros(3, 8), torch.zeros(3, 12)
        weights = LayerWeights(*given[1:])
        found = projected_lstm_window(given[0], *state, weights, LSTMSettings(), None, torch.bfloat16)[0]
    return [found, *torch.autograd.grad(found.square().sum(), given)]


@pytest.mark.parametrize("name", ["trained_product", "full_softmax", "window"])
def test_bfloat16_factors_are_widened_where_the_processor_has_no_products_of_them(monkeypatch, name):
    monkeypatch.setattr(module, "_multiplies_bfloat16", lambda: True)
    plain = in_bfloat16(name)
    monkeypatch.setattr(module, "_multiplies_bfloat16", lambda: False)
    with FactorTypes() as types:
        widened = in_bfloat16(name)
    assert types.found == {torch.float32}
    # Results of products are rounded both ways. A last bit of theirs may differ, and goes through the gates.
    for one, other in zip(widened, plain, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=2**-6 * other.abs().max().item())


def test_a_product_of_widened_factors_is_rounded_once(monkeypatch):
    inputs, weight = torch.randn(7, 50).bfloat16(), torch.randn(9, 50)
    monkeypatch.setattr(module, "_multiplies_bfloat16", lambda: False)
    factor = repeated_factor(weight, torch.bfloat16)
    assert factor.dtype == torch.float32
    assert torch.equal(factor, weight.bfloat16().float())
    found = product(inputs, weight.bfloat16())
    assert torch.equal(found, product(inputs.float(), factor).bfloat16())
    assert torch.equal(found, product(inputs, factor))
    monkeypatch.setattr(module, "_multiplies_bfloat16", lambda: True)
    assert repeated_factor(weight, torch.bfloat16).dtype == torch.bfloat16


def test_a_factor_that_is_not_trained_gets_no_gradient():
    inputs, weight = torch.randn(3, 5), torch.randn(4, 5, requires_grad=True)
    trained_product(inputs, weight).sum().backward()
    assert inputs.grad is None
    torch.testing.assert_close(weight.grad, inputs.sum(dim=0).expand(4, 5))
