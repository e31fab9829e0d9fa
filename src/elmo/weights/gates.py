"""The order of an LSTM's gates, which every format has its own of.

Ours: input i, forget f, output o, candidate j, so that the three logistic gates are neighbors.
"""

import numpy as np

from elmo.shapes import Float

OUR_ORDER = "ifoj"


def to_our_order(rows: Float[np.ndarray, "gates ..."], order: str) -> Float[np.ndarray, "gates ..."]:
    """`rows` (4 * cell_size, ...), in blocks of `order` ("ijfo": TensorFlow, "ifjo": PyTorch), in blocks of ours.

    The result is contiguous row by row, also if `rows` is a transposed view.
    """
    blocks = dict(zip(order, np.split(rows, 4), strict=True))
    return np.concatenate([blocks[gate] for gate in OUR_ORDER], out=np.empty(rows.shape, rows.dtype))
