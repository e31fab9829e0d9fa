"""Measures of a layer's vectors, from sums wherever sums are enough.

Source: Ethayarajh 2019 (EMNLP), section 3. There, self-similarity is estimated from drawn pairs; the sum of the unit
vectors gives the mean over all pairs exactly: |sum of u_i|^2 counts every pair twice and each u_i with itself once.
"""

import numpy as np
from jaxtyping import Bool, Float, Int

from elmo.analysis.intervals import Measured
from elmo.analysis.unit_vectors import unit

DRAWS = 500


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
    are parallel.
    """
    if len(vectors) < 2:
        return None
    units, counts = unit(vectors).astype(np.float32), np.array(len(vectors))
    found = float(mean_pair_cosine(units.sum(axis=0), counts))
    random = np.random.default_rng(seed)
    drawn = random.multinomial(len(units), np.full(len(units), 1 / len(units)), size=DRAWS).astype(np.float32)
    # A sentence that was drawn twice is not a pair with itself.
    same = np.square(drawn).sum(axis=1)
    pairs = np.maximum(counts.astype(np.float64) ** 2 - same, 1)
    low, high = np.percentile((np.square(drawn @ units).sum(axis=1) - same) / pairs, [2.5, 97.5])
    return found, (float(low), float(high))


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
