"""CRC-32C (Castagnoli), the checksum in TensorFlow's checkpoints, fast enough in numpy for gigabytes.

Source: RFC 3720, appendix B.4; the mask is LevelDB's.

A CRC register is linear over GF(2), which gives three tools: zeros before the data change nothing, the register may be
xored into the next word instead of being kept, and lanes of data can run side by side, because
register(a + b) = register(a) moved over len(b) zeros, xor register(b).
"""

from functools import cache

import numpy as np

from elmo.shapes import UInt8, UInt32

_POLYNOMIAL = 0x82F63B78
_MASK_DELTA = 0xA282EAD8
# Words of one lane, and lanes that run side by side: 4 MiB together, which stay in the processor's cache.
_STEPS = 1 << 8
_MAX_LANES = 1 << 12


def crc32c(data: bytes | UInt8[np.ndarray, " bytes"]) -> int:
    """The checksum of `data` (bytes, or a contiguous uint8 array)."""
    values = np.frombuffer(data, dtype=np.uint8)
    register = 0xFFFFFFFF
    odd = len(values) % 4
    for byte in values[:odd].tolist():
        register = int(_byte_table()[(register ^ byte) & 0xFF]) ^ (register >> 8)
    words = values[odd:].view("<u4")
    for begin in range(0, len(words), _STEPS * _MAX_LANES):
        register = _continue(register, words[begin : begin + _STEPS * _MAX_LANES])
    return register ^ 0xFFFFFFFF


def masked_crc32c(data: bytes | UInt8[np.ndarray, " bytes"]) -> int:
    """The checksum as it is stored: rotated and moved, so that data with checksums in it has a checksum of its own."""
    crc = crc32c(data)
    return (((crc >> 15) | (crc << 17)) + _MASK_DELTA) & 0xFFFFFFFF


def _continue(register: int, words: UInt32[np.ndarray, " words"]) -> int:
    lanes = 1 << (-(-len(words) // _STEPS) - 1).bit_length()
    padded = np.zeros(lanes * _STEPS, dtype=np.uint32)
    begin = len(padded) - len(words)
    padded[begin:] = words
    padded[begin] ^= np.uint32(register)
    registers = _run(padded.reshape(lanes, _STEPS), np.zeros(lanes, dtype=np.uint32))
    level = 0
    while len(registers) > 1:
        registers = _apply(_zeros_operator(level), registers[0::2]) ^ registers[1::2]
        level += 1
    return int(registers[0])


def _run(
    lanes: UInt32[np.ndarray, "lanes steps"], registers: UInt32[np.ndarray, " lanes"]
) -> UInt32[np.ndarray, " lanes"]:
    """The registers after the words of their lanes."""
    low_half, high_half = _half_word_tables()
    for words in lanes.T:
        registers = registers ^ words
        registers = low_half[registers & 0xFFFF] ^ high_half[registers >> 16]
    return registers


@cache
def _zeros_operator(level: int) -> UInt32[np.ndarray, "32"]:
    """What each bit of a register becomes after 2**level lanes of zeros."""
    if level == 0:
        return _run(np.zeros((32, _STEPS), dtype=np.uint32), np.uint32(1) << np.arange(32, dtype=np.uint32))
    half = _zeros_operator(level - 1)
    return _apply(half, half)


def _apply(
    operator: UInt32[np.ndarray, "32"], registers: UInt32[np.ndarray, " registers"]
) -> UInt32[np.ndarray, " registers"]:
    bits = (registers[:, None] >> np.arange(32, dtype=np.uint32)) & np.uint32(1)
    return np.bitwise_xor.reduce(np.where(bits, operator, np.uint32(0)), axis=1)


@cache
def _byte_table() -> UInt32[np.ndarray, "256"]:
    """A register of one byte after 8 steps of the division."""
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, (table >> 1) ^ np.uint32(_POLYNOMIAL), table >> 1)
    return table


@cache
def _half_word_tables() -> tuple[UInt32[np.ndarray, "65536"], UInt32[np.ndarray, "65536"]]:
    """The lower and the upper half of a register after 32 steps of the division."""
    tables = [_byte_table()]
    for _ in range(3):
        tables.append((tables[-1] >> 8) ^ tables[0][tables[-1] & 0xFF])
    halves = np.arange(1 << 16)
    low, high = halves & 0xFF, halves >> 8
    return tables[3][low] ^ tables[2][high], tables[1][low] ^ tables[0][high]
