"""ThreadLock: a mutex that objects can hold without losing the ability to be pickled, copied or forked.

A copy of the object gets a lock of its own, and a forked child gets every lock free: the thread that held one in the
parent does not exist in the child. Whatever a lock guards must therefore be usable even if a change of it was cut off.
"""

import os
import threading
import weakref
from typing import Self


class ThreadLock:
    """`with lock.mutex:` holds it. Not reentrant.

    `__enter__` and `__exit__` written in Python would leave it locked for ever if Ctrl-C came between the lock and the
    block.
    """

    def __init__(self) -> None:
        self.mutex = threading.Lock()
        """Replaced in a forked child: get it anew for each block."""
        _locks.add(self)

    def __reduce__(self) -> tuple[type[Self], tuple[()]]:
        return type(self), ()


_locks: weakref.WeakSet[ThreadLock] = weakref.WeakSet()


def _renew_all() -> None:
    for lock in list(_locks):
        lock.mutex = threading.Lock()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_renew_all)
