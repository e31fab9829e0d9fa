"""The wire format of protocol buffers, as much of it as small messages of numbers and bytes need.

Source: protobuf.dev, "Encoding". Whatever is wrong with the bytes is a ValueError.
"""

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
    value = data[position : position + size]
    if len(value) < size:
        raise ValueError("a field is cut off")
    return (value if wire_type == _BYTES else int.from_bytes(value, "little")), position + size
