"""Convolutions over a token's characters, and the maximum over positions: `elmo.reference.char_cnn` in torch.

trimmed    only the windows that can differ; any gradients are autograd's
training   the same in groups of tokens, with its own backward
"""

from elmo.ops.char_cnn.training import char_cnn_training
from elmo.ops.char_cnn.trimmed import char_cnn_trimmed

__all__ = ["char_cnn_training", "char_cnn_trimmed"]
