"""What a record of an analysis must hold to stand beside the paper's rows: checked once, when it is read.

A shape is a type (`float` takes whole numbers too), None, an object as a dict of the keys that are needed, a list of
any length as [shape of each], a list of a known length as a tuple of shapes, or one of the two classes below.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from elmo.disk.bounded import shown

Shape = Any


@dataclass(frozen=True)
class Each:
    """An object of any keys."""

    of: Shape


@dataclass(frozen=True)
class Either:
    """One of two shapes that are of different kinds, such as an object and None."""

    first: Shape
    second: Shape


_FILE = {"file": str}
_BEGINNING = {"model": str, "data": Each(Either(_FILE, [_FILE]))}
_MEASURED = (float, (float, float))
_SYSTEM = {"encoder": str, "layer": str, "over_layer_below": Either(None, (float, float, float))}
_QUERY = {
    "sentence": [str],
    "place": int,
    "static": Either(None, [(str, float)]),
    "layers": [{"same": [{"sentence": [str], "position": int}]}],
}
_PRECISION = {
    "encoder": str,
    "layer": str,
    "precision": Each({"1": _MEASURED, "10": _MEASURED}),
    "over_layer_below": Either(None, Each({"1": _MEASURED})),
}
SHAPES: Mapping[str, Shape] = {
    "wsd": {**_BEGINNING, "systems": [{**_SYSTEM, "sets": {"all": {"f1": float}}}]},
    "pos": {**_BEGINNING, "rows": [{**_SYSTEM, "accuracy": float}]},
    "neighbors": {**_BEGINNING, "queries": [_QUERY]},
    "precision": {**_BEGINNING, "rows": [_PRECISION], "words": Each(int), "queries": Each(int)},
}
"""Analysis -> what its record holds at least."""

_KINDS = {str: "a text", int: "a whole number", float: "a number", dict: "an object", list: "a list"}


def first_fault(value: object, shape: Shape, place: str = "") -> str | None:
    """What is wrong with the first part that doesn't have its shape, and what it must be; None if all is well."""
    return next(_faults(value, shape, place), None)


def _faults(value: object, shape: Shape, place: str) -> Iterator[str]:
    if isinstance(shape, Either):
        shape = shape.first if _is_kind(value, _kind(shape.first)) else shape.second
    kind = _kind(shape)
    if not _is_kind(value, kind):
        yield f"{place} is {shown(value)}, but must be {_KINDS[kind]}"
    elif isinstance(value, dict):
        yield from _faults_of_object(value, shape, place)
    elif isinstance(value, list):
        yield from _faults_of_list(value, shape, place)


def _faults_of_object(value: Mapping[str, object], shape: Shape, place: str) -> Iterator[str]:
    wanted = dict.fromkeys(value, shape.of) if isinstance(shape, Each) else shape
    for key, one in wanted.items():
        inner = f"{place}.{key}" if place else key
        if key in value:
            yield from _faults(value[key], one, inner)
        else:
            yield f"there is no {inner}"


def _faults_of_list(value: list[object], shape: Shape, place: str) -> Iterator[str]:
    wanted = shape if isinstance(shape, tuple) else shape * len(value)
    if len(value) != len(wanted):
        yield f"{place} has {len(value)} entries, but must have {len(wanted)}"
        return
    for number, (one, of_one) in enumerate(zip(value, wanted, strict=True)):
        yield from _faults(one, of_one, f"{place}[{number}]")


def _kind(shape: Shape) -> type:
    if isinstance(shape, Each | dict):
        return dict
    if isinstance(shape, list | tuple):
        return list
    return type(None) if shape is None else shape


def _is_kind(value: object, kind: type) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, int | float) if kind is float else isinstance(value, kind)
