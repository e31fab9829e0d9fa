"""Calls of the native library's training passes with torch tensors.

A pass is one step of an operation whose backward is written by hand: `full_precision` is for both.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

import torch
from torch import Tensor, nn

from elmo.errors import ConfigError
from elmo.ops import native
from elmo.ops.native.arguments import Described
from elmo.ops.native.library import PASSES

P = ParamSpec("P")
R = TypeVar("R")
_TAKEN_TWICE = (
    b"gradients can't be taken twice of this operation, whose backward is written by hand. Use its plain version."
)
_CLASSES, _STRIDED = (Tensor, nn.Parameter), torch.strided
_TYPES = {torch.float32: "float32", torch.bfloat16: "bfloat16", torch.int32: "int32", torch.int64: "int64"}


def ran(name: str, *tensors: Tensor, numbers: tuple[float, ...] = (), **sizes: int) -> bool:
    """Runs a pass of `ops.native.passes`, if the library has one for such tensors; False: torch must compute.

    It must be there, and have a version for these types; the tensors must be contiguous in a CPU's memory, and no
    gradient may be needed through the pass. It releases the interpreter, so other threads go on meanwhile. Raises
    ConfigError for tensors whose sizes don't fit together.
    """
    library = native.library()
    # A training step comes here some hundred times: loops and names that Python runs quickly.
    version = PASSES[name].get(types_of(tensors))
    if library is None or version is None:
        return False
    has_gradients = torch.is_grad_enabled()
    for tensor in tensors:
        if not (_is_plain(tensor) and tensor.is_contiguous()) or (has_gradients and tensor.requires_grad):
            return False
    library.run_version(version, tensors, numbers, described, sizes)
    return True


def run(name: str, *tensors: Tensor, numbers: tuple[float, ...] = (), **sizes: int) -> None:
    """`ran`, where torch can't take over: raises ConfigError."""
    if not ran(name, *tensors, numbers=numbers, **sizes):
        found = ", ".join(f"{tensor.dtype} on {tensor.device}" for tensor in tensors)
        raise ConfigError(
            f"{name} of the native library can't take tensors of {found}: it takes contiguous ones of "
            f"{' or '.join(map(str, PASSES[name]))} on a CPU. Use the plain version of this operation."
        )


def can_run(*tensors: Tensor) -> bool:
    """Whether the library is there, and what is computed from these tensors alone can be passed to it as float32."""
    return native.library() is not None and all(
        tensor.dtype == torch.float32 and _is_plain(tensor) for tensor in tensors
    )


def require_alike(**tensors: Tensor | None) -> None:
    """Raises ConfigError unless all are tensors of floats on one device: in place, torch mixes them silently."""
    given = {name: tensor for name, tensor in tensors.items() if tensor is not None}
    devices = {tensor.device for tensor in given.values()}
    if len(devices) > 1 or not all(tensor.is_floating_point() for tensor in given.values()):
        found = ", ".join(f"{name} {tensor.dtype} on {tensor.device}" for name, tensor in given.items())
        raise ConfigError(
            f"these must be tensors of floats on one device (got {found}). Convert them with .float(), and move them "
            "with .to(device)."
        )


def full_precision(method: Callable[P, R]) -> Callable[P, R]:
    """For forward and backward of a `torch.autograd.Function`: switches autocast on a CPU off inside.

    Autocast would round some of what the passes read and not the rest. What it has rounded before becomes float32.
    """

    @functools.wraps(method)
    def wrapped(*arguments: P.args, **named: P.kwargs) -> R:
        if not torch.is_autocast_enabled("cpu"):
            return method(*arguments, **named)
        with torch.autocast("cpu", enabled=False):
            return method(*map(_widened, arguments), **named)  # pyright: ignore[reportCallIssue] - the same arguments

    return wrapped


def taken_once(backward: Callable[P, R]) -> Callable[P, R]:
    """For backward of a `torch.autograd.Function`: refuses gradients of its gradients.

    torch's `once_differentiable` refuses them only where the incoming gradient needs one itself, so that of a loss's
    own gradient they would be silently 0.
    """

    @functools.wraps(backward)
    def wrapped(*arguments: P.args, **named: P.kwargs) -> Any:
        with torch.no_grad():
            found: Any = backward(*arguments, **named)
        if not torch.is_grad_enabled():
            return found
        gradients = found if isinstance(found, tuple) else (found,)
        refuse = torch._C._functions.DelayedError(_TAKEN_TWICE, len(gradients))  # pyright: ignore[reportAttributeAccessIssue]
        return refuse(*(None if one is None else one.detach().requires_grad_() for one in gradients))

    return wrapped


def _widened(argument: Any) -> Any:
    is_rounded = isinstance(argument, Tensor) and argument.is_cpu and argument.dtype in (torch.bfloat16, torch.float16)
    return argument.float() if is_rounded else argument


def _is_plain(tensor: Tensor) -> bool:
    """Whether the tensor's values are in memory as its type, shape and strides say."""
    return type(tensor) in _CLASSES and tensor.is_cpu and tensor.layout is _STRIDED and not tensor.is_neg()


def types_of(tensors: Sequence[Tensor]) -> tuple[str, ...]:
    """What `PASSES` has the versions of a pass by."""
    return tuple([_TYPES.get(tensor.dtype, "") for tensor in tensors])


def described(tensor: Any) -> Described:
    """A contiguous tensor for `addresses_of`."""
    place = tensor.data_ptr()
    return _TYPES.get(tensor.dtype), tensor.shape, place % tensor.element_size() == 0, place
