"""Products and LSTM layers in numpy, where there is no library; in float64 the oracle of both.

It computes in the weights' own type. bfloat16 and int8 are imitated: factors are rounded alike, but their products are
no faster than float32's. The equations of a layer (`reference.py` has them for one sentence):

    i, f, o = sigmoid(z_i), sigmoid(z_f + forget_bias), sigmoid(z_o);  j = tanh(z_j)
    c_t = clip(f * c_{t-1} + i * j, cell_clip)
    h_t = clip(W_P (o * tanh(c_t)), projection_clip)

A BLAS may round a row of a product differently when other rows are beside it: it has other code for one row, for a few,
and for the rows left over from its blocks. So every product of a weight has the same number of rows, filled up with
zeros: as many as this BLAS gives the same bits in every place.
"""

from collections.abc import Iterator

import numpy as np

from elmo.engine.row_packing import RowBatch
from elmo.engine.weight_store import LayerWeights, LSTMSettings, StoredWeight, Weight
from elmo.ops.native.kinds import ComputeType
from elmo.ops.native.lstm import Team
from elmo.shapes import Float, Int
from elmo.weights.native.narrow import bfloat16_bits, quantized

_ROWS = (8, 4)
_STEPS = 127
_TINIEST = np.float32(_STEPS / np.finfo(np.float32).max)  # see ops/product.py
# Tokens whose inputs go through their product together: enough for it, few enough for the memory of their gates.
_TOKENS_AHEAD = 256


def logistic(values: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
    """1 / (1 + exp(-x)); far below zero the exponential is infinite and the result 0, as it should be."""
    with np.errstate(over="ignore"):
        return (1 / (1 + np.exp(-values, dtype=np.float64))).astype(values.dtype)


def hyperbolic_tangent(values: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
    """tanh(x)"""
    return np.tanh(values, dtype=np.float64).astype(values.dtype)


def clip(values: Float[np.ndarray, "*shape"], bound: float | None) -> Float[np.ndarray, "*shape"]:
    """Limit absolute values to `bound`, if there is one."""
    return values if bound is None else np.clip(values, -bound, bound)


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
        self._weight = np.ascontiguousarray(weight.T)
        self._rows = _rows_alike(self._weight)
        if isinstance(held, StoredWeight) and dtype == "float32":
            held.release(lambda: self._weight.T)

    @property
    def num_bytes(self) -> int:
        """Of the weight."""
        return self._weight.nbytes

    def __call__(
        self, inputs: Float[np.ndarray, "rows inner"], bias: Float[np.ndarray, " outer"] | None = None
    ) -> Float[np.ndarray, "rows outer"]:
        """inputs @ weight.T + bias"""
        factors, steps = self._factors(inputs)
        out = np.empty((len(inputs), self.outer), self._weight.dtype)
        for start in range(0, len(inputs), self._rows):
            rows = factors[start : start + self._rows]
            if len(rows) < self._rows:
                rows = np.concatenate([rows, np.zeros((self._rows - len(rows), self.inner), rows.dtype)])
            # What exceeds float32 becomes inf, as in the C kernels; whoever uses the vectors checks them.
            with np.errstate(over="ignore", invalid="ignore"):
                out[start : start + self._rows] = np.matmul(rows, self._weight)[: len(inputs) - start]
        if self._steps is not None:
            out *= self._steps * steps
        if bias is not None:
            out += bias
        return out

    def _factors(
        self, inputs: Float[np.ndarray, "rows inner"]
    ) -> tuple[Float[np.ndarray, "rows inner"], Float[np.ndarray, "rows 1"] | None]:
        """The rounded rows, and for int8 the size of each row's step."""
        if self._dtype == "int8":
            return quantized_rows(inputs)
        inputs = np.asarray(inputs, self._weight.dtype)
        return (to_bfloat16(inputs) if self._dtype == "bfloat16" else inputs), None


def _rows_alike(weight: Float[np.ndarray, "inner outer"]) -> int:
    """The largest number of rows whose products come out the same in every place, tried with equal rows."""
    row = np.random.default_rng(0).standard_normal(len(weight)).astype(weight.dtype)
    for count in _ROWS:
        found = np.matmul(np.tile(row, (count, 1)), weight)
        if (found == found[0]).all():
            return count
    return 1


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
    largest = np.abs(values).max(axis=1, keepdims=True, initial=0)
    steps = np.divide(_STEPS, largest, out=np.zeros_like(largest), where=largest > _TINIEST)
    return np.rint(values * steps), largest / _STEPS


class PlainLayer:
    """One layer of one direction."""

    shares_columns = False
    """numpy's own products use the cores."""

    def __init__(self, weights: LayerWeights, settings: LSTMSettings, dtype: ComputeType) -> None:
        self._settings = settings
        self.sizes = weights.sizes
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
        i, f, o, j = np.split(gates.astype(np.float64), 4, axis=1)
        new_cell = clip(logistic(f) * cell + logistic(i) * np.tanh(j), self._settings.cell_clip)
        output = (logistic(o) * np.tanh(new_cell)).astype(cell.dtype)
        cell[...] = new_cell
        if self._projection is not None:
            output = clip(self._projection(output), self._settings.projection_clip)
        hidden[...] = output


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
