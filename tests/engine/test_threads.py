"""One engine in many threads, and calls that are cut off: the bits of one thread, and nobody waits for ever."""

import functools
import itertools
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from elmo.engine import stacks
from elmo.engine.engine import Engine
from elmo.engine.native import NativeLayer
from elmo.ops.native import threads
from elmo.ops.native.kinds import native_types
from elmo.ops.native.threads import run_parallel

native = pytest.mark.skipif(not native_types(), reason="only the library's layers are shared by threads")
SENTENCES = [[1], [3, 2], [9], [13, 5, 1, 2], [4] * 9]  # lengths, of one call each
WAYS = {"one thread": 0, "apart": 1, "together": 2}


@pytest.fixture
def two_threads(monkeypatch):
    monkeypatch.setattr(stacks, "num_threads", lambda: 2)


def calls_of(checkpoint):
    """Token vectors and lengths."""
    chance, size = np.random.default_rng(0), checkpoint.config.projection_size
    shapes = [(len(lengths), max(lengths), size) for lengths in SENTENCES]
    vectors = [chance.standard_normal(shape).astype(np.float32) for shape in shapes]
    return [(one, np.array(lengths)) for one, lengths in zip(vectors, SENTENCES, strict=True)]


def characters(count):
    """Ids of tokens of 0 to 48 bytes."""
    ids = np.full((count, 50), 261, np.int16)
    for row, length in zip(ids, itertools.cycle((1, 48, 0, 7)), strict=False):
        row[: length + 2] = [259, *range(1, length + 1), 260]
    return ids


@pytest.mark.parametrize("start", ["fresh", "warm"])
def test_sixteen_threads_get_the_bits_of_one(tiny_checkpoint, dtype, start, monkeypatch):
    """Each call with one to four threads inside, on two engines at once."""
    calls, ids = calls_of(tiny_checkpoint), characters(130)
    alone = Engine.from_checkpoint(tiny_checkpoint, dtype)
    expected = [alone.contextualize(*call)[0].tobytes() for call in calls]
    expected_tokens = alone.token_vectors(ids).tobytes()
    engines = [Engine.from_checkpoint(tiny_checkpoint, dtype) for _ in range(2)]
    if start == "warm":
        for engine in engines:
            engine.token_vectors(ids), engine.stacks()
    turn, barrier = itertools.count(), threading.Barrier(16)
    for module in (stacks, sys.modules["elmo.engine.native"]):
        monkeypatch.setattr(module, "num_threads", lambda: 1 + next(turn) % 4)

    def work(rank):
        engine = engines[rank % 2]
        barrier.wait()
        for place in (np.arange(5) + rank) % 5:
            assert engine.contextualize(*calls[place])[0].tobytes() == expected[place]
            if place == 2:
                assert engine.token_vectors(ids).tobytes() == expected_tokens

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(work, range(16)))


@native
@pytest.mark.parametrize("fails", [0, 1, 2])
def test_a_team_does_not_wait_for_a_thread_that_fails(tiny_checkpoint, fails, monkeypatch):
    monkeypatch.setattr(stacks, "num_threads", lambda: 3)
    monkeypatch.setattr(stacks._autotuner, "run", lambda kind, amount, ways: ways[WAYS["together"]]())
    engine, run, began = Engine.from_checkpoint(tiny_checkpoint), NativeLayer.run, itertools.count()
    call = calls_of(tiny_checkpoint)[2]
    expected, _ = engine.contextualize(*call)

    def run_or_fail(self, reading, shared=None, rank=0):
        if rank == fails and next(began) == 1:
            raise MemoryError("for the second layer")
        run(self, reading, shared, rank)

    monkeypatch.setattr(NativeLayer, "run", run_or_fail)
    with pytest.raises(MemoryError, match="for the second layer"):
        engine.contextualize(*call)
    np.testing.assert_array_equal(engine.contextualize(*call)[0], expected)


@native
def test_a_team_does_not_wait_for_a_thread_that_can_not_start(tiny_checkpoint, monkeypatch):
    monkeypatch.setattr(stacks, "num_threads", lambda: 4)
    monkeypatch.setattr(stacks._autotuner, "run", lambda kind, amount, ways: ways[WAYS["together"]]())
    engine, starts = Engine.from_checkpoint(tiny_checkpoint), itertools.count()

    begun = []

    def start(function, arguments):
        if next(starts) == 2:
            raise RuntimeError("can't start new thread")
        begun.append(threading.Thread(target=function, args=arguments))
        begun[-1].start()

    monkeypatch.setattr(threads, "start_new_thread", start)
    with pytest.raises(RuntimeError, match="can't start"):
        engine.contextualize(*calls_of(tiny_checkpoint)[2])
    assert len(begun) == 2
    for thread in begun:
        thread.join(10)
        assert not thread.is_alive()


def test_threads_begin_without_a_lock_that_ctrl_c_could_leave_taken(monkeypatch):
    """As `threading.Thread.start` has one; about one process in ten of the test below never ended."""
    monkeypatch.setattr(threading.Thread, "start", None)
    ran = []
    run_parallel([functools.partial(ran.append, rank) for rank in range(3)])
    assert sorted(ran) == [0, 1, 2]


def test_the_first_problem_of_parallel_jobs_is_raised():
    left = []

    def fail():
        raise ValueError("of a job")

    with pytest.raises(ValueError, match="of a job"):
        run_parallel([lambda: None, fail, lambda: None], left.append)
    assert left == [1]
    run_parallel([])


@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # interrupts in weak references' callbacks
@pytest.mark.usefixtures("two_threads")
@pytest.mark.skipif(sys.platform == "win32", reason="needs a timer's signal")
@pytest.mark.parametrize("way", WAYS)
def test_interrupted_calls_change_nothing(tiny_checkpoint, way, monkeypatch):
    """Ctrl-C at any moment: a call ends at once, and the next ones have the same bits."""
    monkeypatch.setattr(stacks._autotuner, "run", lambda kind, amount, ways: ways[WAYS[way]]())
    engine, call = Engine.from_checkpoint(tiny_checkpoint), calls_of(tiny_checkpoint)[2]
    found = expected = engine.contextualize(*call)[0]
    interrupts = 0
    chance = np.random.default_rng(0)

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for _ in range(300):
            try:
                signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-5, 2e-3))
                for _ in range(50):
                    found = engine.contextualize(*call)[0]
            except KeyboardInterrupt:
                interrupts += 1
            np.testing.assert_array_equal(found, expected)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert interrupts > 200  # one in such a callback is lost
    np.testing.assert_array_equal(engine.contextualize(*call)[0], expected)
