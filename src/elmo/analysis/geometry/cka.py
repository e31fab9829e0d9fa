"""Linear centered kernel alignment: how alike two layers arrange the same tokens, whatever their axes and scales.

Source: Kornblith et al. 2019 (ICML), equation 3 for the linear kernel, computed from the dimensions' products so that
no (tokens, tokens) matrix is built.
"""

import numpy as np
from jaxtyping import Float


def cka(first: Float[np.ndarray, "tokens dim"], second: Float[np.ndarray, "tokens other_dim"]) -> float:
    """0 to 1: 1 for layers that differ by a rotation and a scale; 0 if one of them is constant.

    Tokens should come from different sentences, and be many more than dimensions: with few, unrelated layers come out
    as similar.
    """
    x, y = (one.astype(np.float64) - one.mean(axis=0, dtype=np.float64) for one in (first, second))
    lengths = np.linalg.norm(x.T @ x) * np.linalg.norm(y.T @ y)
    return float(np.square(x.T @ y).sum() / lengths) if lengths else 0.0
