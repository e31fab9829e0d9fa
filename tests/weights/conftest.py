"""Small models with random weights."""

from collections.abc import Callable

import numpy as np
import pytest

from elmo.config import BiLMConfig
from elmo.text.characters import CharacterMap
from elmo.text.token_map import TokenMap, WordMap
from elmo.weights.checkpoint import Checkpoint
from elmo.weights.shapes import network_shapes
from elmo.weights.tensorflow.crc32c import masked_crc32c

SMALL = {"character_dim": 3, "filters": ((1, 2), (2, 3)), "num_highway": 1, "cell_size": 6, "projection_size": 4}
WORDS = ["<S>", "</S>", "<UNK>", "the", "", "책"]
WORD_MODEL = {
    "characters": "none",
    "cell_size": 6,
    "projection_size": 4,
    "num_words": len(WORDS) + 1,
    "word_dim": 4,
    "token_projection": False,
}


def _random_checkpoint(config: BiLMConfig) -> Checkpoint:
    random = np.random.default_rng(7)
    tensors = {name: random.normal(size=shape).astype(np.float32) for name, shape in network_shapes(config)}
    for name in ("character_embedding", "word_embedding"):
        if f"token_encoder.{name}" in tensors:
            tensors[f"token_encoder.{name}"][0] = 0
    words = WordMap({word: row for row, word in enumerate(WORDS, start=1)}) if config.has_words else None
    characters = {"bytes": CharacterMap.for_bytes(config.max_characters_per_token), "none": None}[config.characters]
    return Checkpoint(config, tensors, TokenMap(characters, words), vocabulary=list(WORDS) if words else None)


@pytest.fixture
def random_checkpoint() -> Callable[..., Checkpoint]:
    """`random_checkpoint(**settings)`: a tiny byte-level model, with `settings` of its config."""
    return lambda **settings: _random_checkpoint(BiLMConfig(**(SMALL | settings)))


@pytest.fixture
def random_word_checkpoint() -> Callable[..., Checkpoint]:
    """`random_word_checkpoint(**settings)`: a tiny model that reads words."""
    return lambda **settings: _random_checkpoint(BiLMConfig(**(WORD_MODEL | settings)))


@pytest.fixture
def random_softmax() -> dict[str, np.ndarray]:
    """A softmax over `WORDS` for the tiny models."""
    random = np.random.default_rng(8)
    weight, bias = random.normal(size=(len(WORDS), 4)), random.normal(size=len(WORDS))
    return {"weight": weight.astype(np.float32), "bias": bias.astype(np.float32)}


def _require_equal(found: Checkpoint, wanted: Checkpoint) -> None:
    assert found.config == wanted.config
    assert found.token_map == wanted.token_map
    for part in ("tensors", "softmax", "warm_state"):
        ours, theirs = getattr(found, part), getattr(wanted, part)
        assert (ours is None) == (theirs is None), part
        assert sorted(ours or {}) == sorted(theirs or {})
        for name in ours or {}:
            assert ours[name].dtype == np.float32
            assert ours[name].flags.writeable
            assert ours[name].tobytes() == theirs[name].tobytes(), name


@pytest.fixture
def require_equal() -> Callable[[Checkpoint, Checkpoint], None]:
    """Asserts that two checkpoints are the same model, bit for bit."""
    return _require_equal


def _varint(number: int) -> bytes:
    parts = bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*parts, number])


def _table_entry(key: bytes, value: bytes, shared: int = 0) -> bytes:
    """`key` without the `shared` bytes that it begins with as the key before it does."""
    return b"".join(map(_varint, (shared, len(key), len(value)))) + key + value


def _index_of(entries: bytes, *, handles: int = 1) -> bytes:
    """A sorted table of one block, named `handles` times by its index block."""

    def stored(block: bytes) -> bytes:
        block += (0).to_bytes(4, "little") + (1).to_bytes(4, "little") + b"\0"
        return block + masked_crc32c(block).to_bytes(4, "little")

    data = stored(entries)
    handle = _varint(0) + _varint(len(data) - 5)
    index = stored(b"".join(_table_entry(b"%07d" % number, handle) for number in range(handles)))
    footer = _varint(0) + _varint(0) + _varint(len(data)) + _varint(len(index) - 5)
    return data + index + footer.ljust(40, b"\0") + (0xDB4775248B80FB57).to_bytes(8, "little")


@pytest.fixture
def table_entry() -> Callable[..., bytes]:
    """`table_entry(key, value, shared)`: an entry of a TensorFlow index, made by hand."""
    return _table_entry


@pytest.fixture
def index_of() -> Callable[..., bytes]:
    """`index_of(entries, handles=1)`: a TensorFlow index with these entries, however odd they are."""
    return _index_of
