"""What layers are measured by: means with intervals, votes of the nearest, and the geometry of a layer.

Sources: Ethayarajh 2019 (EMNLP), section 3. There, self-similarity is estimated from sampled pairs; the sum of the unit
vectors gives the mean over all pairs exactly: |sum of u_i|^2 counts every pair twice and each u_i with itself once.
Linear CKA: Kornblith et al. 2019 (ICML), equation 3, computed from products of dimensions, so that no (tokens, tokens)
matrix is built.
"""

import numpy as np

from elmo.analysis.neighbors.context_index import unit
from elmo.shapes import Bool, Float, Int

DRAWS = 500
EQUAL = 1e-5
"""Cosines that differ by less are equal: half precision of stored vectors, and rounding of the products."""

Measured = tuple[float, tuple[float, float]]
"""A mean and its 95 % interval."""


def between(draws: Float[np.ndarray, " draws"]) -> tuple[float, float]:
    """The 95 % interval of resampled values: their 2.5th and 97.5th percentiles."""
    low, high = np.percentile(draws, [2.5, 97.5])
    return float(low), float(high)


def mean_and_interval(values: Float[np.ndarray, " values"], least: float, most: float) -> Measured:
    """The mean of independent values and its 95 % interval by Student's t distribution.

    `least`, `most`: what a value can be, such as 0 and 100 percent; of one value alone, no more is known than that the
    mean is between them.
    """
    mean = float(values.mean())
    if len(values) < 2:
        return mean, (least, most)
    from scipy.stats import t  # which takes a second to import

    reach = t.ppf(0.975, len(values) - 1).item() * float(values.std(ddof=1)) / len(values) ** 0.5
    return mean, (max(mean - reach, least), min(mean + reach, most))


def votes(cosines: Float[np.ndarray, "*rows candidates"], k: int) -> Float[np.ndarray, "*rows candidates"]:
    """How much each candidate counts among the `k` of highest cosine: 1, or 0, or a share if several are as near as the
    `k`-th, which are equally likely to be taken. -inf: not a candidate."""
    k = min(k, cosines.shape[-1])
    last = -np.partition(-cosines, k - 1)[..., k - 1 : k]
    nearer, equal = cosines > last + EQUAL, np.abs(cosines - last) <= EQUAL
    left = k - nearer.sum(axis=-1, keepdims=True)
    return nearer + equal * (left / equal.sum(axis=-1, keepdims=True))


def mean_pair_cosine(
    sums: Float[np.ndarray, "... dim"], counts: Int[np.ndarray, "..."]
) -> Float[np.ndarray, "..."] | np.float64:
    """The mean cosine over all pairs of different vectors, from the sum of their unit vectors; `counts`: 2 or more."""
    pairs = counts.astype(np.float64) * (counts - 1)
    return (np.square(sums, dtype=np.float64).sum(axis=-1) - counts) / pairs


def known(vectors: Float[np.ndarray, "... dim"]) -> Bool[np.ndarray, "..."]:
    """Which vectors are not zeros: static vectors are zeros for words that they don't have."""
    return np.asarray(vectors.any(axis=-1))


def anisotropy(vectors: Float[np.ndarray, "tokens dim"], seed: int = 0) -> Measured | None:
    """The mean cosine of tokens of different sentences, and its 95 % interval over sentences; None without a pair.

    `vectors`: of one token of each sentence, none of them zeros. 0 if directions are spread evenly, 1 if all vectors
    are parallel. One pair alone says no more than that a cosine is between -1 and 1.
    """
    if len(vectors) < 2:
        return None
    units, counts = unit(vectors).astype(np.float32), np.array(len(vectors))
    found = float(mean_pair_cosine(units.sum(axis=0), counts))
    if len(units) == 2:
        return found, (-1.0, 1.0)
    random = np.random.default_rng(seed)
    drawn = random.multinomial(len(units), np.full(len(units), 1 / len(units)), size=DRAWS).astype(np.float32)
    # A sentence that was drawn twice is not a pair with itself, and a draw of one sentence has no pair.
    same = np.square(drawn).sum(axis=1)
    pairs, sums = counts.astype(np.float64) ** 2 - same, np.square(drawn @ units).sum(axis=1) - same
    return found, between(sums[pairs > 0] / pairs[pairs > 0])


def intra_sentence_similarity(layers: Float[np.ndarray, "layers tokens dim"]) -> Float[np.ndarray, " layers"]:
    """The mean cosine of a sentence's tokens to the mean of its vectors, over tokens that have one; NaN for fewer than
    two of them, which aren't like or unlike anything."""
    center = unit(layers.mean(axis=1, keepdims=True))
    counts = known(layers).sum(axis=1)
    return (unit(layers) * center).sum(axis=(1, 2)) / np.where(counts > 1, counts, np.nan)


def explained_variance(vectors: Float[np.ndarray, "occurrences dim"]) -> float:
    """Maximum explainable variance: the share of the first principal direction, 1 if one vector could replace all.

    Uncentered, as the paper defines it (its code centers the occurrences first): the first direction of vectors that
    hardly differ is their mean.
    """
    values = np.square(np.linalg.svd(vectors.astype(np.float64), compute_uv=False))
    return float(values[0] / values.sum()) if values.sum() > 0 else 0.0


def cka(first: Float[np.ndarray, "tokens dim"], second: Float[np.ndarray, "tokens other_dim"]) -> float:
    """Linear centered kernel alignment: how alike two layers arrange the same tokens, whatever their axes and scales.

    0 to 1: 1 for layers that differ by a rotation and a scale; 0 if one of them is constant. Tokens whose vectors are
    zeros in one of them are left out.

    Tokens should come from different sentences, and be many more than dimensions: with few, unrelated layers come out
    as similar.
    """
    both = known(first) & known(second)
    if not both.any():
        return 0.0
    x, y = (one[both] - one[both].mean(axis=0, dtype=np.float64) for one in (first, second))
    lengths = np.linalg.norm(x.T @ x) * np.linalg.norm(y.T @ y)
    return float(np.square(x.T @ y).sum() / lengths) if lengths else 0.0
