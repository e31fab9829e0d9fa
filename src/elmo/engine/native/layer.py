"""An LSTM layer through the native library: all steps in one call, with float32, bfloat16 or int8 factors.

Source: ops/native/inference/kernel.h. The same in numpy is `plain.layer`; a row's bits don't depend on the rows
beside it, nor on the number of threads.
"""

import numpy as np

from elmo.engine.native.panels import lay_out
from elmo.engine.network_weights import LayerWeights, LSTMSettings
from elmo.engine.reading import Reading
from elmo.ops import native
from elmo.ops.native.kinds import ComputeType
from elmo.ops.native.lstm import LSTMLayer, Team
from elmo.shapes import Int

_LANES = 16


class NativeLayer:
    """One layer of one direction, laid out."""

    shares_columns = True
    """Several threads can run it together, each with some of the columns."""

    def __init__(self, weights: LayerWeights, settings: LSTMSettings, dtype: ComputeType) -> None:
        order, projection = _gate_order(weights.cell_size), weights.projection_weight
        read_once = lay_out(weights.input_weight, dtype, order).matrix()
        every_step = [lay_out(weights.recurrent_weight, dtype, order).matrix()]
        if projection is not None:
            every_step.append(lay_out(projection, dtype).matrix())
        self.sizes = weights.sizes
        self.num_bytes = sum(matrix.num_bytes for matrix in every_step)
        """Of the weights that every step reads."""
        self._layer = LSTMLayer(
            native.required_library(),
            read_once,
            *every_step,
            bias=np.where(order < 0, np.float32(0), weights.bias_with_forget(settings.forget_bias)[order]),
            cell_size=weights.cell_size,
            cell_clip=settings.cell_clip,
            projection_clip=settings.projection_clip,
        )

    def run(self, reading: Reading, team: Team | None = None, rank: int = 0) -> None:
        """Reads all tokens. Several threads that run at the same time, `rank` 0 to team - 1, share the columns."""
        self._layer.read(*reading, team, rank)


def _gate_order(size: int) -> Int[np.ndarray, " padded"]:
    """Gate rows in the order of the panels: the four gates of sixteen cells, then of the next sixteen; -1: no cell."""
    cells = np.arange(size + -size % _LANES)
    rows = np.where(cells < size, size * np.arange(4)[:, None] + cells, -1)
    return rows.reshape(4, -1, _LANES).swapaxes(0, 1).reshape(-1)
