"""Cross-entropy against the whole vocabulary, in clusters of frequency with ever narrower vectors."""

from elmo.ops.adaptive_softmax.by_cluster import adaptive_softmax_mean, adaptive_softmax_nats
from elmo.ops.adaptive_softmax.reference import (
    AdaptiveWeights,
    Cluster,
    adaptive_log_probabilities,
    adaptive_softmax_reference,
)

__all__ = [
    "AdaptiveWeights",
    "Cluster",
    "adaptive_log_probabilities",
    "adaptive_softmax_mean",
    "adaptive_softmax_nats",
    "adaptive_softmax_reference",
]
