"""The gate passes on a GPU, each as one Triton kernel: what native/training/gates.h is on a CPU.

The passes in torch (`gate_passes`) are the specification of both. Triton comes with torch where torch has CUDA. Without
a GPU its interpreter runs the kernels (tests).
"""

from collections.abc import Sequence
from typing import Any

import triton
import triton.language as tl
from torch import Tensor

_COLUMNS = 512
# Of the backward kernel: all rows of some columns, whose sum the bias gets, are one program's, so no order is random.
_TILE_ROWS, _TILE_COLUMNS = 128, 32


@triton.jit
def _tanh(x):
    # Near 0 the quotient would lose the last digits, which some weights amplify: the series up to x ** 9.
    y = x * x
    series = x * (1 + y * (-0.33333333 + y * (0.13333333 + y * (-0.053968254 + y * 0.021869488))))
    return tl.where(tl.abs(x) < 0.25, series, 1 - 2 / (tl.exp(2 * x) + 1))


@triton.jit
def _sigmoid(x):
    return 1 / (1 + tl.exp(-x))


@triton.jit
def _forward(
    share, recurrent, bias, before, gates, after, squashed, output, size, clip,
    HAS_CLIP: tl.constexpr, KEEPS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = column < size
    at, first = row * size + column, row * 4 * size + column
    x_i = tl.load(share + first, inside).to(tl.float32) + tl.load(bias + column, inside)
    x_f = tl.load(share + first + size, inside).to(tl.float32) + tl.load(bias + column + size, inside)
    x_o = tl.load(share + first + 2 * size, inside).to(tl.float32) + tl.load(bias + column + 2 * size, inside)
    x_j = tl.load(share + first + 3 * size, inside).to(tl.float32) + tl.load(bias + column + 3 * size, inside)
    i = _sigmoid(x_i + tl.load(recurrent + first, inside).to(tl.float32))
    f = _sigmoid(x_f + tl.load(recurrent + first + size, inside).to(tl.float32))
    o = _sigmoid(x_o + tl.load(recurrent + first + 2 * size, inside).to(tl.float32))
    j = _tanh(x_j + tl.load(recurrent + first + 3 * size, inside).to(tl.float32))
    cell = f * tl.load(before + at, inside) + i * j
    if HAS_CLIP:
        cell = tl.where(cell > clip, clip, tl.where(cell < -clip, -clip, cell))  # NaN stays NaN
    tanh = _tanh(cell)
    if KEEPS:
        tl.store(gates + first, i, inside)
        tl.store(gates + first + size, f, inside)
        tl.store(gates + first + 2 * size, o, inside)
        tl.store(gates + first + 3 * size, j, inside)
        tl.store(squashed + at, tanh, inside)
    tl.store(after + at, cell, inside)
    tl.store(output + at, o * tanh, inside)


@triton.jit
def _backward(
    gates, before, after, squashed, grad_output, grad_cell, grad_gates,
    grad_bias, rows, size, clip,
    HAS_CLIP: tl.constexpr, TILES: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    sum_i = tl.zeros([1, COLUMNS], tl.float32)
    sum_f, sum_o, sum_j = sum_i, sum_i, sum_i
    for tile in range(TILES):
        row = (tile * ROWS + tl.arange(0, ROWS)[:, None]).to(tl.int64)
        inside = (row < rows) & (column < size)
        at, first = row * size + column, row * 4 * size + column
        i = tl.load(gates + first, inside, 0.0)
        f = tl.load(gates + first + size, inside, 0.0)
        o = tl.load(gates + first + 2 * size, inside, 0.0)
        j = tl.load(gates + first + 3 * size, inside, 0.0)
        tanh = tl.load(squashed + at, inside, 0.0)
        incoming = tl.load(grad_output + at, inside, 0.0).to(tl.float32)
        cell = tl.load(grad_cell + at, inside, 0.0) + incoming * o * (1 - tanh * tanh)
        if HAS_CLIP:
            cell = tl.where(tl.abs(tl.load(after + at, inside, 0.0)) >= clip, 0.0, cell)
        grad_i = cell * j * i * (1 - i)
        grad_f = cell * tl.load(before + at, inside, 0.0) * f * (1 - f)
        grad_o = incoming * tanh * o * (1 - o)
        grad_j = cell * i * (1 - j * j)
        tl.store(grad_gates + first, grad_i, inside)
        tl.store(grad_gates + first + size, grad_f, inside)
        tl.store(grad_gates + first + 2 * size, grad_o, inside)
        tl.store(grad_gates + first + 3 * size, grad_j, inside)
        tl.store(grad_cell + at, cell * f, inside)
        sum_i += tl.sum(grad_i, 0, keep_dims=True)
        sum_f += tl.sum(grad_f, 0, keep_dims=True)
        sum_o += tl.sum(grad_o, 0, keep_dims=True)
        sum_j += tl.sum(grad_j, 0, keep_dims=True)
    inside = column < size
    tl.store(grad_bias + column, tl.load(grad_bias + column, inside) + sum_i, inside)
    tl.store(grad_bias + column + size, tl.load(grad_bias + column + size, inside) + sum_f, inside)
    tl.store(grad_bias + column + 2 * size, tl.load(grad_bias + column + 2 * size, inside) + sum_o, inside)
    tl.store(grad_bias + column + 3 * size, tl.load(grad_bias + column + 3 * size, inside) + sum_j, inside)


def gates_forward(tensors: Sequence[Tensor], clip: float | None, *, rows: int, size: int) -> None:
    """`gate_passes.forward_pass` of checked tensors on one GPU; if `gates` is `share`, it keeps no gates."""
    share, gates = tensors[0], tensors[4]
    kernel: Any = _forward
    kernel[(rows, triton.cdiv(size, _COLUMNS))](
        *tensors, size, clip or 0.0, HAS_CLIP=clip is not None, KEEPS=gates is not share, COLUMNS=_COLUMNS
    )


def gates_backward(tensors: Sequence[Tensor], clip: float | None, *, rows: int, size: int) -> None:
    """`gate_passes.backward_pass` of checked tensors on one GPU."""
    height = min(_TILE_ROWS, triton.next_power_of_2(rows))
    kernel: Any = _backward
    kernel[(triton.cdiv(size, _TILE_COLUMNS),)](
        *tensors, rows, size, clip or 0.0,
        HAS_CLIP=clip is not None, TILES=triton.cdiv(rows, height), ROWS=height, COLUMNS=_TILE_COLUMNS, num_warps=8,
    )  # fmt: skip
