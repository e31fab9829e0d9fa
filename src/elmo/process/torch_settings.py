"""torch's settings of a program or thread, which its author may have changed: around our work they are as usual."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import torch

from elmo.errors import ConfigError


@contextmanager
def usual_torch() -> Iterator[None]:
    """For this thread: gradients are taken, tensors are made on the CPU unless a device is named, no autocast.

    Around functions whose settings say where and how precisely they compute. As a decorator, too.
    """
    with ExitStack() as stack:
        stack.enter_context(torch.inference_mode(False))
        stack.enter_context(torch.enable_grad())
        for kind in ("cpu", "cuda"):
            if torch.is_autocast_enabled(kind):
                stack.enter_context(torch.autocast(kind, enabled=False))
        if torch.get_default_device().type != "cpu":
            stack.enter_context(torch.device("cpu"))
        yield


@contextmanager
def few_host_threads(device: torch.device) -> Iterator[None]:
    """One thread of the CPU where a GPU computes: torch's others would wait for work in loops, on the cores that launch
    kernels."""
    before = torch.get_num_threads()
    if device.type == "cuda":
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def training_torch() -> Iterator[None]:
    """`usual_torch` around a training. ConfigError unless new tensors are float32: all threads share that setting, so
    it can't be changed for one of them."""
    if (dtype := torch.get_default_dtype()) != torch.float32:
        raise ConfigError(
            f"torch's default dtype is {dtype} in this program, but trainings compute in torch.float32. Call "
            "torch.set_default_dtype(torch.float32) before the training."
        )
    with usual_torch():
        yield
