"""How fast an embedder is compared with the floor: the time its products take at the processor's measured peak.

A char CNN window that touches real characters costs its width, one in the padding nothing; words seen before cost
nothing in the token encoder.
"""

import time
from collections.abc import Mapping, Sequence
from typing import get_args

import torch
from native_peak import bytes_per_second, products_per_second
from torch.nn import functional

from elmo.config import BiLMConfig, published
from elmo.model.bilm import BiLM
from elmo.ops.native.kinds import FACTORS_IN_32_BITS, ComputeType, native_types

DTYPES: tuple[ComputeType, ...] = get_args(ComputeType)
MachinePeak = Mapping[str, float]
"""Operations per second by dtype, a multiplication and an addition counted as two."""

_SQUARE = 1024
_PRODUCTS = 20
_MARKS = 2  # begin and end of word


def measured_peak(threads: int, tries: int = 4) -> MachinePeak:
    """The most that products can reach here: the processor's instructions, or without them torch's float32 products.

    The best of `tries` rounds of a quarter of a second for each dtype.
    """
    if native_types():
        return {dtype: products_per_second(dtype, threads, tries) for dtype in native_types()}
    one = torch.ones(_SQUARE, _SQUARE)
    times = []
    for _ in range(_PRODUCTS):
        begun = time.perf_counter()
        functional.linear(one, one)
        times.append(time.perf_counter() - begun)
    return {"float32": 2 * _SQUARE**3 / min(times)}


def words_of(sentences: Sequence[Sequence[str]]) -> int:
    """Tokens together."""
    return sum(map(len, sentences))


def lstm_multiplications(config: BiLMConfig) -> int:
    """Of one token, in all layers and directions."""
    size, cells = config.projection_size, config.cell_size
    layer = 2 * 4 * cells * size + (cells * size if config.has_lstm_projection else 0)
    return layer * config.num_layers * len(config.directions)


def encoder_multiplications(config: BiLMConfig, characters: float) -> float:
    """Of one word that was not seen before, of that many characters."""
    total = float(config.token_features * config.projection_size) if config.token_projection else 0.0
    if config.has_characters:
        windows = min(characters + _MARKS, config.max_characters_per_token)
        total += windows * config.character_dim * sum(width * number for width, number in config.filters)
        total += config.num_highway * 2 * config.num_filters**2
    return total


def floor(config: BiLMConfig, peak: MachinePeak, dtype: ComputeType, sentences: Sequence[Sequence[str]]) -> float:
    """Upper bound on words per second, if only matrix products took time and each word type were encoded once."""
    types = {word for sentence in sentences for word in sentence}
    words = words_of(sentences)
    characters = sum(len(word.encode("utf-8", "replace")) for word in types) / max(1, len(types))
    encoder = "bfloat16" if dtype == "int8" else dtype
    # Boundaries are tokens to the LSTMs.
    lstm = 2 * lstm_multiplications(config) * (words + 2 * len(sentences)) / _peak(peak, dtype)
    return words / (lstm + 2 * encoder_multiplications(config, characters) * len(types) / _peak(peak, encoder))


def reading_floor(config: BiLMConfig, dtype: ComputeType, words: int, sentences: int, threads: int) -> float | None:
    """Upper bound on words per second for single sentences, if reading the recurrent weights were the only cost.

    None without the native library, which measures.
    """
    if not native_types():
        return None
    layer = 5 if config.has_lstm_projection else 4
    num_bytes = layer * config.cell_size * config.projection_size * 4 // FACTORS_IN_32_BITS[dtype]
    together = num_bytes * len(config.directions)
    seconds = config.num_layers * together / bytes_per_second(together, threads)
    return words / ((words + 2 * sentences) * seconds)


def random_bilm(size: str) -> BiLM:
    """A network of a published size with random weights that are always the same."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        return BiLM(published(size)).eval().requires_grad_(False)


def _peak(peak: MachinePeak, dtype: str) -> float:
    """Where the machine has no such products, float32's take their place."""
    return peak.get(dtype, peak["float32"])
