"""Safetensors files, with more checks than the library's own: names, shapes, types, finite values, fingerprint."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from elmo.disk.bounded import is_there
from elmo.errors import ConfigError, WeightFileError
from elmo.weights.agreement import require_agreement
from elmo.weights.fingerprint import combine, damaged_values, digest, fingerprint
from elmo.weights.native.fewer_bits import bfloat16_bits, quantized
from elmo.weights.shapes import Shape
from elmo.weights.soundness import require_finite

StoredType = Literal["float32", "float16", "bfloat16", "int8"]

# U16: bfloat16, for which numpy and its files have no type of their own.
_KNOWN_TYPES = ("F32", "F16", "U16", "I8")
# Beside a tensor of whole numbers: the step that each of its rows is counted in.
_STEPS_SUFFIX = ".steps"
# The key of the file's own metadata that holds the fingerprint of the tensors as they are read (float32).
_FINGERPRINT_KEY = "sha256"


@dataclass(frozen=True)
class Stored:
    """An array as it lies in a file; bfloat16 as 16-bit whole numbers."""

    values: np.ndarray
    dtype: StoredType


def write_tensors(
    path: Path,
    tensors: Mapping[str, np.ndarray],
    dtype: StoredType = "float32",
    types: Mapping[str, StoredType] | None = None,
) -> None:
    """Writes the tensors with their fingerprint. Raises ConfigError if float16 can't hold a value, else OSError.

    `types`: tensors stored otherwise than as `dtype`. int8 is for matrices: whole numbers, in steps of each row's own.
    """
    stored: dict[str, Stored] = {}
    digests = {}
    for name, tensor in sorted(tensors.items()):
        parts = _narrowed(name, tensor, (types or {}).get(name, dtype))
        stored |= parts
        digests[name] = digest(widened(parts, name))
    path.touch()
    mode = path.stat().st_mode  # the library makes files that only their owner can read, whatever the umask says
    try:
        arrays = {name: one.values for name, one in stored.items()}
        save_file(arrays, path, metadata={_FINGERPRINT_KEY: combine(digests)})
        path.chmod(mode)
    except SafetensorError as error:
        raise OSError(str(error)) from error


def read_tensors(
    path: Path, expected: Callable[[Mapping[str, Shape]], Iterable[tuple[str, Shape]]], *, asked_by: str
) -> dict[str, np.ndarray]:
    """Every tensor as float32, own memory.

    `expected` gives the names and shapes there must be, from those there are. Raises WeightFileError if the file is
    missing, damaged or from another model.
    """
    if not path.is_file():
        problem = "is no file" if is_there(path) else "is missing"
        raise WeightFileError(f"{path}: {problem}. Pass the whole model folder, or get the model again.")
    with _translated(path), safe_open(path, "numpy") as file:
        found = {name: file.get_slice(name).get_shape() for name in file.keys()}  # noqa: SIM118 - no mapping
        types = {name: file.get_slice(name).get_dtype() for name in found}
        steps = {name + _STEPS_SUFFIX for name, stored_type in types.items() if stored_type == "I8"}
        shapes = {name: tuple(shape) for name, shape in found.items() if name not in steps}
        require_agreement(shapes, expected(shapes), file=str(path), asked_by=asked_by, kind="tensor")
        for name, stored_type in types.items():
            if stored_type not in _KNOWN_TYPES:
                raise WeightFileError(
                    f"{path}: tensor {name!r} has type {stored_type}, but a model holds float32, float16, bfloat16 or "
                    "int8: the file is damaged or from another program. Get it again."
                )
        tensors = _read_all(path, file, shapes, types)
        stored_fingerprint = (file.metadata() or {}).get(_FINGERPRINT_KEY)
    require_finite(tensors, str(path), "tensor")
    if stored_fingerprint is None:
        raise WeightFileError(
            f"{path}: states no SHA-256 of its tensors: it is damaged, or another program wrote it. Get it again, or "
            "write it with elmo.weights.native.write."
        )
    if stored_fingerprint != fingerprint(tensors):
        raise damaged_values(path)
    return tensors


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    try:
        yield
    except (SafetensorError, OSError, ValueError, TypeError, KeyError, OverflowError) as error:
        if isinstance(error, WeightFileError):
            raise
        raise WeightFileError(
            f"{path}: can't be read as safetensors ({error}): it is damaged, cut off, or another kind of file. "
            "Get it again."
        ) from None


def _read_all(path: Path, file: Any, shapes: Mapping[str, Shape], types: Mapping[str, str]) -> dict[str, np.ndarray]:
    """Every tensor as float32, own memory."""
    tensors = {}
    for name, shape in shapes.items():
        parts = {name: Stored(file.get_tensor(name), "bfloat16" if types[name] == "U16" else "float32")}
        if types[name] == "I8":
            if types.get(name + _STEPS_SUFFIX) != "F32" or len(shape) != 2:
                raise WeightFileError(
                    f"{path}: tensor {name!r} of whole numbers has no steps {name + _STEPS_SUFFIX!r} beside it: the "
                    "file is damaged or from another program. Get it again."
                )
            parts[name + _STEPS_SUFFIX] = Stored(file.get_tensor(name + _STEPS_SUFFIX), "float32")
        tensors[name] = widened(parts, name)
    return tensors


def _narrowed(name: str, tensor: np.ndarray, dtype: StoredType) -> dict[str, Stored]:
    """What is stored of a tensor: itself, and for int8 its steps."""
    if dtype == "bfloat16":
        return {name: Stored(bfloat16_bits(tensor), "bfloat16")}
    if dtype == "int8":
        whole, steps = quantized(tensor)
        return {name: Stored(whole, "int8"), name + _STEPS_SUFFIX: Stored(steps, "float32")}
    with np.errstate(over="ignore"):
        result: np.ndarray[Any, Any] = np.ascontiguousarray(tensor, dtype=dtype)
    if not np.isfinite(result).all():
        raise ConfigError(
            f"tensor {name!r} holds {np.abs(tensor).max():.6g}, which {dtype} can't hold (at most "
            f"{np.finfo(dtype).max:.6g}). Store it as float32."
        )
    return {name: Stored(result, dtype)}


def widened(parts: Mapping[str, Stored], name: str) -> np.ndarray:
    """The tensor as float32, as it is read from what is stored."""
    stored = parts[name]
    if stored.dtype == "bfloat16":
        return (stored.values.astype(np.uint32) << 16).view(np.float32)
    found = np.array(stored.values, dtype=np.float32)
    steps = parts.get(name + _STEPS_SUFFIX)
    return found if steps is None else found * steps.values
