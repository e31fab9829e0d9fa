"""The options that a command line names, whatever their values; and the refusal of those that would be ignored.

A value that equals the default counts as given too: whoever writes --store float32 wants float32.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import fields

from elmo.errors import ConfigError

_LONG_NAMES = {"-m": "--model", "-o": "--output"}


def given_options(argv: Sequence[str]) -> list[str]:
    """The long names of the options in `argv`, with hyphens, each once and in their order."""
    given: dict[str, None] = {}
    for word in argv:
        if word == "--":  # what follows is no option
            break
        if word.startswith("--"):
            given[word.partition("=")[0].replace("_", "-")] = None
        elif word[:2] in _LONG_NAMES:  # -o OUT or -oOUT
            given[_LONG_NAMES[word[:2]]] = None
    return list(given)


def options_of(group: type) -> set[str]:
    """The options that the fields of a dataclass become, and the --no-x of each."""
    names = [field.name.replace("_", "-") for field in fields(group)]
    return {f"--{prefix}{name}" for name in names for prefix in ("", "no-")}


def refuse_ignored(given: Iterable[str], ignored: Collection[str], why: str, otherwise: str) -> None:
    """ConfigError if options were given that have no effect. `why`: in what case, and why not; `otherwise`: how they
    would have one."""
    if found := [option for option in given if option in ignored]:
        verb, them = ("was", "it") if len(found) == 1 else ("were", "them")
        raise ConfigError(f"{_listed(found)} {verb} given {why}. Leave {them} out, or {otherwise}.")


def _listed(options: Sequence[str]) -> str:
    *others, last = options
    return f"{', '.join(others)} and {last}" if others else last
