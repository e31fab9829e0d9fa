"""The projected LSTM (LSTMP): one layer, one direction, in reading order.

    reference   the plain loop over time; the specification and the oracle of the others
    packed      inference: rows sorted by length, batches shrink as sentences end, nothing is computed for padding
    fused       inference through the native library: all steps in one call, also with bfloat16 and int8 factors
    window      training on full windows: the layer's own backward

All give the same numbers. `choose` picks one of the torch versions by what is asked; `read_side_by_side`
runs fused layers of both directions on all cores.
"""

from elmo.ops.projected_lstm.cell import LayerWeights, LSTMSettings
from elmo.ops.projected_lstm.choose import choose
from elmo.ops.projected_lstm.fused import can_fuse, fused_layer
from elmo.ops.projected_lstm.packed import projected_lstm_packed
from elmo.ops.projected_lstm.reference import projected_lstm_reference
from elmo.ops.projected_lstm.side_by_side import Stack, read_side_by_side
from elmo.ops.projected_lstm.window import projected_lstm_window

__all__ = [
    "LSTMSettings",
    "LayerWeights",
    "Stack",
    "can_fuse",
    "choose",
    "fused_layer",
    "projected_lstm_packed",
    "projected_lstm_reference",
    "projected_lstm_window",
    "read_side_by_side",
]
