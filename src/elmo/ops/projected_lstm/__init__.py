"""The projected LSTM (LSTMP): one layer, one direction, in reading order.

    reference   the plain loop over time, `elmo.reference.lstm_step` for rows; the others are compared with it
    packed      inference: rows sorted by length, nothing is computed for padding
    padded      inference: every row at every step, for a GPU that replays what it has recorded
    window      training on full windows: the layer's own backward

All give the same values.
"""

from elmo.ops.projected_lstm.packed import projected_lstm_packed
from elmo.ops.projected_lstm.padded import projected_lstm_padded
from elmo.ops.projected_lstm.reference import LayerWeights, projected_lstm_reference
from elmo.ops.projected_lstm.window import projected_lstm_window

__all__ = [
    "LayerWeights",
    "projected_lstm_packed",
    "projected_lstm_padded",
    "projected_lstm_reference",
    "projected_lstm_window",
]
