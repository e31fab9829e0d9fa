"""The gated recurrent unit (GRU), as cuDNN and torch have it: the reset gate multiplies the recurrent product.

    reference      the plain loop over time: the specification and the oracle of the fast version
    side_by_side   two GRUs in step, the two directions of a text for instance, with their own backward pass

Both give the same values and gradients. Source: Cho et al. 2014; Clark and Gardner 2018 use cuDNN's.
"""

from elmo.ops.gru.reference import gru_reference
from elmo.ops.gru.side_by_side import grus_side_by_side
from elmo.ops.gru.weights import GRUWeights

__all__ = ["GRUWeights", "gru_reference", "grus_side_by_side"]
