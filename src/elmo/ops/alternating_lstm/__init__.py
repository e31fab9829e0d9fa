"""The alternating highway LSTM: a stack of LSTM layers that read in turn left to right and right to left.

    reference   the plain loop over layers and time steps: the specification and the oracle of the fast version
    packed      rows sorted by length and packed without padding; each layer has its own backward pass

Both give the same values and gradients. Source: He et al. 2017, "Deep Semantic Role Labeling", section 3.
"""

from elmo.ops.alternating_lstm.packed import alternating_lstm_packed
from elmo.ops.alternating_lstm.reference import HighwayWeights, LSTMState, alternating_lstm_reference

__all__ = ["HighwayWeights", "LSTMState", "alternating_lstm_packed", "alternating_lstm_reference"]
