"""Sorted tables, LevelDB's file of keys and values, in which TensorFlow keeps the index of a checkpoint.

    data block ...  metaindex block  index block  footer
    block  = entries, restart positions (uint32 each), their number (uint32); then a byte for the compression and the
             masked CRC-32C of block and byte
    entry  = varints (bytes shared with the key before, further bytes of the key, bytes of the value), key, value
    footer = handles (varints: position, size) of metaindex and index block, zeros up to 40 bytes, the magic number

The index block maps the last key of each data block to its handle. The values are protocol buffers: `read_fields` reads
as much of their wire format as small messages of numbers and bytes need.

Source: LevelDB's `table_format.md`; protobuf.dev, "Encoding".
"""

from collections.abc import Iterator
from pathlib import Path

from elmo.disk.bounded import read_bytes, readable, understood
from elmo.errors import WeightFileError
from elmo.weights.tensorflow.crc32c import masked_crc32c

_MAGIC = (0xDB4775248B80FB57).to_bytes(8, "little")
_FOOTER_BYTES = 48
_TRAILER_BYTES = 5
# An index of a checkpoint has some 100 bytes per tensor.
_MAX_BYTES = 4 << 20


def read_table(path: Path) -> dict[bytes, bytes]:
    """Every key and value, in the order of the keys. Raises `WeightFileError` if any byte that matters is damaged."""
    with readable(path, WeightFileError, "Check the path and its permissions."):
        content = read_bytes(path, limit=_MAX_BYTES)
    whole = "The index of a TensorFlow checkpoint is damaged, cut short or of another kind. Get its files again."
    with understood(path, WeightFileError, whole):
        return dict(_table(content))


def _table(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    footer = content[-_FOOTER_BYTES:]
    if len(footer) < _FOOTER_BYTES or not footer.endswith(_MAGIC):
        raise ValueError(f"it ends with the bytes {footer[-8:].hex(' ')}, not with {_MAGIC.hex(' ')}")
    _, position = _handle(footer, 0)
    index, _ = _handle(footer, position)
    for _, handle in _entries(_block(content, *index)):
        place, _ = _handle(handle, 0)
        yield from _entries(_block(content, *place))


def _handle(data: bytes, position: int) -> tuple[tuple[int, int], int]:
    begin, position = read_varint(data, position)
    size, position = read_varint(data, position)
    return (begin, size), position


def _block(content: bytes, begin: int, size: int) -> bytes:
    end = begin + size
    if end + _TRAILER_BYTES > len(content) - _FOOTER_BYTES:
        raise ValueError(f"the block of {size} bytes at {begin} goes past the end")
    if masked_crc32c(content[begin : end + 1]) != int.from_bytes(content[end + 1 : end + _TRAILER_BYTES], "little"):
        raise ValueError(f"the block of {size} bytes at {begin} does not match its checksum")
    return content[begin:end]


def _entries(block: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Keys and values of a block, which has the checksum that it had: TensorFlow wrote it so."""
    end = len(block) - 4 - 4 * int.from_bytes(block[-4:], "little")
    position, key = 0, b""
    while position < end:
        shared, position = read_varint(block, position)
        further, position = read_varint(block, position)
        size, position = read_varint(block, position)
        key = key[:shared] + block[position : position + further]
        position += further
        yield key, block[position : position + size]
        position += size


Value = int | bytes

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


def read_varint(data: bytes, position: int) -> tuple[int, int]:
    """The number of 7 bits a byte, lowest first, at `position`; and the position after it."""
    value = 0
    for i, byte in enumerate(data[position : position + 10]):
        value |= (byte & 0x7F) << (7 * i)
        if byte < 0x80:
            return value & (2**64 - 1), position + i + 1
    raise ValueError("a number is cut off")


def read_fields(data: bytes) -> dict[int, list[Value]]:
    """The fields of a message: number -> its values, in order. Numbers are unsigned."""
    fields: dict[int, list[Value]] = {}
    position = 0
    while position < len(data):
        key, position = read_varint(data, position)
        value, position = _read_value(data, position, key & 7)
        fields.setdefault(key >> 3, []).append(value)
    return fields


def signed(value: int) -> int:
    """A 64-bit number as int64: negative ones are stored in two's complement."""
    return value - 2**64 if value >= 2**63 else value


def _read_value(data: bytes, position: int, wire_type: int) -> tuple[Value, int]:
    if wire_type == _VARINT:
        return read_varint(data, position)
    if wire_type == _BYTES:
        size, position = read_varint(data, position)
    elif wire_type in (_FIXED32, _FIXED64):
        size = 4 if wire_type == _FIXED32 else 8
    else:
        raise ValueError(f"a field has the unknown wire type {wire_type}")
    value = data[position : position + size]  # whole, as the block has the checksum that it had
    return (value if wire_type == _BYTES else int.from_bytes(value, "little")), position + size
