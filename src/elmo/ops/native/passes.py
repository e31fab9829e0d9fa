"""The passes of training: what each takes (`Library.run_version` calls them).

A pass has a version in C for each combination of types in its table and no other. "factor" is the type of the factors
of matrix products: float32 in one version, bfloat16 in the other.
"""

from collections.abc import Mapping
from typing import NamedTuple

from elmo.ops.native.arguments import Argument, arguments

_FACTORS = {"float32": "_f32", "bfloat16": "_bf16"}


class Version(NamedTuple):
    """One function of the library: it takes sizes, which follow from the arrays, then numbers, then the arrays."""

    name: str
    sizes: tuple[str, ...]
    numbers: tuple[str, ...]
    arguments: tuple[Argument, ...]


Versions = Mapping[tuple[str, ...], Version]
"""Of one pass, by the types of its arguments."""


def _pass(name: str, sizes: str, numbers: str = "", /, **written: str) -> tuple[str, Versions]:
    taken = arguments(**written)
    is_one = all(argument.dtype != "factor" for argument in taken)
    versions = {}
    for factor, suffix in {"": ""}.items() if is_one else _FACTORS.items():
        typed = tuple(one._replace(dtype=factor) if one.dtype == "factor" else one for one in taken)
        version = Version(f"elmo_{name}{suffix}", tuple(sizes.split()), tuple(numbers.split()), typed)
        versions[tuple(one.dtype for one in typed)] = version
    return name, versions


# Shapes and meaning: training/*.h.
PASSES: Mapping[str, Versions] = dict([
    _pass(
        "gates_forward", "rows size", "clip",
        gates="float32 rows 4*size", recurrent="factor rows 4*size", before="float32 rows size",
        after="float32 rows size", squashed="float32 rows size", output="factor rows size",
    ),
    _pass(
        "gates_backward", "rows size", "clip",
        gates="float32 rows 4*size", before="float32 rows size", after="float32 rows size",
        squashed="float32 rows size", grad_output="factor rows size", grad_cell="float32 rows size",
        grad_gates="factor rows 4*size", grad_bias="float32 4*size",
    ),
    _pass(
        "sampled_softmax", "rows negatives", "scale",
        logits="factor rows negatives", shift="float32 negatives", hit="int64 rows", target="float32 rows",
        nats="float32 rows", scratch="float32 negatives",
    ),
    _pass(
        "highway_forward", "rows size",
        gates="float32 rows 6*size", recurrent="float32 rows 5*size", hidden="float32 rows size",
        cell="float32 rows size", before="float32 rows size", squashed="float32 rows size",
        output="float32 rows size",
    ),
    _pass(
        "highway_backward", "rows size",
        gates="float32 rows 6*size", before="float32 rows size", squashed="float32 rows size",
        grad_output="float32 rows size", grad_hidden="float32 rows size", grad_cell="float32 rows size",
        grad_gates="float32 rows 6*size",
    ),
    _pass(
        "max_over_positions", "types positions filters",
        scores="float32 types positions filters", best="float32 types filters", place="int32 types filters",
    ),
    _pass(
        "max_over_positions_backward", "types row_size dim span filters",
        vectors="float32 types row_size", kernel="float32 filters span", place="int32 types filters",
        grad="float32 types filters", grad_vectors="float32 types row_size", grad_kernel="float32 filters span",
    ),
])  # fmt: skip
