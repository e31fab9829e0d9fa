"""An LSTM layer through the native library: all steps in one call, with float32, bfloat16 or int8 factors.

Source: ops/native/inference/kernel.h. The same in numpy is `plain.layer`; a row's bits don't depend on the rows
beside it, nor on the number of threads.
"""

import ctypes
import math
from typing import Any, cast

import numpy as np

from elmo.engine.memory import address, aligned
from elmo.engine.native.panels import lay_out
from elmo.engine.network_weights import LayerWeights, LSTMSettings
from elmo.engine.reading import Reading, Shared
from elmo.ops import native
from elmo.ops.native.kinds import KINDS, ComputeType
from elmo.ops.native.structures import Layer, Packed, Run, Sentences
from elmo.shapes import Int

_LANES = 16


class NativeLayer:
    """One layer of one direction, laid out."""

    shares_columns = True
    """Several threads can run it together, each with some of the columns."""

    def __init__(self, weights: LayerWeights, settings: LSTMSettings, dtype: ComputeType) -> None:
        self._library = cast(Any, native.library())
        self._kind = KINDS[dtype]
        projection = weights.projection_weight
        order = _gate_order(weights.cell_size)
        self._panels = (
            lay_out(weights.input_weight, dtype, order),
            lay_out(weights.recurrent_weight, dtype, order),
            None if projection is None else lay_out(projection, dtype),
        )
        self._bias = np.where(order < 0, np.float32(0), weights.bias_with_forget(settings.forget_bias)[order])
        clips = (math.inf if clip is None else clip for clip in settings[1:])
        self._layer = Layer(
            *(Packed() if panels is None else panels.packed() for panels in self._panels),
            address(self._bias),
            weights.input_weight.shape[1],
            weights.recurrent_weight.shape[1],
            weights.cell_size,
            *clips,
        )

    @property
    def num_bytes(self) -> int:
        """Of the weights that every step reads."""
        return sum(panels.weights.nbytes for panels in self._panels[1:] if panels is not None)

    def run(self, reading: Reading, shared: Shared | None = None, rank: int = 0) -> None:
        """Reads all tokens. Several threads that run at the same time, `rank` 0 to team - 1, share the columns."""
        if not len(reading.places):
            return
        shared = shared or Shared.of(1, reading)
        hidden = reading.hidden if shared.hidden is None else shared.hidden
        sentences = _sentences(reading)
        run = Run(
            *(address(array) for array in (*reading[:4], hidden, reading.cell)),
            address(shared.made),
            0,
            address(shared.arrivals),
            len(reading.alive),
            reading.inputs.strides[0] // 4,
            reading.outputs.strides[0] // 4,
            reading.skips,
            rank,
            len(shared.arrivals),
            None if sentences is None else ctypes.addressof(sentences),
        )
        layer = ctypes.byref(self._layer)
        work = aligned(self._library.elmo_fused_lstm_work_bytes(layer, ctypes.byref(run)), np.uint8)
        run.work = address(work)
        self._library.elmo_fused_lstm(self._kind, layer, ctypes.byref(run))


def _sentences(reading: Reading) -> Sentences | None:
    if reading.turns is None:
        return None
    return Sentences(*(address(array) for array in (*reading.turns, reading.hidden, reading.cell)))


def _gate_order(size: int) -> Int[np.ndarray, " padded"]:
    """Gate rows in the order of the panels: the four gates of sixteen cells, then of the next sixteen; -1: no cell."""
    cells = np.arange(size + -size % _LANES)
    rows = np.where(cells < size, size * np.arange(4)[:, None] + cells, -1)
    return rows.reshape(4, -1, _LANES).swapaxes(0, 1).reshape(-1)
