"""State dicts of PyTorch, read as data: no pickle is executed, and torch isn't needed.

A pickle is a program for a stack machine and may call any function. Here the standard library's `pickletools` takes it
apart, and the few operations that a state dict needs are carried out on plain values: nothing is imported, and nothing
that the file names is called. Whatever else it asks for is refused.

    zip archive (torch 1.6 and later)    NAME/data.pkl: the pickle; NAME/data/KEY: the bytes of each storage
    before                               pickles of a magic number, a version, the system's facts, the object and the
                                         storages' keys; then of each storage its length (int64) and its bytes

Source: `pickletools` for the operations; torch's `serialization.py` and `_utils.py`.
"""

import math
import pickletools
import zipfile
import zlib
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from elmo.disk.bounded import open_regular, readable, shown
from elmo.errors import WeightFileError
from elmo.shapes import Float, Shaped

_ZIP_START = b"PK\x03\x04"
_LEGACY_START = bytes.fromhex("80028a0a6cfc9c46f9206aa850192e")  # the pickle of torch's magic number
# numpy has no bfloat16: those are read as 16-bit integers and widened.
_TYPES = {"torch.FloatStorage": "f4", "torch.DoubleStorage": "f8", "torch.HalfStorage": "f2"}
_TYPES |= {"torch.BFloat16Storage": "u2"}
# A state dict takes some 40 for each tensor.
_MOST_OPERATIONS = 1_000_000
_NEXT_STEP = "Get the file again from its publisher, and check its hash if one is published."
# What damaged bytes make zipfile, pickletools, numpy and the code here raise.
_DAMAGE = (zipfile.BadZipFile, zlib.error, ValueError, LookupError, TypeError, AttributeError, RuntimeError, EOFError)


class _Refused(Exception):  # noqa: N818 - becomes a WeightFileError that names the file
    """Why the file isn't read."""


class _Name(NamedTuple):
    """A class or function that the pickle names, and that stays a name."""

    name: str


class _Storage(NamedTuple):
    kind: str
    key: str
    begin: int


class _Tensor(NamedTuple):
    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def read_state_dict(path: Path) -> dict[str, Float[np.ndarray, "..."]]:
    """Every tensor of a file written by `torch.save(module.state_dict(), path)`, in either of torch's formats.

    Returns name -> float16, float32 or float64 array; bfloat16 becomes float32. A tensor that modules share has two
    names and one array. Raises WeightFileError if the file is missing, damaged, or holds anything but a flat dict of
    dense float tensors.
    """
    path = Path(path)
    with readable(path, WeightFileError, "Check its permissions, or get it from the model's publisher."):
        try:
            with open_regular(path) as file:
                start, size = file.read(len(_LEGACY_START)), file.seek(0, 2)
                file.seek(0)
                if start.startswith(_ZIP_START):
                    return _read_archive(file, size)
                if start == _LEGACY_START:
                    return _read_legacy(file, size)
        except (_Refused, *_DAMAGE) as error:
            reason = str(error) if isinstance(error, _Refused) else f"{type(error).__name__}: {str(error)[:200]}"
            raise WeightFileError(
                f"{path}: refused: {reason}. Only a flat dict of dense float tensors is read: other pickles can run "
                f"code when they are opened. {_NEXT_STEP}"
            ) from None
    raise WeightFileError(
        f"{path}: starts with the bytes {start[:4].hex(' ') or 'of nothing (it is empty)'}, which torch.save never "
        f"writes. The file is damaged or is not a PyTorch state dict. {_NEXT_STEP}"
    )


def _read_archive(file: BinaryIO, size: int) -> dict[str, np.ndarray]:
    with zipfile.ZipFile(file) as archive:
        entries = {entry.filename: entry for entry in archive.infolist()}
        program = next((name for name in entries if name.endswith("/data.pkl")), None)
        if program is None or program.replace("data.pkl", "constants.pkl") in entries:
            raise _Refused("it is a zip archive, but not of a state dict; TorchScript archives are none, for instance")
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries.values()):
            raise _Refused("its parts are compressed, as torch.save never does")
        folder = program.removesuffix("data.pkl")
        order = archive.read(f"{folder}byteorder") if f"{folder}byteorder" in entries else b"little"
        tensors = _tensors(_executed(BytesIO(archive.read(program))), size)
        # Reading a part to its end compares it with the checksum in the archive.
        storages = {
            tensor.storage.key: np.frombuffer(
                archive.read(f"{folder}data/{tensor.storage.key}"), _dtype(tensor.storage, order == b"little")
            )
            for tensor in {tensor.storage.key: tensor for tensor in tensors.values()}.values()
        }
    return _arrays(tensors, storages)


def _read_legacy(file: BinaryIO, size: int) -> dict[str, np.ndarray]:
    # A length in a damaged file may be anything: no more than the file has is asked for.
    source = SimpleNamespace(read=lambda count: file.read(min(count, size)), readline=file.readline, tell=file.tell)
    _, _, facts, loaded, keys = (_executed(source) for _ in range(5))
    tensors = _tensors(loaded, size)
    kinds = {tensor.storage.key: tensor.storage for tensor in tensors.values()}
    storages = {}
    for key in keys:
        length = int.from_bytes(file.read(8), "little")
        dtype = _dtype(kinds[key], facts["little_endian"])
        content = file.read(min(length * dtype.itemsize, size))
        if len(content) < length * dtype.itemsize:
            raise _Refused("unexpected end of the file")
        storages[key] = np.frombuffer(content, dtype)
    return _arrays(tensors, storages)


def _executed(program: Any) -> Any:
    """The value that a pickle describes, of str, int, float, bool, None, tuple, list, dict and the types here."""
    stack: list[Any] = []
    marks: list[int] = []
    memo: dict[int, Any] = {}

    def popped(count: int = 1) -> list[Any]:
        if not 0 <= count <= len(stack):
            raise _Refused("its pickle is damaged")
        begin = len(stack) - count
        operands, stack[begin:] = stack[begin:], []
        return operands

    def popped_to_mark() -> list[Any]:
        return popped(len(stack) - marks.pop())

    argument: Any
    for number, (operation, argument, _) in enumerate(pickletools.genops(program)):
        if number > _MOST_OPERATIONS:
            raise _Refused(f"its pickle has more than {_MOST_OPERATIONS:,} operations")
        match operation.name:
            case "STOP":
                return popped()[0]
            case "PROTO" | "FRAME":
                pass
            case "BINUNICODE" | "SHORT_BINUNICODE" | "BINSTRING" | "SHORT_BINSTRING" | "BINFLOAT":
                stack.append(argument)
            case "BININT" | "BININT1" | "BININT2" | "LONG1":
                stack.append(argument)
            case "NONE" | "NEWTRUE" | "NEWFALSE":
                stack.append({"NONE": None, "NEWTRUE": True, "NEWFALSE": False}[operation.name])
            case "MARK":
                marks.append(len(stack))
            case "EMPTY_DICT" | "EMPTY_LIST" | "EMPTY_TUPLE":
                stack.append({"EMPTY_DICT": dict, "EMPTY_LIST": list, "EMPTY_TUPLE": tuple}[operation.name]())
            case "TUPLE1" | "TUPLE2" | "TUPLE3":
                stack.append(tuple(popped(int(operation.name[-1]))))
            case "TUPLE":
                stack.append(tuple(popped_to_mark()))
            case "APPEND" | "APPENDS":
                values = popped() if operation.name == "APPEND" else popped_to_mark()
                stack[-1].extend(values)
            case "SETITEM" | "SETITEMS":
                items = popped(2) if operation.name == "SETITEM" else popped_to_mark()
                _set(stack[-1], zip(items[::2], items[1::2], strict=True))
            case "BINPUT" | "LONG_BINPUT":
                memo[argument] = stack[-1]
            case "MEMOIZE":
                memo[len(memo)] = stack[-1]
            case "BINGET" | "LONG_BINGET":
                stack.append(memo[argument])
            case "GLOBAL":
                stack.append(_Name(argument.replace(" ", ".")))
            case "STACK_GLOBAL":
                stack.append(_Name(".".join(popped(2))))
            case "BINPERSID":
                stack.append(_storage(popped()[0]))
            case "REDUCE":
                stack.append(_called(*popped(2)))
            case "BUILD" if isinstance(stack[-2], dict):
                popped()  # attributes of an OrderedDict, such as the versions of its modules
            case other:
                raise _Refused(f"its pickle has the operation {other}, which no state dict needs")
    raise _Refused("its pickle has no end")


def _set(target: object, items: Any) -> None:
    for key, value in items:
        if not isinstance(target, dict) or not isinstance(key, str):
            raise _Refused(f"it has a key of type {type(key).__name__}, not a name")
        target[key] = value


def _storage(identity: Any) -> _Storage:
    match identity:
        case ("storage", _Name(kind), str(key), _, _):
            return _Storage(kind, key, 0)
        case ("storage", _Name(kind), str(key), _, _, view):
            return _Storage(kind, key, 0 if view is None else view[1])
    raise _Refused("it refers to something outside of it that is not a storage")


def _called(function: Any, arguments: Any) -> Any:
    """The result of a call that the pickle asks for, if state dicts need such calls."""
    match function, arguments:
        case _Name("collections.OrderedDict"), ():
            return {}
        case _Name("collections.OrderedDict"), (list(pairs),):  # as Python 2 wrote it
            made: dict[str, Any] = {}
            _set(made, pairs)
            return made
        case (
            _Name("torch._utils._rebuild_tensor_v2" | "torch._utils._rebuild_tensor"),
            (_Storage() as storage, int(offset), tuple(shape), tuple(strides), *_),
        ):
            return _Tensor(storage, offset, shape, strides)
        case _Name("torch._utils._rebuild_parameter"), (_Tensor() as tensor, *_):
            return tensor
        case _Name("torch.Size"), (tuple(shape),):
            return shape
    name = function.name if isinstance(function, _Name) else type(function).__name__
    raise _Refused(f"it asks for a call of {shown(name, 200)}, which is not a part of dense float tensors")


def _tensors(loaded: Any, size: int) -> dict[str, _Tensor]:
    """What the pickle holds, if it is a flat dict of dense float tensors that fit into a file of `size` bytes."""
    if type(loaded) is not dict:
        raise _Refused(f"it holds a {type(loaded).__name__.strip('_').lower()}, not a dict of tensors")
    total, counted = 0, set[_Tensor]()
    for name, tensor in loaded.items():
        if not isinstance(tensor, _Tensor):
            raise _Refused(f"its entry {shown(name)} is a {type(tensor).__name__}, not a tensor")
        if tensor.storage.kind not in _TYPES:
            raise _Refused(f"its tensor {shown(name)} ({shown(tensor.storage.kind)}) is not a dense float tensor")
        numbers = (*tensor.shape, *tensor.strides, tensor.offset, tensor.storage.begin)
        if len(tensor.shape) != len(tensor.strides) or not all(
            type(number) is int and number >= 0 for number in numbers
        ):
            raise _Refused(f"its tensor {shown(name)} has a shape, strides or an offset that no tensor has")
        # A stride of 0 lets four bytes claim any shape: believe no more than the file can hold. Modules may share a
        # tensor, which then has two names.
        if tensor not in counted:
            counted.add(tensor)
            total += math.prod(tensor.shape) * np.dtype(_TYPES[tensor.storage.kind]).itemsize
        if total > size:
            raise _Refused(f"its tensors up to {shown(name)} claim {total} bytes, the file has {size}")
    return loaded


def _dtype(storage: _Storage, little_endian: object) -> np.dtype:
    return np.dtype(_TYPES[storage.kind]).newbyteorder("<" if little_endian else ">")


def _arrays(
    tensors: dict[str, _Tensor], storages: dict[str, Shaped[np.ndarray, " values"]]
) -> dict[str, Float[np.ndarray, "..."]]:
    """The array of each name; all names of a tensor have the same one."""
    made: dict[_Tensor, np.ndarray] = {}
    for name, tensor in tensors.items():
        if tensor not in made:
            made[tensor] = _array(name, tensor, storages)
    return {name: made[tensor] for name, tensor in tensors.items()}


def _array(name: str, tensor: _Tensor, storages: dict[str, Shaped[np.ndarray, " values"]]) -> Float[np.ndarray, "..."]:
    values = storages[tensor.storage.key][tensor.storage.begin + tensor.offset :]
    reach = 1 + sum((length - 1) * stride for length, stride in zip(tensor.shape, tensor.strides, strict=True))
    if reach > len(values) and math.prod(tensor.shape):
        raise _Refused(f"its tensor {shown(name)} is larger than its storage")
    view = np.lib.stride_tricks.as_strided(
        values if math.prod(tensor.shape) else values[:0],
        tensor.shape,
        tuple(stride * values.itemsize for stride in tensor.strides),
        writeable=False,
    )
    own = np.array(view, dtype=view.dtype.newbyteorder("="), order="C")
    if tensor.storage.kind == "torch.BFloat16Storage":
        return (own.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return own
