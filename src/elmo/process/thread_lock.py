"""ThreadLock: a mutex that objects can hold without losing the ability to be pickled, copied or forked.

A copy of the object gets a lock of its own, and a forked child gets every lock free: the thread that held one in the
parent does not exist in the child. Whatever a lock guards must therefore be usable even if a change of it was cut off.
"""

import os
import threading
import weakref
from typing import Self


class ThreadLock:
    """A context manager; `taken` tries without waiting. Not reentrant."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        _locks.add(self)

    def taken(self) -> bool:
        """Takes the lock unless another thread (or this one) has it; whether it was taken. End it with `free`."""
        return self._lock.acquire(blocking=False)

    def free(self) -> None:
        """Gives the lock back."""
        self._lock.release()

    def renew(self) -> None:
        """A new, free lock, whoever held the old one."""
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        self._lock.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def __reduce__(self) -> tuple[type[Self], tuple[()]]:
        return type(self), ()


_locks: weakref.WeakSet[ThreadLock] = weakref.WeakSet()


def _renew_all() -> None:
    for lock in list(_locks):
        lock.renew()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_renew_all)
