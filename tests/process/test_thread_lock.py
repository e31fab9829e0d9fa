"""ThreadLock: one holder, and copies that are free."""

import copy
import pickle
import subprocess
import sys

import pytest

from elmo.process.thread_lock import ThreadLock

FORK = """
import os
from elmo.process.thread_lock import ThreadLock
lock = ThreadLock()
with lock:
    child = os.fork()
    if child == 0:
        os._exit(0 if lock.taken() else 1)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_only_one_holds_it():
    lock = ThreadLock()
    with lock:
        assert not lock.taken()
    assert lock.taken()
    lock.free()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda lock: pickle.loads(pickle.dumps(lock))])
def test_a_copy_of_a_held_lock_is_free(copied):
    lock = ThreadLock()
    with lock:
        assert copied(lock).taken()


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_a_forked_child_finds_every_lock_free():
    subprocess.run([sys.executable, "-c", FORK], check=True)
