"""An LSTM layer in numpy, step by step.

Source: as `ops/projected_lstm/reference.py`, whose equations these are:

    i, f, o = sigmoid(z_i), sigmoid(z_f + forget_bias), sigmoid(z_o);  j = tanh(z_j)
    c_t = clip(f * c_{t-1} + i * j, cell_clip)
    h_t = clip(W_P (o * tanh(c_t)), projection_clip)
"""

from collections.abc import Iterator

import numpy as np

from elmo.engine.network_weights import LayerWeights, LSTMSettings
from elmo.engine.plain.gates import clip, logistic
from elmo.engine.plain.product import PlainProduct
from elmo.engine.reading import Reading
from elmo.ops.native.kinds import ComputeType
from elmo.ops.native.lstm import Team
from elmo.shapes import Float, Int

# Tokens whose inputs go through their product together: enough for it, few enough for the memory of their gates.
_TOKENS_AHEAD = 256


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

    def run(self, reading: Reading, team: Team | None = None, rank: int = 0) -> None:
        """Reads all tokens."""
        hidden, cell = _state_of_rows(reading)
        done = 0
        for alive, places in _pieces(reading):
            inputs = reading.inputs[places]
            gates = self._input(inputs, self._bias)
            start = 0
            for rows in alive.tolist():
                now = slice(start, start + rows)
                _begin(reading, done, hidden[:rows], cell[:rows])
                self._step(gates[now], hidden[:rows], cell[:rows])
                reading.outputs[places[now]] = hidden[:rows] + inputs[now] if reading.skips else hidden[:rows]
                _end(reading, done, hidden[:rows], cell[:rows])
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


def _state_of_rows(reading: Reading) -> tuple[Float[np.ndarray, "rows projection"], Float[np.ndarray, "rows cell"]]:
    """(hidden, cell) of the rows: the sentences' own, or room where each row has one sentence's after the other's."""
    if reading.steps.turns is None:
        return reading.hidden, reading.cell
    return np.zeros_like(reading.hidden[: reading.steps.rows]), np.zeros_like(reading.cell[: reading.steps.rows])


def _begin(
    reading: Reading, done: int, hidden: Float[np.ndarray, "rows projection"], cell: Float[np.ndarray, "rows cell"]
) -> None:
    """Fetches the state of the sentences that begin with the tokens after the first `done`, one of each row."""
    if reading.steps.turns is not None:
        sentences = reading.steps.turns.begins[done : done + len(hidden)]
        rows = np.flatnonzero(sentences >= 0)
        hidden[rows], cell[rows] = reading.hidden[sentences[rows]], reading.cell[sentences[rows]]


def _end(
    reading: Reading, done: int, hidden: Float[np.ndarray, "rows projection"], cell: Float[np.ndarray, "rows cell"]
) -> None:
    """Hands back the state of the sentences that end with these tokens."""
    if reading.steps.turns is not None:
        sentences = reading.steps.turns.ends[done : done + len(hidden)]
        rows = np.flatnonzero(sentences >= 0)
        reading.hidden[sentences[rows]], reading.cell[sentences[rows]] = hidden[rows], cell[rows]


def _pieces(reading: Reading) -> Iterator[tuple[Int[np.ndarray, " steps"], Int[np.ndarray, " tokens"]]]:
    """Some steps at a time: the rows alive at each, and the places of their tokens."""
    ends = np.cumsum(reading.steps.alive)
    step = done = 0
    while step < len(ends):
        stop = max(step + 1, int(np.searchsorted(ends, done + _TOKENS_AHEAD, side="right")))
        yield reading.steps.alive[step:stop], reading.steps.places[done : ends[stop - 1]]
        step, done = stop, int(ends[stop - 1])
