"""Optional libraries: imported where they are needed, with the command that installs them if they are missing."""

import pkgutil
from typing import Any

from elmo.errors import MissingExtraError


def extra_library(module: str, extra: str, purpose: str) -> Any:
    """A module of a library that `extra` installs. Raises MissingExtraError if the library is not installed.

    `purpose`: what needs it, the subject of the message. If it is there but something that it needs is not, or it is
    damaged, that is an ImportError as it comes.
    """
    library = module.partition(".")[0]
    try:
        return pkgutil.resolve_name(f"{module}:")  # with the colon it is a module, not an attribute of its package
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != library:
            raise
        raise MissingExtraError(library, extra, purpose) from None
