"""Whether a training fits into the machine at all, found out before anything is built or written.

Counted is what every step must hold at once: weights, gradients and the optimizer's tensors, and what the LSTMs keep of
a window for the backward pass. What is really needed is more, so this refuses only what can never work.
"""

import os
from math import prod

import torch

from elmo.config import BiLMConfig
from elmo.corpus.shards import TrainingData
from elmo.errors import ConfigError
from elmo.pretrain.ranks.distributed import Ranks
from elmo.pretrain.settings.config import PretrainConfig

_BYTES = 4  # float32
_COPIES = {"adagrad": 1, "adamw": 2, "sgd": 0}
"""Tensors of a parameter's size that the optimizer keeps."""


def require_memory(config: PretrainConfig, data: TrainingData, ranks: Ranks) -> None:
    """ConfigError if the weights and one window alone need more memory than the device of this rank has."""
    available = _memory_of(ranks.device)
    architecture = config.architecture(data.max_characters_per_token, vocabulary_size=len(data.vocabulary))
    rows = ranks.rows(config.batch_size)
    network, softmax = num_network_weights(architecture), num_softmax_weights(config, len(data.vocabulary))
    copies = _COPIES[config.optimizer]
    # The gradient of the softmax may be that of a few rows.
    weights = _BYTES * (network * (2 + copies) + softmax * (1 + copies))
    window = _BYTES * num_window_values(architecture, (rows.stop - rows.start) * config.unroll_steps)
    if available is None or weights + window <= available:
        return
    raise ConfigError(
        f"this training needs at least {_gigabytes(weights)} GB for weights, gradients and optimizer, and "
        f"{_gigabytes(window)} GB for a window of {rows.stop - rows.start} rows of {config.unroll_steps} tokens, but "
        f"the device ({ranks.device}) has {_gigabytes(available)} GB. Use smaller sizes: --cell-size, "
        "--projection-size, --character-dim, --filters, --num-layers for the first, --batch-size and --unroll-steps "
        "for the second."
    )


def num_network_weights(architecture: BiLMConfig) -> int:
    """Numbers in the weights of a biLM."""
    cells, width = architecture.cell_size, architecture.projection_size
    layer = 4 * cells * (2 * width + 1) + (cells * width if architecture.has_lstm_projection else 0)
    total = (
        len(architecture.directions) * architecture.num_layers * layer + architecture.num_words * architecture.word_dim
    )
    if architecture.has_characters:
        total += architecture.num_characters * architecture.character_dim
        total += sum(number * (length * architecture.character_dim + 1) for length, number in architecture.filters)
        total += architecture.num_highway * 2 * architecture.num_filters * (architecture.num_filters + 1)
    if architecture.token_projection:
        total += (architecture.token_features + 1) * width
    return total


def num_softmax_weights(config: PretrainConfig, vocabulary_size: int) -> int:
    """Numbers in the weights of the softmax; 0 if it shares the weights of the word embedding."""
    if config.tie_softmax:
        return 0
    clusters = config.softmax_clusters(vocabulary_size)
    first = vocabulary_size - sum(words for words, _ in clusters) + len(clusters)
    return first * (config.projection_size + 1) + sum(prod(cluster) for cluster in clusters)


def num_window_values(architecture: BiLMConfig, tokens: int) -> int:
    """Numbers that the LSTMs keep of a window for the backward pass (`ops/projected_lstm/window.py`)."""
    of_token = 8 * architecture.cell_size + 2 * architecture.projection_size
    return len(architecture.directions) * architecture.num_layers * tokens * of_token


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
