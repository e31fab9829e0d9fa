"""Another process that does work and answers: how it is started, where its answers go, and what errors can travel.

It gets its work through its standard input and answers on its standard output. (Processes of Python's multiprocessing
would run the caller's script once more.)
"""

import os
import pickle
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import BinaryIO

from elmo.errors import ElmoError

_START = "import sys; sys.path[:] = {path!r}; from {module} import work; work()"


def started(
    module: str, *, held_files: Sequence[int] = (), environment: Mapping[str, str] | None = None
) -> subprocess.Popen[bytes]:
    """A process that calls `work` of the module.

    `held_files`: descriptors that stay open in it, with their locks. `environment`: variables beside this process's.
    """
    return subprocess.Popen(
        [sys.executable, "-c", _START.format(path=sys.path, module=module)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        pass_fds=held_files,
        env=os.environ | dict(environment or {}),
    )


def answers() -> BinaryIO:
    """In such a process: its standard output, unbuffered; what anybody prints goes to standard error from here on."""
    stream = os.fdopen(os.dup(sys.stdout.fileno()), "wb", buffering=0)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return stream


def portable(error: Exception, instead: str) -> Exception:
    """The error, or an ElmoError that says `instead` if it wouldn't survive the way."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return ElmoError(instead)
    return error
