"""CRC-32C against the standard's examples and a division byte by byte."""

import numpy as np
import pytest
from tests.weights.tensorflow.bundles import checksum

from elmo.weights.tensorflow.crc32c import crc32c, masked_crc32c


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
    assert crc32c(data) == checksum(data) == expected


# The last has more than one block of 4 MiB.
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 1023, 1024, 1025, 4096, 5003, (4 << 20) + 4099])
def test_any_length_equals_division_byte_by_byte(size):
    data = np.random.default_rng(size).integers(0, 256, size, dtype=np.uint8)
    assert crc32c(data) == crc32c(data.tobytes()) == checksum(data.tobytes())


def test_mask_rotates_and_adds():
    assert masked_crc32c(b"") == 0xA282EAD8
    assert masked_crc32c(b"123456789") == ((0xE3069283 >> 15 | 0xE3069283 << 17 & 0xFFFFFFFF) + 0xA282EAD8) % 2**32
