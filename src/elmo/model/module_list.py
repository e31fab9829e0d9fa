"""The modules of a `ModuleList` with their type, which torch's own annotations don't keep."""

from typing import TypeVar, cast

from torch import nn

M = TypeVar("M", bound=nn.Module)


def modules_of(modules: nn.ModuleList, kind: type[M]) -> list[M]:
    """The modules, typed as `kind`. Not checked: a pruned or quantized one in its place does the same."""
    return cast(list[M], list(modules))
