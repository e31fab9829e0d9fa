"""Which device computes: a name such as "auto" or "cuda:1" -> a torch device that works."""

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from elmo.errors import ConfigError, MissingExtraError

if TYPE_CHECKING:
    import torch

Device = Literal["auto", "cpu", "cuda"]
"""What the command line offers; in Python any name that torch knows, such as "cuda:1", works as well."""

# Files that drivers make where there is a GPU: NVIDIA's, Jetson's, Windows' Linux's, AMD's.
_GPU_FILES = ("/dev/nvidiactl", "/dev/nvhost-gpu", "/dev/dxg", "/dev/kfd")
_LONGEST_REASON = 200  # characters; for some devices torch lists every backend that it was built with


def device_name(device: "str | torch.device" = "auto") -> str:
    """The name of `chosen_device(device)`. torch is only loaded if the answer isn't "cpu" anyway."""
    if str(device) == "cpu" or (device == "auto" and not _may_have_gpu()):
        return "cpu"
    return str(chosen_device(device))


def _may_have_gpu() -> bool:
    """Whether it is worth the seconds of loading torch to ask it."""
    if "torch" in sys.modules:
        return True
    if not has_torch() or sys.platform == "darwin":
        return False
    return not sys.platform.startswith("linux") or any(Path(name).exists() for name in _GPU_FILES)


def has_torch() -> bool:
    """Whether torch is installed; it is not loaded for the answer."""
    try:
        return "torch" in sys.modules or find_spec("torch") is not None
    except ImportError:  # something in this process keeps it from being found
        return False


def require_torch(purpose: str) -> None:
    """Raises MissingExtraError unless torch is installed; `purpose`: what needs it, the subject of the message."""
    if not has_torch():
        raise MissingExtraError("torch", "torch", purpose)


def chosen_device(device: "str | torch.device" = "auto") -> "torch.device":
    """The device of that name, after a try; "auto" is a GPU if torch finds one, else the CPU.

    Raises ConfigError if torch doesn't know the device or can't compute on it here, MissingExtraError without torch.
    """
    require_torch(f"device {str(device)!r}")
    import torch  # here, so that the command line can name the devices without waiting for torch

    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        place = torch.empty(0, device=device).device
    except (RuntimeError, AssertionError, NotImplementedError, TypeError, ValueError) as error:
        raise ConfigError(
            f"device is {str(device)!r}, but torch {torch.__version__} {_reason(device, error)}. Run 'elmo doctor' to "
            "see what there is, or use 'auto' or 'cpu' (--device cpu)."
        ) from None
    return place


def _reason(device: object, error: Exception) -> str:
    import torch

    if str(device).startswith("cuda") and not torch.cuda.is_available():
        return "finds no GPU to use"
    return f"can't use it: {str(error).splitlines()[0][:_LONGEST_REASON].rstrip('. ')}"
