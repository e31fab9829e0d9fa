"""Worker processes: what they return and raise comes back, and none outlives the pool."""

import os
import sys
import time
from pathlib import Path

import pytest

from elmo.errors import TextError
from elmo.process.worker_pool import WorkerDied, WorkerPool, ended_by


def twice(number: int) -> int:
    return 2 * number


def fails(message: str) -> None:
    raise TextError(message)


def dies() -> None:
    os._exit(3)


def patiently(file: Path) -> None:
    """Until the end of the calls, which it outlives."""
    ended: list[bool] = []
    with ended_by(lambda: ended.append(True)):
        file.with_suffix(".begun").touch()
        while not ended:
            time.sleep(0.01)
        file.touch()


def impatiently(file: Path) -> None:
    file.with_suffix(".begun").touch()
    time.sleep(60)
    file.touch()


def begun(file: Path) -> None:
    while not file.with_suffix(".begun").exists():
        time.sleep(0.01)


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    """Workers import functions by the name of their module."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    for function in (twice, fails, dies, patiently, impatiently, speaks):
        monkeypatch.setattr(function, "__module__", "test_worker_pool")
    monkeypatch.setitem(sys.modules, "test_worker_pool", sys.modules[__name__])


def test_results_and_errors_come_back_to_the_call_that_they_belong_to():
    with WorkerPool(2) as pool:
        results = [pool.submit(twice, number) for number in range(5)]
        failure = pool.submit(fails, "a.txt:3: bad")
        assert [it.result() for it in results] == [0, 2, 4, 6, 8]
        with pytest.raises(TextError, match="^a.txt:3: bad$"):
            failure.result()


def test_a_worker_that_dies_is_an_error_of_its_call():
    with WorkerPool(1) as pool, pytest.raises(WorkerDied, match="ended with code 3"):
        pool.submit(dies).result()


def test_a_call_may_outlive_the_others_where_the_pool_is_patient(tmp_path):
    with WorkerPool(1, patient=True) as pool:
        pool.submit(patiently, tmp_path / "saved")
        begun(tmp_path / "saved")
    assert (tmp_path / "saved").exists()


def test_other_calls_end_at_once(tmp_path):
    with WorkerPool(2) as pool:
        future = pool.submit(impatiently, tmp_path / "saved")
        begun(tmp_path / "saved")
    assert isinstance(future.exception(), WorkerDied)
    assert not (tmp_path / "saved").exists()


def speaks() -> bytes:
    print("not an answer", flush=True)
    return bytes(10_000_000)


def test_what_a_worker_prints_is_no_answer(capfd):
    with WorkerPool(1) as pool:
        assert pool.submit(speaks).result() == bytes(10_000_000)
    assert capfd.readouterr() == ("", "not an answer\n")
