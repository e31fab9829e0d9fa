"""Objects of the user's own, named as module:object on the command line."""

import pkgutil
import sys

from elmo.errors import ConfigError


def named_object(name: str, what: str) -> object:
    """The object of the name "module:object"; the module may be in the current folder.

    `what`: what it should be, for messages ("tokenizer"). Raises ConfigError if it can't be found.
    """
    # A program's own folder is on the path, not the one it was started in.
    path = list(sys.path)
    if "" not in path:
        sys.path.append("")
    try:
        return pkgutil.resolve_name(name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(
            f"the {what} {name!r} can't be found: {error}. Name it as module:object, where the module is installed or "
            "in the current folder."
        ) from None
    finally:
        sys.path[:] = path
