"""Whether a training fits into the machine at all, found out before anything is built or written.

Counted is what every step must hold at once: weights, gradients and the optimizer's tensors, and what the LSTMs keep of
a window for the backward pass. What is really needed is more, so this refuses only what can never work.
"""

import os

import torch

from elmo.corpus.shards import TrainingData
from elmo.errors import ConfigError
from elmo.pretrain.ranks.distributed import Ranks
from elmo.pretrain.settings.config import PretrainConfig
from elmo.weights.describe import count_parameters

_BYTES = 4  # float32
_COPIES = {"adagrad": 1, "adamw": 2, "sgd": 0}
"""Tensors of a parameter's size that the optimizer keeps."""


def require_memory(config: PretrainConfig, data: TrainingData, ranks: Ranks) -> None:
    """ConfigError if the weights and one window alone need more memory than the device of this rank has."""
    available = _memory_of(ranks.device)
    architecture = config.architecture(data.max_characters_per_token, vocabulary_size=len(data.vocabulary))
    network = sum(count_parameters(architecture).values())
    # Not of an adaptive softmax, most of whose vectors are narrow. The gradient may be that of a few rows.
    has_table = not config.tie_softmax and config.softmax != "adaptive"
    softmax = len(data.vocabulary) * (config.projection_size + 1) if has_table else 0
    copies = _COPIES[config.optimizer]
    weights = _BYTES * (network * (2 + copies) + softmax * (1 + copies))
    rows = ranks.rows(config.batch_size)
    tokens = (rows.stop - rows.start) * config.unroll_steps
    # Of a token in each layer: `ops/projected_lstm/window.py`.
    kept = 8 * config.cell_size + 2 * config.projection_size
    window = _BYTES * len(architecture.directions) * config.num_layers * tokens * kept
    if available is None or weights + window <= available:
        return
    raise ConfigError(
        f"this training needs at least {_gigabytes(weights)} GB for weights, gradients and optimizer, and "
        f"{_gigabytes(window)} GB for a window of {rows.stop - rows.start} rows of {config.unroll_steps} tokens, but "
        f"the device ({ranks.device}) has {_gigabytes(available)} GB. Use smaller sizes: --cell-size, "
        "--projection-size, --character-dim, --filters, --num-layers for the first, --batch-size and --unroll-steps "
        "for the second."
    )


def _memory_of(device: torch.device) -> int | None:
    """Bytes; None where the system doesn't say."""
    if device.type == "cuda":
        return torch.cuda.get_device_properties(device).total_memory
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:,.1f}"
