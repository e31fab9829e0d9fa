"""Trains systems in several processes at once, so that all cores are used.

A process receives its training through its standard input and stops, with everything saved, when that ends: when asked
to, or when the process that started it is killed. What it raises comes back on its standard output.
"""

import contextlib
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from elmo.errors import ElmoError
from elmo.process.answering_process import answers, portable, started
from elmo.process.freed_memory import keep_freed_memory
from elmo.process.progress.report import SILENT, Progress
from elmo.process.stop_flag import StopFlag, stop_flag
from elmo.tasks.registry import find, reference
from elmo.tasks.train.job import AnyJob, Job
from elmo.tasks.train.train import train

_SECONDS_BETWEEN_LOOKS = 0.2


class TrainerDied(ElmoError):
    """A process ended without an answer, most often for lack of memory."""


def train_in_processes(jobs: Sequence[AnyJob], workers: int, look: Callable[[], None]) -> None:
    """Does all jobs, `workers` at a time, each with its part of the threads; the results are in their folders.

    Jobs begin in their order, but one whose folder another is working in waits for it. `look` is called five times a
    second; what it raises ends all of them, with everything saved, as does what one of them raises. Raises TrainerDied
    if a process ends by itself.
    """
    waiting = list(jobs)
    with _ended(threads=max(1, torch.get_num_threads() // workers)) as (running, start):
        while waiting or running:
            while len(running) < workers and (job := _next(waiting, running)) is not None:
                waiting.remove(job)
                start(job)
            look()
            for process in [process for process in running if process.is_over]:
                running.remove(process)
                process.raise_error()
            time.sleep(_SECONDS_BETWEEN_LOOKS)


def _next(waiting: Sequence[AnyJob], running: Sequence["_Process"]) -> AnyJob | None:
    """The first job in whose folder nobody is working."""
    taken = {process.run for process in running}
    return next((job for job in waiting if job.run not in taken), None)


class _Process:
    """A training in a process of its own, as the one sees it that waits for it."""

    def __init__(self, job: AnyJob, threads: int) -> None:
        self._job = job
        self._process = started(__name__, environment={"OMP_NUM_THREADS": str(threads)})
        with contextlib.suppress(BrokenPipeError):  # it has died already; `raise_error` reports it
            pickle.dump(_Portable.of(job), self._stdin)
            self._stdin.flush()

    @property
    def run(self) -> Path:
        """The folder in which it works."""
        return self._job.run

    @property
    def _stdin(self) -> Any:
        return self._process.stdin

    @property
    def is_over(self) -> bool:
        return self._process.poll() is not None

    def raise_error(self) -> None:
        """Raises what it raised, once it is over."""
        answer = self._answer()
        if not answer:
            raise TrainerDied(
                f"{self._job.run}: the process of this training ended with code {self._process.returncode} "
                "without an answer; most often for lack of memory. What it saved is kept: use fewer --workers and "
                "continue with --resume."
            )
        error = pickle.loads(answer)
        if error is not None:
            raise error

    def ask_to_stop(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            self._stdin.close()

    def wait(self) -> None:
        """Until it is over."""
        self._answer()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def _answer(self) -> bytes:
        """All that it writes until it ends; nothing the second time."""
        self.ask_to_stop()
        assert self._process.stdout is not None
        if self._process.stdout.closed:
            return b""
        with self._process.stdout as stream:
            answer = stream.read()
        self._process.wait()
        return answer


@contextlib.contextmanager
def _ended(threads: int) -> Iterator[tuple[list[_Process], Callable[[AnyJob], None]]]:
    """The processes under way, none at first, and what starts one. None outlives the block."""
    running: list[_Process] = []
    try:
        yield running, lambda job: running.append(_Process(job, threads))
    finally:
        for process in running:
            process.ask_to_stop()
        try:
            for process in running:
                process.wait()
        finally:  # somebody doesn't want to wait until all is saved
            for process in running:
                process.kill()


def work() -> None:
    """The life of such a process."""
    keep_freed_memory()
    stream = answers()
    try:
        portable_job = pickle.load(sys.stdin.buffer)
    except (EOFError, pickle.UnpicklingError):  # whoever started this process was killed
        return
    with stop_flag() as flag:
        # Ctrl-C reaches all processes of a terminal; the one that started this one decides.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        threading.Thread(target=_listen, args=(flag,), daemon=True).start()
        error = _error_of(portable_job)
    with contextlib.suppress(BrokenPipeError):  # here too
        stream.write(pickle.dumps(error))


def _listen(flag: StopFlag) -> None:
    """Raises the flag when the input ends, if no signal has done so."""
    while os.read(sys.stdin.fileno(), 1):  # not the buffer, whose lock Python wants when it ends
        pass
    flag.signal = flag.signal or signal.SIGTERM


def _error_of(portable_job: "_Portable") -> Exception | None:
    try:
        continued(portable_job.job())
    except Exception as error:
        return portable(error, f"{portable_job.parts['run']}: {error!r}. See without --workers where it comes from.")
    return None


def continued(job: AnyJob, on_seed: Callable[[int], None] | None = None, progress: Progress = SILENT) -> dict[str, Any]:
    """What `train` returns; a run that was begun is resumed. Rules are scored once for all runs, by `data_facts`."""
    is_begun = (job.run / "run.json").is_file()
    return train(job.with_options(resume=is_begun, rules=False), progress=progress, on_seed=on_seed)


@dataclass(frozen=True)
class _Portable:
    """A job as it travels to another process, which finds the task again by its reference."""

    task: str
    parts: dict[str, Any]

    @classmethod
    def of(cls, job: AnyJob) -> "_Portable":
        parts = {name: value for name, value in vars(job).items() if name != "task"}
        return cls(reference(job.task), parts)

    def job(self) -> AnyJob:
        return Job(find(self.task), **self.parts)
