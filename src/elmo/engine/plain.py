"""Products and LSTM layers in numpy, where there is no library; in float64 the oracle of both.

It computes in the weights' own type. bfloat16 and int8 are imitated: factors are rounded alike, but their products are
no faster than float32's. The equations of a layer (`reference.py` has them for one sentence):

    i, f, o = sigmoid(z_i), sigmoid(z_f + forget_bias), sigmoid(z_o);  j = tanh(z_j)
    c_t = clip(f * c_{t-1} + i * j, cell_clip)
    h_t = clip(W_P (o * tanh(c_t)), projection_clip)

A BLAS may round a row of a product differently when other rows are beside it: it has other code for one row, for a few,
and for the rows left over from its blocks. So a product is taken in blocks (rows, `_CHUNK` factors, columns) of a few
shapes only, filled up with zeros: shapes that were tried and found to give a row the same bits. With OpenBLAS they also
have the kernels for small matrices, where there are any: those don't copy the weight first, which for one row takes
longer than the product.
"""

from collections.abc import Iterator
from functools import cache
from itertools import pairwise

import numpy as np

from elmo.config import LSTMSettings
from elmo.engine.row_packing import RowBatch
from elmo.engine.weight_store import LayerWeights, StoredWeight, Weight
from elmo.ops.native.kinds import ComputeType
from elmo.ops.native.lstm import Team
from elmo.shapes import Float, Int
from elmo.weights.native.narrow import bfloat16_bits, quantized

# Factors added up in one block: few enough for a BLAS not to divide them itself, and for sums of int8 to be exact.
_CHUNK = 256
# Columns of a block to be tried, and numbers of rows, each a divisor of the last.
_WIDTHS = (64, 16)
_ROWS = (2, 4, 8, 12, 16, 24, 48)
# Blocks of whole rows where none of those will do.
_WHOLE_ROWS = (8, 4)
_STEPS = 127
_TINIEST = np.float32(_STEPS / np.finfo(np.float32).max)  # see ops/product.py
# Tokens whose inputs go through their product together: enough for it, few enough for the memory of their gates.
_TOKENS_AHEAD = 256


def clip(values: Float[np.ndarray, "*shape"], bound: float | None) -> None:
    """Limit absolute values to `bound`, if there is one, in place."""
    if bound is not None:
        np.minimum(values, bound, out=values)
        np.maximum(values, -bound, out=values)


class PlainProduct:
    """One weight (outer, inner), its factors rounded to `dtype`. Products are computed in the weight's own type."""

    def __init__(self, weight: Weight, dtype: ComputeType) -> None:
        self.outer, self.inner = weight.shape
        self._dtype: ComputeType = dtype
        self._steps = None
        held, weight = weight, np.asarray(weight)
        if dtype == "int8":
            whole, steps = quantized(weight)
            weight, self._steps = whole.astype(weight.dtype), steps[:, 0].astype(weight.dtype)
        elif dtype == "bfloat16":
            weight = to_bfloat16(weight)
        self._dtype_of_sums = weight.dtype
        self._chunks = [slice(*pair) for pair in pairwise([*range(0, self.inner, _CHUNK), self.inner])]
        self._width, self._rows = _blocks(self.inner, self.outer, weight.dtype, exact=dtype == "int8")
        padded = np.pad(weight, ((0, -self.outer % self._width), (0, 0)))
        self._panels = [
            np.ascontiguousarray(padded[:, chunk].reshape(-1, self._width, chunk.stop - chunk.start).swapaxes(1, 2))
            for chunk in self._chunks
        ]
        if isinstance(held, StoredWeight) and dtype == "float32":
            held.release(self._restored)

    def _restored(self) -> Float[np.ndarray, "outer inner"]:
        """The weight, from its panels (columns / width, factors, width)."""
        parts = [panels.swapaxes(1, 2).reshape(-1, panels.shape[1]) for panels in self._panels]
        return np.concatenate(parts, axis=1)[: self.outer]

    @property
    def num_bytes(self) -> int:
        """Of the weight."""
        return sum(panels.nbytes for panels in self._panels)

    def __call__(
        self, inputs: Float[np.ndarray, "rows inner"], bias: Float[np.ndarray, " outer"] | None = None
    ) -> Float[np.ndarray, "rows outer"]:
        """inputs @ weight.T + bias"""
        factors, steps = self._factors(inputs)
        rows, most = len(inputs), self._rows[-1]
        padded = self._padded(rows)
        if padded > rows:
            factors = np.concatenate([factors, np.zeros((padded - rows, self.inner), factors.dtype)])
        out = np.empty((padded, self._panels[0].shape[0] * self._width), self._dtype_of_sums)
        # What exceeds float32 becomes inf, as in the C kernels; whoever uses the vectors checks them.
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, padded, most):
                some = factors[start : start + most]
                into = out[start : start + most].reshape(len(some), -1, self._width).swapaxes(0, 1)
                np.matmul(some[:, self._chunks[0]], self._panels[0], out=into)
                for chunk, panels in zip(self._chunks[1:], self._panels[1:], strict=True):
                    into += np.matmul(some[:, chunk], panels)
        out = out[:rows, : self.outer]
        if self._steps is not None:
            out *= self._steps * steps
        if bias is not None:
            out += bias
        return out

    def _padded(self, rows: int) -> int:
        """The rows and as many more as fill up blocks."""
        left = rows % self._rows[-1]
        return rows - left + (next(count for count in self._rows if count >= left) if left else 0)

    def _factors(
        self, inputs: Float[np.ndarray, "rows inner"]
    ) -> tuple[Float[np.ndarray, "rows inner"], Float[np.ndarray, "rows 1"] | None]:
        """The rounded rows, and for int8 the size of each row's step."""
        if self._dtype == "int8":
            return quantized_rows(inputs)
        inputs = np.asarray(inputs, self._dtype_of_sums)
        return (to_bfloat16(inputs) if self._dtype == "bfloat16" else inputs), None


@cache
def _blocks(inner: int, outer: int, dtype: np.dtype, *, exact: bool) -> tuple[int, tuple[int, ...]]:
    """The columns of a block and its possible numbers of rows, with which every row has the same bits in every place.

    `exact`: sums of a block are, as those of int8's whole numbers.
    """
    for width in _WIDTHS:
        found = [_rows_alike(size, width, dtype) for size in {min(inner, _CHUNK), inner % _CHUNK} - {0}]
        alike = tuple(count for count in _ROWS if all(count in one for one in found))
        if len(alike) > 1:
            return width, alike
    if exact:
        return outer, (1, *_ROWS)
    for count in _WHOLE_ROWS:
        rows, weight = _tried(count, inner, outer, dtype)
        if _is_alike(rows, weight):
            return outer, (count,)
    return outer, (1,)


@cache
def _rows_alike(inner: int, width: int, dtype: np.dtype) -> set[int]:
    """Numbers of rows whose products have the bits of the largest, in every place."""
    most = _ROWS[-1]
    rows, weight = _tried(most, inner, width, dtype)
    if not _is_alike(rows, weight):
        return set()
    expected = np.matmul(rows, weight[None])[0]
    in_blocks = {count: np.matmul(rows.reshape(-1, count, inner), weight).reshape(most, width) for count in _ROWS}
    return {count for count, found in in_blocks.items() if (found == expected).all()}


def _tried(
    rows: int, inner: int, outer: int, dtype: np.dtype
) -> tuple[Float[np.ndarray, "rows inner"], Float[np.ndarray, "inner outer"]]:
    chance = np.random.default_rng(0)
    return chance.standard_normal((rows, inner)).astype(dtype), chance.standard_normal((inner, outer)).astype(dtype)


def _is_alike(rows: Float[np.ndarray, "rows inner"], weight: Float[np.ndarray, "inner outer"]) -> bool:
    """Whether each row of a product has the same bits in the next place."""
    return bool((np.roll(np.matmul(rows, weight), 1, axis=0) == np.matmul(np.roll(rows, 1, axis=0), weight)).all())


def to_bfloat16(values: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
    """Rounded to bfloat16, but stored as before."""
    bits = bfloat16_bits(values).astype(np.uint32) << np.uint32(16)
    return bits.view(np.float32).reshape(values.shape).astype(values.dtype)


def quantized_rows(
    values: Float[np.ndarray, "rows inner"],
) -> tuple[Float[np.ndarray, "rows inner"], Float[np.ndarray, "rows 1"]]:
    """Activations: each row as integers from -127 to 127 (still floats), and the size of its step, (rows, 1).

    A row's steps depend on that row alone, so a sentence's vectors don't depend on the other sentences of the batch.
    """
    whole = np.abs(values)
    largest = whole.max(axis=1, keepdims=True, initial=0)
    steps = np.divide(_STEPS, largest, out=np.zeros(largest.shape, largest.dtype), where=largest > _TINIEST)
    np.rint(np.multiply(values, steps, out=whole), out=whole)
    return whole, largest / _STEPS


class PlainLayer:
    """One layer of one direction."""

    shares_columns = False
    """Several threads can read other rows each, but not the columns of one layer."""

    def __init__(self, weights: LayerWeights, settings: LSTMSettings, dtype: ComputeType) -> None:
        self._settings = settings
        self._input = PlainProduct(weights.input_weight, dtype)
        self._recurrent = PlainProduct(weights.recurrent_weight, dtype)
        projection = weights.projection_weight
        self._projection = None if projection is None else PlainProduct(projection, dtype)
        self._bias = weights.bias_with_forget(settings.forget_bias)

    @property
    def num_bytes(self) -> int:
        """Of the weights that every step reads."""
        return self._recurrent.num_bytes + (self._projection.num_bytes if self._projection else 0)

    def run(self, batch: RowBatch, team: Team | None = None, rank: int = 0) -> None:
        """Reads all tokens."""
        hidden, cell = _state_of_rows(batch)
        done = 0
        for alive, places in _pieces(batch):
            inputs = batch.inputs[places]
            gates = self._input(inputs, self._bias)
            start = 0
            for rows in alive.tolist():
                now = slice(start, start + rows)
                _begin(batch, done, hidden[:rows], cell[:rows])
                self._step(gates[now], hidden[:rows], cell[:rows])
                batch.outputs[places[now]] = hidden[:rows] + inputs[now] if batch.skips else hidden[:rows]
                _end(batch, done, hidden[:rows], cell[:rows])
                start, done = start + rows, done + rows

    def _step(
        self,
        gates: Float[np.ndarray, "rows gates"],
        hidden: Float[np.ndarray, "rows projection"],
        cell: Float[np.ndarray, "rows cell"],
    ) -> None:
        """One token for every row. `gates` has the inputs' share; the state is brought up to date in place."""
        gates += self._recurrent(hidden)
        # In place, and all in one tangent: sigmoid(x) = tanh(x / 2) / 2 + 1/2.
        size = cell.shape[1]
        sigmoids = gates[:, : 3 * size]
        sigmoids *= 0.5
        np.tanh(gates, out=gates)
        sigmoids *= 0.5
        sigmoids += 0.5
        i, f, o, j = (gates[:, start : start + size] for start in range(0, 4 * size, size))
        cell *= f
        j *= i
        cell += j
        clip(cell, self._settings.cell_clip)
        np.tanh(cell, out=j)
        j *= o
        if self._projection is None:
            hidden[...] = j
        else:
            hidden[...] = self._projection(j)
            clip(hidden, self._settings.projection_clip)


def _state_of_rows(batch: RowBatch) -> tuple[Float[np.ndarray, "rows projection"], Float[np.ndarray, "rows cell"]]:
    """(hidden, cell) of the rows: the sentences' own, or room where each row has one sentence's after the other's."""
    if batch.steps.turns is None:
        return batch.hidden, batch.cell
    return np.zeros_like(batch.hidden[: batch.steps.rows]), np.zeros_like(batch.cell[: batch.steps.rows])


def _begin(
    batch: RowBatch, done: int, hidden: Float[np.ndarray, "rows projection"], cell: Float[np.ndarray, "rows cell"]
) -> None:
    """Fetches the state of the sentences that begin with the tokens after the first `done`, one of each row."""
    if batch.steps.turns is not None:
        sentences = batch.steps.turns.begins[done : done + len(hidden)]
        rows = np.flatnonzero(sentences >= 0)
        hidden[rows], cell[rows] = batch.hidden[sentences[rows]], batch.cell[sentences[rows]]


def _end(
    batch: RowBatch, done: int, hidden: Float[np.ndarray, "rows projection"], cell: Float[np.ndarray, "rows cell"]
) -> None:
    """Hands back the state of the sentences that end with these tokens."""
    if batch.steps.turns is not None:
        sentences = batch.steps.turns.ends[done : done + len(hidden)]
        rows = np.flatnonzero(sentences >= 0)
        batch.hidden[sentences[rows]], batch.cell[sentences[rows]] = hidden[rows], cell[rows]


def _pieces(batch: RowBatch) -> Iterator[tuple[Int[np.ndarray, " steps"], Int[np.ndarray, " tokens"]]]:
    """Some steps at a time: the rows alive at each, and the places of their tokens."""
    ends = np.cumsum(batch.steps.alive)
    step = done = 0
    while step < len(ends):
        stop = max(step + 1, int(np.searchsorted(ends, done + _TOKENS_AHEAD, side="right")))
        yield batch.steps.alive[step:stop], batch.steps.places[done : ends[stop - 1]]
        step, done = stop, int(ends[stop - 1])
