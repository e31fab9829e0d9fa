"""Convolutions over a token's characters, and the maximum over positions."""

from elmo.ops.char_cnn.reference import char_cnn_reference
from elmo.ops.char_cnn.training import char_cnn_training
from elmo.ops.char_cnn.trimmed import char_cnn_trimmed

__all__ = ["char_cnn_reference", "char_cnn_training", "char_cnn_trimmed"]
