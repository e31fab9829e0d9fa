"""The fused layers against the plain loop and against torch's version; each row on its own to the last bit."""

import numpy as np
import pytest
import torch

from elmo.ops import native
from elmo.ops.product import native_types
from elmo.ops.projected_lstm import (
    LayerWeights,
    LSTMSettings,
    Stack,
    can_fuse,
    fused_layer,
    projected_lstm_packed,
    projected_lstm_reference,
    read_side_by_side,
)

pytestmark = pytest.mark.skipif(not native_types(), reason="the native library or AVX-512 is not here")

# How far from float64 on weights whose gates don't saturate: rounding errors of a sum of up to a few dozen factors.
TOLERANCE = {"float32": 2e-6, "bfloat16": 3e-2, "int8": 1e-1}
SETTINGS = [LSTMSettings(), LSTMSettings(0.0, 0.5, 0.2), LSTMSettings(1.0, None, None)]
# dim, projection, cell: whole panels, odd numbers, one, and no projection.
SIZES = [(64, 64, 128), (5, 4, 7), (33, 17, 100), (1, 1, 1), (40, 40, 40), (130, 65, 70)]
LENGTHS = [[3], [1, 0, 6, 6, 1, 2], [0, 0], [], [4] * 13, [2] * 70 + [1, 3]]


@pytest.fixture(params=native_types())
def dtype(request):
    return request.param


def tiers():
    """The limits that leave this processor another set of instructions each."""
    names, library = [], native.library()
    for name in ("all", "avx512base", "avxvnni", "avx2", "neondot", "neon"):
        library.elmo_limit_instructions(name.encode())
        if native.native_kinds() and native.instructions() not in dict(names).values():
            names.append((name, native.instructions()))
    library.elmo_limit_instructions(b"all")
    return [name for name, _ in names]


@pytest.fixture(params=tiers() if native_types() else [], autouse=True)
def tier(request):
    """Every test runs with each set of instructions."""
    native.library().elmo_limit_instructions(request.param.encode())
    yield request.param
    native.library().elmo_limit_instructions(b"all")


@pytest.fixture(autouse=True)
def inference():
    with torch.no_grad():
        yield


@pytest.fixture(autouse=True)
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def layer(dim, projection, cell, seed=0):
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(*shape, generator=generator) / shape[-1] ** 0.5

    projected = normal(projection, cell) if projection < cell else None
    return LayerWeights(normal(4 * cell, dim), normal(4 * cell, projection), normal(4 * cell), projected)


def rows_for(weights, lengths, seed=1):
    """Inputs, NaN where a row has ended, and a starting state."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.tensor(lengths, dtype=torch.int64)
    tokens = int(lengths.max()) if len(lengths) else 0
    inputs = torch.randn(len(lengths), tokens, weights.input_weight.shape[1], generator=generator)
    inputs = inputs.masked_fill((torch.arange(tokens)[None] >= lengths[:, None])[:, :, None], torch.nan)
    hidden = torch.randn(len(lengths), weights.recurrent_weight.shape[1], generator=generator)
    return inputs, lengths, hidden, torch.randn(len(lengths), weights.cell_size, generator=generator)


def fused(inputs, lengths, hidden, cell, weights, settings, dtype):
    """One forward layer as `projected_lstm_reference` gives it; a layer's input and output share their width here."""
    size, dim = hidden.shape[1], inputs.shape[2]
    width = max(size, dim)
    layers = torch.full((2, *inputs.shape[:2], width), torch.nan)
    layers[1] = 0
    layers[0, :, :, :dim] = inputs
    assert can_fuse(weights, dtype)
    stack = Stack([fused_layer(weights, settings, dtype)], [False], False)
    if size == dim:
        new_hidden, new_cell = read_side_by_side([stack], layers, lengths, hidden[None], cell[None])
        return layers[1], new_hidden[0], new_cell[0]
    return one_layer(stack.layers[0], layers, lengths, hidden, cell)


def one_layer(chosen, layers, lengths, hidden, cell):
    """Without `read_side_by_side`, for an input wider or narrower than the output."""
    from elmo.ops.projected_lstm.fused import Reading
    from elmo.ops.projected_lstm.side_by_side import _positions

    sorted_lengths, order = lengths.sort(descending=True, stable=True)
    alive, places = _positions(order, sorted_lengths, layers.shape[2], backward=False)
    flat, state = layers.flatten(1, 2), [hidden[order], cell[order]]
    chosen.run(Reading(alive, places, flat[0], flat[1], *state, False))
    back = order.argsort()
    return layers[1][:, :, : hidden.shape[1]], state[0][back], state[1][back]


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("lengths", LENGTHS, ids=lambda lengths: f"{len(lengths)} rows")
def test_it_equals_the_reference_in_double_precision(dtype, settings, sizes, lengths):
    weights = layer(*sizes)
    rows = rows_for(weights, lengths)
    exact = LayerWeights(*(None if part is None else part.double() for part in weights))
    inputs, at, hidden, cell = rows
    expected = projected_lstm_reference(inputs.double(), at, hidden.double(), cell.double(), exact, settings)
    for one, other in zip(fused(*rows, weights, settings, dtype), expected, strict=True):
        torch.testing.assert_close(one.double(), other, rtol=0, atol=TOLERANCE[dtype])


def test_it_stays_next_to_the_torch_version_of_the_same_factors(dtype):
    """Both round the same factors; oneDNN rounds its bfloat16 sums once more."""
    weights = layer(48, 48, 96)
    rows = rows_for(weights, [5, 3, 3, 1])
    packed = projected_lstm_packed(*rows, weights, LSTMSettings(), dtype)
    tolerance = {"float32": 2e-6, "bfloat16": 2e-2, "int8": 1e-3}[dtype]
    for one, other in zip(fused(*rows, weights, LSTMSettings(), dtype), packed, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=tolerance)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_row_does_not_feel_the_rows_beside_it_nor_the_threads(dtype, threads):
    torch.set_num_threads(threads)
    weights = layer(48, 48, 96)
    inputs, lengths, hidden, cell = rows_for(weights, [7, 5, 5, 2, 1, 6] * 5)
    together = fused(inputs, lengths, hidden, cell, weights, LSTMSettings(), dtype)
    for some in ([3], [1, 4], list(range(11)), list(range(29, 4, -1))):
        alone = fused(inputs[some], lengths[some], hidden[some], cell[some], weights, LSTMSettings(), dtype)
        for one, other in zip(alone, together, strict=True):
            assert torch.equal(one, other[some])


@pytest.mark.parametrize("cache_bytes", [0, 32 << 20])  # 0: the threads share the columns of these few rows
def test_both_directions_and_skips_equal_one_layer_after_the_other(dtype, cache_bytes, monkeypatch):
    monkeypatch.setattr("elmo.ops.projected_lstm.side_by_side._CACHE_BYTES", cache_bytes)
    forward, backward = ([layer(24, 24, 50, seed + 2 * index) for index in range(2)] for seed in (1, 2))
    settings, lengths = LSTMSettings(), torch.tensor([4, 1, 0, 6])
    vectors = torch.randn(4, 6, 24) * (torch.arange(6) < lengths[:, None])[:, :, None]
    layers = torch.zeros(3, 4, 6, 48)
    layers[0] = vectors.repeat(1, 1, 2)
    hidden, cell = torch.randn(2, 4, 48), torch.randn(2, 4, 100)
    stacks = [
        Stack([fused_layer(one, settings, dtype) for one in part], [False, True], turned)
        for part, turned in ((forward, False), (backward, True))
    ]
    new_hidden, new_cell = read_side_by_side(stacks, layers, lengths, hidden, cell)
    for place, part in enumerate((forward, backward)):
        inputs = torch.stack([_turned(row, length) for row, length in zip(vectors, lengths, strict=True)])
        inputs = inputs if place else vectors
        for index, weights in enumerate(part):
            state = (hidden[index].chunk(2, 1)[place], cell[index].chunk(2, 1)[place])
            result = fused(inputs, lengths, *state, weights, settings, dtype)
            inputs = result[0] + inputs if index else result[0]
            shown = inputs
            if place:
                shown = torch.stack([_turned(row, length) for row, length in zip(inputs, lengths, strict=True)])
            assert torch.equal(layers[index + 1].chunk(2, 2)[place], shown)
            assert torch.equal(new_hidden[index].chunk(2, 1)[place], result[1])
            assert torch.equal(new_cell[index].chunk(2, 1)[place], result[2])


def _turned(row, length):
    return torch.cat([row[:length].flip(0), row[length:]])


def test_gates_far_out_of_range_stay_exact(dtype):
    """Logistic functions and tanh of large numbers are 0 and 1, whatever the exponential can hold."""
    weights = LayerWeights(torch.zeros(16, 4), torch.zeros(16, 4), torch.tensor([900.0, -900, 60, 0] * 4), None)
    settings = LSTMSettings(0.0, None, None)
    inputs, lengths = torch.zeros(1, 3, 4), torch.tensor([3])
    state = torch.zeros(1, 4), torch.tensor([[1e6, -1e6, 5.0, 0.0]])
    expected = projected_lstm_reference(inputs, lengths, *state, weights, settings)
    for one, other in zip(fused(inputs, lengths, *state, weights, settings, dtype), expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-6)


def test_memory_that_holds_nans_does_not_leak_in(dtype):
    before = torch.are_deterministic_algorithms_enabled()
    weights, settings = layer(33, 17, 50), LSTMSettings()
    rows = rows_for(weights, [3, 1, 2])
    plain = fused(*rows, weights, settings, dtype)
    torch.use_deterministic_algorithms(True)  # memory that is asked for without a value is full of NaN
    try:
        poisoned = fused(*rows, layer(33, 17, 50), settings, dtype)
    finally:
        torch.use_deterministic_algorithms(before)
    assert all(torch.equal(one, other) for one, other in zip(plain, poisoned, strict=True))


def test_a_changed_weight_is_laid_out_again(dtype):
    weights, settings = layer(8, 8, 16), LSTMSettings()
    rows = rows_for(weights, [2])
    before = fused(*rows, weights, settings, dtype)[0]
    assert fused_layer(weights, settings, dtype) is fused_layer(weights, settings, dtype)
    weights.input_weight.mul_(2)
    assert not torch.equal(fused(*rows, weights, settings, dtype)[0], before)


def test_weights_in_training_are_laid_out_again_after_a_step(dtype):
    """torch's fused optimizers change weights without counting it."""
    weights = LayerWeights(*(torch.nn.Parameter(part) for part in layer(8, 8, 16)))
    rows = rows_for(weights, [3])
    before = fused(*rows, weights, LSTMSettings(), dtype)[0]
    optimizer = torch.optim.AdamW(list(weights), lr=0.1, fused=True)
    for part in weights:
        part.grad = torch.ones_like(part)
    optimizer.step()
    found = fused(*rows, weights, LSTMSettings(), dtype)[0]
    fresh = fused(*rows, LayerWeights(*(part.detach().clone() for part in weights)), LSTMSettings(), dtype)[0]
    assert torch.equal(found, fresh)
    assert not torch.equal(found, before)


def test_double_precision_is_left_to_torch(dtype):
    weights = layer(8, 8, 16)
    assert can_fuse(weights, dtype)
    assert not can_fuse(LayerWeights(*(part.double() for part in weights)), dtype)


def test_random_shapes_equal_the_reference(dtype):
    chance = np.random.default_rng(7)
    for seed in range(25):
        cell = int(chance.integers(2, 90))
        weights = layer(int(chance.integers(1, 70)), int(chance.integers(1, cell + 1)), cell, seed)
        rows = rows_for(weights, chance.integers(0, 6, size=chance.integers(1, 20)).tolist(), seed)
        exact = LayerWeights(*(None if part is None else part.double() for part in weights))
        expected = projected_lstm_reference(
            rows[0].double(), rows[1], rows[2].double(), rows[3].double(), exact, LSTMSettings()
        )
        for one, other in zip(fused(*rows, weights, LSTMSettings(), dtype), expected, strict=True):
            torch.testing.assert_close(one.double(), other, rtol=0, atol=2 * TOLERANCE[dtype])
