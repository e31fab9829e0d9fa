"""Tensor bundles: the files of a TensorFlow checkpoint ("V2"), read without TensorFlow.

    PREFIX.index                 a sorted table: tensor name -> BundleEntryProto; the empty name -> BundleHeaderProto
    PREFIX.data-00000-of-0000K   the tensors' bytes

Source: TensorFlow's `tensor_bundle.proto`, `tensor_shape.proto`, `types.proto`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np

from elmo.disk.bounded import open_regular, readable, understood
from elmo.errors import WeightFileError
from elmo.shapes import Shaped, UInt8
from elmo.weights.tensorflow.crc32c import masked_crc32c
from elmo.weights.tensorflow.sorted_table import Value, read_fields, read_table, signed

# DataType of types.proto -> numpy; other types (strings, resources) are not read.
_TYPES = {
    1: "f4",
    2: "f8",
    3: "i4",
    4: "u1",
    5: "i2",
    6: "i1",
    9: "i8",
    10: "?",
    17: "u2",
    19: "f2",
    22: "u4",
    23: "u8",
}
_GET = "Get the checkpoint's files again, all of them from one save."

Of = TypeVar("Of", int, bytes)


@dataclass(frozen=True)
class _Entry:
    data_type: int
    shape: tuple[int, ...]
    shard: int
    offset: int
    size: int
    masked_crc: int
    is_partitioned: bool


class TensorBundle:
    """Name -> array of a checkpoint; `bundle[name]` reads that tensor from the disk and verifies its checksum.

    `shapes` (name -> shape) and `files` are known without reading any tensor. Raises `WeightFileError`.
    """

    def __init__(self, prefix: Path) -> None:
        self.index = index_of(prefix)
        table = read_table(self.index)
        with understood(self.index, WeightFileError, f"It is not the index of a checkpoint, or damaged. {_GET}"):
            header = read_fields(table.pop(b""))
            num_shards, big_endian = _last(header, 1, 0), _last(header, 2, 0)
            self._entries = {key.decode("utf-8", "surrogateescape"): _entry(value) for key, value in table.items()}
        self._byte_order: Literal[">", "<"] = ">" if big_endian else "<"
        self._shards = {
            shard: prefix.with_name(f"{prefix.name}.data-{shard:05d}-of-{num_shards:05d}")
            for shard in sorted({entry.shard for entry in self._entries.values()})
        }
        self.shapes = {name: entry.shape for name, entry in self._entries.items()}

    @property
    def files(self) -> list[Path]:
        """The index and every file of tensors."""
        return [self.index, *self._shards.values()]

    def __getitem__(self, name: str) -> Shaped[np.ndarray, "..."]:
        entry = self._entries[name]
        dtype = np.dtype(_TYPES.get(entry.data_type, "V0")).newbyteorder(self._byte_order)
        fits = min(entry.shape, default=0) >= 0 and prod(entry.shape) * dtype.itemsize == entry.size
        if not fits or not dtype.itemsize or entry.is_partitioned:
            slices = ", cut into slices" if entry.is_partitioned else ""
            raise WeightFileError(
                f"{self.index}: tensor {name!r} has shape {entry.shape}, {entry.size} bytes and TensorFlow's data type "
                f"{entry.data_type}{slices}. Save the model as float32 without a partitioner, or get it again."
            )
        values = self._bytes(name, entry).view(dtype).reshape(entry.shape)
        return values.astype(dtype.newbyteorder("="), copy=False)

    def _bytes(self, name: str, entry: _Entry) -> UInt8[np.ndarray, " bytes"]:
        path = self._shards[entry.shard]
        with readable(path, WeightFileError, f"Tensor {name!r} is in it. {_GET}"), open_regular(path) as file:
            file.seek(entry.offset)
            values = np.fromfile(file, dtype=np.uint8, count=entry.size)
        if masked_crc32c(values) != entry.masked_crc:
            raise WeightFileError(
                f"{path}: tensor {name!r}, {entry.size} bytes from {entry.offset} on, has another checksum. {_GET}"
            )
        return values


def index_of(prefix: Path) -> Path:
    """The index of a checkpoint."""
    return prefix.with_name(f"{prefix.name}.index")


def _entry(data: bytes) -> _Entry:
    fields = read_fields(data)
    return _Entry(
        data_type=_last(fields, 1, 0),
        shape=_shape(_last(fields, 2, b"")),
        shard=_last(fields, 3, 0),
        offset=_last(fields, 4, 0),
        size=_last(fields, 5, 0),
        masked_crc=_last(fields, 6, 0),
        is_partitioned=7 in fields,
    )


def _shape(data: bytes) -> tuple[int, ...]:
    sizes = read_fields(data).get(2, [])
    return tuple(signed(_last(read_fields(size), 1, 0)) for size in sizes if isinstance(size, bytes))


def _last(fields: Mapping[int, list[Value]], key: int, default: Of) -> Of:
    """The value that counts, which must be of the default's type."""
    value = fields.get(key, [default])[-1]
    if not isinstance(value, type(default)):
        raise ValueError(f"field {key} is {'a message' if isinstance(value, bytes) else 'a number'}")
    return value
