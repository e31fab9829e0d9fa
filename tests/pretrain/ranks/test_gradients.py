"""Gradients of rows: added, clipped and applied as whole ones are."""

import pytest
import torch
from torch import nn

from elmo.pretrain.ranks.gradients import RowGradient, RowOptimizer, add_up, clip_

OPTIMIZERS = {
    "adagrad": lambda parameters: torch.optim.Adagrad(parameters, lr=0.2, initial_accumulator_value=1.0, eps=0.0),
    "sgd": lambda parameters: torch.optim.SGD(parameters, lr=0.2),
    "adamw": lambda parameters: torch.optim.AdamW(parameters, lr=0.01, weight_decay=0.1, fused=True),
}


def gradient(seed, table, count=7):
    """Random values in some distinct rows."""
    generator = torch.Generator().manual_seed(seed)
    rows = torch.randperm(len(table), generator=generator)[:count].sort().values
    return RowGradient(rows, torch.randn(count, *table.shape[1:], generator=generator))


@pytest.mark.parametrize("shape", [(40, 13), (40,), (41, 64)])
@pytest.mark.parametrize("optimizer", ["adagrad", "sgd"])
def test_rows_are_updated_by_the_rule_of_whole_tables_bit_for_bit(shape, optimizer):
    table = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    by_row, whole = nn.Parameter(table.clone()), nn.Parameter(table.clone())
    own, other = (OPTIMIZERS[optimizer]([parameter]) for parameter in (by_row, whole))
    small = RowOptimizer(own)
    for seed in range(12):
        rows = gradient(seed, table)
        whole.grad = rows.whole(table)
        small.step(by_row, rows)
        other.step()
    assert torch.equal(by_row, whole)
    assert own.state[by_row].keys() == other.state[whole].keys()
    assert all(torch.equal(value, other.state[whole][key]) for key, value in own.state[by_row].items())


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_rows_without_a_gradient_are_neither_read_nor_written(optimizer):
    parameter = nn.Parameter(torch.full((30, 3), float("nan")))
    rows = gradient(1, parameter)
    with torch.no_grad():
        parameter[rows.rows] = 1.0
    own = OPTIMIZERS[optimizer]([parameter])
    small = RowOptimizer(own)
    for _ in range(3):
        small.step(parameter, rows)
    others = torch.ones(30, dtype=torch.bool)
    others[rows.rows] = False
    assert parameter[rows.rows].isfinite().all()
    assert not parameter[rows.rows].eq(1).any()
    assert parameter[others].isnan().all()
    for key, value in own.state[parameter].items():
        if value.dim():
            assert value[others].eq(1.0 if key == "sum" else 0.0).all()


def test_adamw_is_the_whole_rule_for_a_row_that_occurs_in_every_step_and_rests_otherwise():
    table = torch.randn(20, 4, generator=torch.Generator().manual_seed(0))
    by_row, whole = nn.Parameter(table.clone()), nn.Parameter(table.clone())
    own, other = (OPTIMIZERS["adamw"]([parameter]) for parameter in (by_row, whole))
    small = RowOptimizer(own)
    always = torch.tensor([2, 3, 11])
    for seed in range(5):
        rows = RowGradient(always, gradient(seed, table, 3).values)
        small.step(by_row, rows)
        whole.grad = rows.whole(table)
        other.step()
    torch.testing.assert_close(by_row[always], whole[always], rtol=1e-6, atol=0)
    rest = [row for row in range(20) if row not in always.tolist()]
    assert torch.equal(by_row[rest], table[rest])
    assert not torch.equal(whole[rest], table[rest])  # the whole rule's weight decay


def test_gradients_of_rows_add_up_as_whole_ones():
    table = torch.zeros(20, 3)
    parts = [gradient(seed, table) for seed in range(3)]
    expected = sum(part.whole(table) for part in parts)
    found = add_up(parts, table)
    assert isinstance(found, RowGradient)
    assert (found.rows.diff() > 0).all()
    torch.testing.assert_close(found.whole(table), expected)
    mixed = add_up([parts[0], parts[1].whole(table), parts[2]], table)
    assert isinstance(mixed, torch.Tensor)
    torch.testing.assert_close(mixed, expected)


@pytest.mark.parametrize(("bound", "clips"), [(0.5, True), (1e6, False)])
def test_the_norm_is_that_of_all_whole_gradients(bound, clips):
    table, other = torch.zeros(50, 3), torch.randn(4, 5, generator=torch.Generator().manual_seed(3))
    rows = gradient(0, table)
    parameters = [nn.Parameter(table.clone()), nn.Parameter(other.clone())]
    parameters[0].grad, parameters[1].grad = rows.whole(table), other.clone()
    before = rows.values.clone()
    norm = clip_([rows, other], bound)
    expected = torch.nn.utils.clip_grad_norm_(parameters, bound)
    torch.testing.assert_close(norm, expected)
    torch.testing.assert_close(rows.whole(table), parameters[0].grad)
    torch.testing.assert_close(other, parameters[1].grad)
    assert torch.equal(rows.values, before) != clips
