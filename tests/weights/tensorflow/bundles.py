"""A writer of TensorFlow's checkpoints, from LevelDB's table format and TensorFlow's .proto files.

It shares no code with the reader: its checksum divides by bytes, its numbers are packed with struct.
"""

import struct
from pathlib import Path

import numpy as np

MAGIC = 0xDB4775248B80FB57
TYPES = {"float32": 1, "float64": 2, "int32": 3, "int64": 9, "float16": 19, "bool": 10}


def after_8_bits(value: int) -> int:
    for _ in range(8):
        value = value >> 1 ^ (0x82F63B78 if value % 2 else 0)
    return value


BYTES = [after_8_bits(value) for value in range(256)]


def checksum(data: bytes) -> int:
    """CRC-32C, byte by byte."""
    crc = 2**32 - 1
    for byte in data:
        crc = BYTES[(crc ^ byte) % 256] ^ crc // 256
    return crc ^ 2**32 - 1


def stored_checksum(data: bytes) -> int:
    crc = checksum(data)
    return (crc // 2**15 + crc % 2**15 * 2**17 + 0xA282EAD8) % 2**32


def varint(value: int) -> bytes:
    value %= 2**64
    result = b""
    while value > 127:
        result += bytes([value % 128 + 128])
        value //= 128
    return result + bytes([value])


def number_field(number: int, value: int) -> bytes:
    return varint(8 * number) + varint(value)


def message_field(number: int, content: bytes) -> bytes:
    return varint(8 * number + 2) + varint(len(content)) + content


def block(pairs: list[tuple[bytes, bytes]], restart_interval: int) -> bytes:
    content, restarts, before = b"", [], b""
    for i, (key, value) in enumerate(pairs):
        shared = 0
        if i % restart_interval == 0:
            restarts.append(len(content))
        else:
            while shared < min(len(key), len(before)) and key[shared] == before[shared]:
                shared += 1
        content += varint(shared) + varint(len(key) - shared) + varint(len(value)) + key[shared:] + value
        before = key
    restarts = restarts or [0]
    return content + struct.pack(f"<{len(restarts) + 1}I", *restarts, len(restarts))


def table(pairs: dict[bytes, bytes], entries_per_block: int = 7, restart_interval: int = 3) -> bytes:
    """A sorted table of several blocks, keys shortened against the one before."""
    file, index = b"", []

    def append(content: bytes) -> bytes:
        nonlocal file
        handle = varint(len(file)) + varint(len(content))
        file += content + b"\0" + struct.pack("<I", stored_checksum(content + b"\0"))
        return handle

    rows = sorted(pairs.items())
    for begin in range(0, len(rows), entries_per_block):
        part = rows[begin : begin + entries_per_block]
        # A separator may be any key from the block's last one on.
        index += [(part[-1][0] + b"\x00", append(block(part, restart_interval)))]
    metaindex_handle = append(block([], 1))
    index_handle = append(block(index, restart_interval=1))
    return file + (metaindex_handle + index_handle).ljust(40, b"\x00") + struct.pack("<Q", MAGIC)


def entry(array: np.ndarray, shard: int, offset: int, data: bytes) -> bytes:
    shape = b"".join(message_field(2, number_field(1, size)) for size in array.shape)
    fields = number_field(1, TYPES[array.dtype.name]) + message_field(2, shape)
    fields += number_field(3, shard) if shard else b""  # proto3 leaves zeros out
    fields += number_field(4, offset) if offset else b""
    return fields + number_field(5, len(data)) + varint(8 * 6 + 5) + struct.pack("<I", stored_checksum(data))


def write_bundle(
    prefix: Path, arrays: dict[str, np.ndarray], num_shards: int = 2, big_endian: bool = False, **options: int
) -> None:
    shards = [b""] * num_shards
    header = number_field(1, num_shards) + (number_field(2, 1) if big_endian else b"")
    pairs = {b"": header + message_field(3, number_field(1, 1))}
    for i, (name, array) in enumerate(arrays.items()):
        shard = i % num_shards
        data = array.astype(array.dtype.newbyteorder(">" if big_endian else "<")).tobytes()
        pairs[name.encode()] = entry(array, shard, len(shards[shard]), data)
        shards[shard] += data
    prefix.with_name(f"{prefix.name}.index").write_bytes(table(pairs, **options))
    for shard, content in enumerate(shards):
        prefix.with_name(f"{prefix.name}.data-{shard:05d}-of-{num_shards:05d}").write_bytes(content)
