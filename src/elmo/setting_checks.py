"""Checks of settings. The error names the setting, what it must be, its value, and the next step.

A dataclass derived from `Settings` checks its fields by their annotations; `Annotated[int, at_least(1)]` adds a bound.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import partial
from numbers import Integral, Real
from operator import lt
from os import PathLike
from types import UnionType
from typing import Annotated, Any, Literal, Self, Union, get_args, get_origin

from elmo.errors import ConfigError

LARGEST_COUNT = 1 << 40
"""The largest number of anything: a larger one is more likely a typing error, and a loop would never end."""
LARGEST_NUMBER = 3e38
"""The largest other number; float32 can hold it."""

_COUNT = f"a whole number of at most {LARGEST_COUNT:,}"
_NUMBER = f"a finite number of at most {LARGEST_NUMBER:g}"


@dataclass(frozen=True)
class Must:
    """What a value of an annotated type must be, beyond its type; of None nothing is asked."""

    expected: str
    """For the message: "above 0"."""
    holds: Callable[[Any], bool]


def at_least(least: float) -> Must:
    """A lower bound."""
    return Must(f"at least {least}", lambda value: value >= least)


def from_to(least: int, most: int) -> Must:
    """Bounds of a whole number, both included."""
    return Must(f"a whole number from {least:,} to {most:,}", lambda value: least <= value <= most)


PositiveInt = Annotated[int, at_least(1)]
NotNegative = Annotated[float, at_least(0)]
NotNegativeInt = Annotated[int, at_least(0)]
Positive = Annotated[float, Must("above 0", partial(lt, 0))]
Chance = Annotated[float, Must("a probability: at least 0 and below 1", lambda value: 0 <= value < 1)]
"""Of a dropout."""
Seed = Annotated[int, Must("from 0 to 2^63 - 1", lambda value: 0 <= value < 1 << 63)]
"""What torch's and numpy's generators of random numbers take."""


class Settings:
    """Base of a dataclass of settings that checks their annotations."""

    def __post_init__(self) -> None:
        """Raises ConfigError."""
        require_types(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], source: str) -> Self:
        """From a TOML or JSON table; unknown keys are errors that name `source`."""
        known = [field.name for field in fields(cls)]  # type: ignore[arg-type]  # any dataclass
        if unknown := sorted(set(values) - set(known)):
            raise ConfigError(f"{source}: unknown setting {unknown[0]!r}. The settings are: {', '.join(known)}.")
        try:
            return cls(**values)
        except ConfigError as error:
            raise ConfigError(f"{source}: {error}") from None


def require_setting(holds: bool, name: str, value: object, expected: str) -> None:
    """ConfigError unless the setting is as expected."""
    if not holds:
        raise ConfigError(f"{name} must be {expected} (got {value!r:.1000}). Change it.")


def require_types(settings: object) -> None:
    """ConfigError if a field of a dataclass has a value of another type than its annotation.

    Checks Literal, bool, int and float, alone, beside None and in tuples of any length, tuples of texts or paths, and
    each `Must`. Whole numbers must be at most `LARGEST_COUNT` (except seeds); other numbers must be finite and at most
    `LARGEST_NUMBER`. A number of numpy becomes a plain one, which JSON can hold.
    """
    for setting in fields(settings):  # type: ignore[arg-type]  # any dataclass
        value = getattr(settings, setting.name)
        if expected := _misfit(setting.type, value):
            require_setting(False, setting.name, value, expected)
        if hasattr(value, "item"):
            object.__setattr__(settings, setting.name, value.item())


def require_value(name: str, value: object, kind: Any) -> None:
    """ConfigError unless a value is of an annotated type, which is checked as that of a field."""
    if expected := _misfit(kind, value):
        require_setting(False, name, value, expected)


def is_bool(value: object) -> bool:
    """Whether it is True or False, also NumPy's; anything else is true or false only by accident."""
    return isinstance(value, bool) or type(value).__name__ in ("bool", "bool_")


def _misfit(kind: Any, value: Any, *, is_seed: bool = False) -> str | None:
    """What a value must be; None if it is."""
    if get_origin(kind) is Annotated:
        is_seed = kind == Seed
        kind, *facts = get_args(kind)
        wrong = (fact.expected for fact in facts if isinstance(fact, Must) and not fact.holds(value))
        return _misfit(kind, value, is_seed=is_seed) or next(wrong, None)
    parts = get_args(kind)
    if get_origin(kind) is Literal:
        return None if value in parts else f"one of {', '.join(map(repr, parts))}"
    if get_origin(kind) in (UnionType, Union):
        expected = [_misfit(part, value) for part in parts]
        return None if None in expected else " or ".join(dict.fromkeys(filter(None, expected)))
    if get_origin(kind) is tuple and parts[-1:] == (...,):
        if not isinstance(value, tuple | list):
            return "a list"
        if parts[0] is str:
            return None if all(isinstance(one, str | PathLike) for one in value) else "a list of texts"
        found = (_misfit(parts[0], one) for one in value)
        return next((f"a list, each {expected}" for expected in found if expected), None)
    if kind is dict:
        return None if isinstance(value, dict) else "an object of settings"
    if kind is type(None):
        return None if value is None else "None"
    if kind is bool:
        return None if is_bool(value) else "true or false"
    if kind is int:
        is_whole = isinstance(value, Integral) and not isinstance(value, bool)
        return None if is_whole and (is_seed or abs(int(value)) <= LARGEST_COUNT) else _COUNT
    if kind is float:
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        return None if is_number and abs(value) <= LARGEST_NUMBER else _NUMBER  # pyright: ignore[reportOperatorIssue] - NaN isn't
    return None
