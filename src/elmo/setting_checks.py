"""How a setting is refused: its name, its value, what it must be, and the next step."""

from dataclasses import fields
from numbers import Integral, Real
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from elmo.errors import ConfigError

LARGEST_COUNT = 1 << 40
"""Of whatever is counted: beyond it, a typing error is more likely, and a loop would never end."""
LARGEST_NUMBER = 3e38
"""Of other numbers; float32 holds it."""

# What torch's and numpy's generators of random numbers take.
SEEDS = range(1 << 63)


def require_setting(holds: bool, name: str, value: object, expected: str) -> None:
    """ConfigError unless the setting is as expected."""
    if not holds:
        raise ConfigError(f"{name} is {value!r}, but must be {expected}. Change it or leave it out.")


def require_types(settings: object) -> None:
    """ConfigError if a field of a dataclass has a value of another type than its annotation says.

    Looked at are Literal, bool, int and float, alone, beside None and in tuples of any length; whole numbers must be at
    most `LARGEST_COUNT`, seeds excepted, others finite and at most `LARGEST_NUMBER`.
    """
    for setting in fields(settings):  # type: ignore[arg-type]  # any dataclass
        value = getattr(settings, setting.name)
        if expected := _misfit(setting.type, value, setting.name):
            require_setting(False, setting.name, value, expected)


def is_bool(value: object) -> bool:
    """Whether it is True or False, also NumPy's; whatever else there is counts as true or false by accident."""
    return isinstance(value, bool) or type(value).__name__ in ("bool", "bool_")


def _misfit(kind: Any, value: Any, name: str) -> str | None:
    """What a value must be; None: it is."""
    if get_origin(kind) is Annotated:
        return _misfit(get_args(kind)[0], value, name)
    if get_origin(kind) is Literal:
        choices = get_args(kind)
        return None if value in choices else f"one of {', '.join(map(repr, choices))}"
    if get_origin(kind) in (UnionType, Union):
        expected = [_misfit(one, value, name) for one in get_args(kind)]
        return None if None in expected else " or ".join(dict.fromkeys(filter(None, expected)))
    if get_origin(kind) is tuple and get_args(kind)[-1:] == (...,):
        if not isinstance(value, tuple | list):
            return "a list"
        return next(
            (f"a list, each {it}" for it in (_misfit(get_args(kind)[0], one, name) for one in value) if it), None
        )
    if kind is type(None):
        return None if value is None else "None"
    if kind is bool:
        return None if is_bool(value) else "true or false"
    if kind is int:
        fits = isinstance(value, Integral) and not is_bool(value)
        if not fits or (abs(int(value)) > LARGEST_COUNT and name not in ("seed", "seeds")):
            return f"a whole number, and {LARGEST_COUNT:,} at most"
    if kind is float:
        fits = isinstance(value, Real) and not is_bool(value)
        if not fits or not abs(value) <= LARGEST_NUMBER:  # pyright: ignore[reportOperatorIssue] - NaN is not
            return f"finite, and {LARGEST_NUMBER:g} at most"
    return None


def require_seed(seed: int) -> None:
    """ConfigError unless a generator of random numbers takes it."""
    require_setting(seed in SEEDS, "seed", seed, "from 0 to 2^63 - 1")
