"""Objects by name: this package's, those that installed packages add, and any, named as module:object."""

import pkgutil
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import EntryPoint, entry_points

from elmo.errors import ConfigError


def find_object(name: str, what: str, built_in: Mapping[str, str], group: str, others: Sequence[str] = ()) -> object:
    """The object of a name in `built_in`, of an entry point of `group`, or of the name "module:object".

    `what`: what it should be, for messages ("task"). `others`: names that the caller knows, for the message. Raises
    ConfigError if there is none, or it can't be imported.
    """
    if name in built_in:
        return pkgutil.resolve_name(built_in[name])
    added = installed(group)  # looks into every installed package
    if name in added:
        return named_object(added[name].value, what)
    return named_object(name, what, [*others, *built_in, *added])


def installed(group: str) -> dict[str, EntryPoint]:
    """The entry points of a group, by their names."""
    return {point.name: point for point in entry_points(group=group)}


def named_object(name: str, what: str, others: Sequence[str] = ()) -> object:
    """The object of the name "module:object"; the module may be in the current folder.

    `what`: what it should be, for messages ("tokenizer"). `others`: names that could be given instead. Raises
    ConfigError if it can't be found, or its module fails.
    """
    if ":" not in name:
        raise ConfigError(
            f"there is no {what} {name!r}. It must be one of {', '.join(others)}, or module:object for one of your own."
        )
    # A program's own folder is on the path, not the one it was started in.
    path = list(sys.path)
    if "" not in path:
        sys.path.append("")
    try:
        return pkgutil.resolve_name(name)
    except Exception as error:  # perhaps of the module's own code
        raise ConfigError(
            f"the {what} {name!r} can't be loaded: {error!r}. Name it as module:object, of a module installed or "
            "in the current folder."
        ) from error
    finally:
        sys.path[:] = path
