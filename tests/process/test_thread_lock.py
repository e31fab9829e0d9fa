"""ThreadLock: one holder, copies that are free, and no lock left behind by an interrupted block."""

import copy
import pickle
import signal
import subprocess
import sys

import pytest

from elmo.process.thread_lock import ThreadLock

FORK = """
import os
from elmo.process.thread_lock import ThreadLock
lock = ThreadLock()
with lock.mutex:
    child = os.fork()
    if child == 0:
        os._exit(0 if lock.mutex.acquire(blocking=False) else 1)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda lock: pickle.loads(pickle.dumps(lock))])
def test_a_copy_of_a_held_lock_is_free(copied):
    lock = ThreadLock()
    with lock.mutex:
        assert copied(lock).mutex.acquire(blocking=False)


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_a_forked_child_finds_every_lock_free():
    subprocess.run([sys.executable, "-c", FORK], check=True)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a timer's signal")
@pytest.mark.skipif(sys.version_info[:2] == (3, 14), reason="may leave any lock held (cpython#148874)")
def test_an_interrupted_block_gives_the_lock_back():
    lock, interrupts = ThreadLock(), 0

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for _ in range(300):
            try:
                signal.setitimer(signal.ITIMER_REAL, 3e-5)
                while True:
                    with lock.mutex:
                        pass
            except KeyboardInterrupt:
                interrupts += 1
            assert lock.mutex.acquire(blocking=False)
            lock.mutex.release()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert interrupts == 300
