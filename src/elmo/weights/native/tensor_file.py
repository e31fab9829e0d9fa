"""Safetensors files, with more checks than the library's own: names, shapes, types, finite values, fingerprint."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from elmo.disk.bounded import open_regular, readable, understood
from elmo.errors import ConfigError, WeightFileError
from elmo.shapes import Float, Shaped
from elmo.weights.fingerprint import combine, damaged_values, digest
from elmo.weights.native.narrow import Held, Narrow, bfloat16_bits, quantized
from elmo.weights.shapes import Shape, require_agreement
from elmo.weights.soundness import require_finite

StoredType = Literal["float32", "float16", "bfloat16", "int8"]

# U16: bfloat16, for which numpy and its files have no type of their own.
_TYPES = {"F32": "<f4", "F16": "<f2", "U16": "<u2", "I8": "i1"}
# Beside a tensor of whole numbers: the size of the steps of each of its rows.
_STEPS_SUFFIX = ".steps"
# The key of the file's own metadata that holds the fingerprint of the tensors as they are read (float32).
_FINGERPRINT_KEY = "sha256"


def write_tensors(
    path: Path, tensors: Mapping[str, Float[np.ndarray, "..."]], types: Mapping[str, StoredType] | None = None
) -> None:
    """Writes the tensors with their fingerprint. Raises ConfigError if float16 can't hold a value, else OSError.

    `types`: tensors stored otherwise than as float32. int8 is for matrices: whole numbers, in steps of each row's own.
    """
    stored: dict[str, np.ndarray] = {}
    digests = {}
    for name, tensor in sorted(tensors.items()):
        held = narrowed(name, tensor, (types or {}).get(name, "float32"))
        digests[name] = digest(np.asarray(held))
        stored[name] = held.stored if isinstance(held, Narrow) else held
        if isinstance(held, Narrow) and held.steps is not None:
            stored[name + _STEPS_SUFFIX] = held.steps
    path.touch()
    mode = path.stat().st_mode  # the library makes files that only their owner can read, whatever the umask says
    with disk_errors():
        save_file(stored, path, metadata={_FINGERPRINT_KEY: combine(digests)})
        with suppress(PermissionError):  # file systems whose files seem to be somebody else's don't let it be set
            path.chmod(mode)


@contextmanager
def disk_errors() -> Iterator[None]:
    """Makes an OSError of the library's own error, its way of saying inside the block that the disk is full."""
    try:
        yield
    except SafetensorError as error:
        raise OSError(str(error)) from error


def read_tensors(
    path: Path, expected: Callable[[Mapping[str, Shape]], Iterable[tuple[str, Shape]]], *, asked_by: str
) -> dict[str, Float[np.ndarray, "..."]]:
    """Every tensor as float32. See `read_held`."""
    return widened(read_held(path, expected, asked_by=asked_by))


def widened(held: dict[str, Held]) -> dict[str, Float[np.ndarray, "..."]]:
    """The tensors as float32, taken out of `held` one by one, so that no two forms of all of them are in memory."""
    return {name: np.asarray(held.pop(name)) for name in list(held)}


def read_held(
    path: Path, expected: Callable[[Mapping[str, Shape]], Iterable[tuple[str, Shape]]], *, asked_by: str
) -> dict[str, Held]:
    """Every tensor in as many bits as it is stored in, in memory of its own. All values are finite.

    `expected` gives the names and shapes there must be, from those there are. Raises WeightFileError if the file is
    missing, damaged or from another model.
    """
    with readable(path, WeightFileError, "Pass the whole model folder, check its permissions, or get it again."):
        open_regular(path).close()  # the library says of every file that it can't open that there is none
    damaged = "It is damaged, cut off, or no safetensors file of a model. Get it again."
    with understood(path, WeightFileError, damaged, SafetensorError, OSError), safe_open(path, "numpy") as file:
        found = {name: file.get_slice(name).get_shape() for name in file.keys()}  # noqa: SIM118 - no mapping
        types = {name: file.get_slice(name).get_dtype() for name in found}
        steps = {name + _STEPS_SUFFIX for name, stored_type in types.items() if stored_type == "I8"}
        shapes = {name: tuple(shape) for name, shape in found.items()}
        tensor_shapes = {name: shape for name, shape in shapes.items() if name not in steps}
        require_agreement(tensor_shapes, expected(tensor_shapes), file=str(path), asked_by=asked_by, kind="tensor")
        stored_fingerprint = (file.metadata() or {}).get(_FINGERPRINT_KEY)
        tensors = _read_all(path, tensor_shapes, shapes, types)
        digests = {name: _checked_digest(path, name, held) for name, held in tensors.items()}
    if stored_fingerprint != combine(digests):
        raise damaged_values(path)
    return tensors


def _read_all(
    path: Path, names: Iterable[str], shapes: Mapping[str, Shape], types: Mapping[str, str]
) -> dict[str, Held]:
    """Each tensor from its place in the file. Without the library's mapping, whose pages count as memory of ours."""
    with open_regular(path) as data:
        begin = 8 + int.from_bytes(data.read(8), "little")
        places = json.loads(data.read(begin - 8))

        def array(name: str) -> Shaped[np.ndarray, "..."]:
            data.seek(begin + places[name]["data_offsets"][0])
            return np.fromfile(data, _TYPES[types[name]], math.prod(shapes[name])).reshape(shapes[name])

        tensors: dict[str, Held] = {}
        for name in names:
            values = array(name)
            if types[name] == "I8":
                tensors[name] = Narrow(values, array(name + _STEPS_SUFFIX))
            else:
                tensors[name] = values if types[name] == "F32" else Narrow(values)
        return tensors


def _checked_digest(path: Path, name: str, held: Held) -> str:
    """The digest of a tensor's values as float32. Raises WeightFileError at a NaN or an infinity."""
    values = np.asarray(held)
    require_finite({name: values}, str(path), "tensor")
    return digest(values)


def narrowed(name: str, tensor: Float[np.ndarray, "..."], dtype: StoredType) -> Held:
    """A tensor in its stored form."""
    if dtype == "bfloat16":
        return Narrow(bfloat16_bits(tensor))
    if dtype == "int8":
        return Narrow(*quantized(tensor))
    with np.errstate(over="ignore"):
        result: np.ndarray[Any, Any] = np.ascontiguousarray(tensor, dtype=dtype)
    if not np.isfinite(result).all():
        raise ConfigError(
            f"tensor {name!r} holds {np.abs(tensor).max():.6g}, which {dtype} can't hold (at most "
            f"{np.finfo(dtype).max:.6g}). Store it as float32."
        )
    return result if dtype == "float32" else Narrow(result)
