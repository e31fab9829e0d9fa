"""CRC-32C against the standard's examples and a division bit by bit."""

import numpy as np
import pytest

from elmo.weights.tensorflow.crc32c import crc32c, masked_crc32c


def bit_by_bit(data: bytes) -> int:
    register = 0xFFFFFFFF
    for byte in data:
        register ^= byte
        for _ in range(8):
            register = (register >> 1) ^ (0x82F63B78 if register & 1 else 0)
    return register ^ 0xFFFFFFFF


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", 0),
        (b"123456789", 0xE3069283),
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
        (bytes(range(31, -1, -1)), 0x113FDB5C),
    ],
)
def test_examples_of_the_standard(data, expected):
    assert crc32c(data) == expected


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 1023, 1024, 1025, 4096, 5003])
def test_any_length_equals_division_bit_by_bit(size):
    data = np.random.default_rng(size).integers(0, 256, size, dtype=np.uint8)
    assert crc32c(data) == crc32c(data.tobytes()) == bit_by_bit(data.tobytes())


def test_data_of_several_blocks_equals_a_register_carried_by_bytes():
    # More than one block of 4 MiB; the slow way would take minutes, a table of bytes takes a second.
    data = np.tile(np.random.default_rng(0).integers(0, 256, 4099, dtype=np.uint8), 1100)
    table = [bit_by_bit_table_entry(byte) for byte in range(256)]
    register = 0xFFFFFFFF
    for byte in data.tobytes():
        register = table[(register ^ byte) & 0xFF] ^ (register >> 8)
    assert crc32c(data) == register ^ 0xFFFFFFFF


def bit_by_bit_table_entry(byte: int) -> int:
    for _ in range(8):
        byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
    return byte


def test_every_flipped_bit_is_noticed():
    data = bytearray(np.random.default_rng(1).bytes(60))
    before = crc32c(bytes(data))
    for bit in range(8 * len(data)):
        data[bit // 8] ^= 1 << bit % 8
        assert crc32c(bytes(data)) != before
        data[bit // 8] ^= 1 << bit % 8


def test_mask_rotates_and_adds():
    assert masked_crc32c(b"") == 0xA282EAD8
    assert masked_crc32c(b"123456789") == ((0xE3069283 >> 15 | 0xE3069283 << 17 & 0xFFFFFFFF) + 0xA282EAD8) % 2**32
