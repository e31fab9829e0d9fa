"""How a setting is refused: its name, its value, what it must be, and the next step."""

from elmo.errors import ConfigError

# What torch's and numpy's generators of random numbers take.
SEEDS = range(1 << 63)


def require_setting(holds: bool, name: str, value: object, expected: str) -> None:
    """ConfigError unless the setting is as expected."""
    if not holds:
        raise ConfigError(f"{name} is {value!r}, but must be {expected}. Change it or leave it out.")


def require_seed(seed: int) -> None:
    """ConfigError unless a generator of random numbers takes it."""
    require_setting(seed in SEEDS, "seed", seed, "from 0 to 2^63 - 1")
