"""Cross-entropy against the whole vocabulary: exact, and expensive for large vocabularies."""

from elmo.ops.full_softmax.chunked import full_softmax_mean
from elmo.ops.full_softmax.reference import full_softmax_reference

__all__ = ["full_softmax_mean", "full_softmax_reference"]
