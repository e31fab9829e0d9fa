"""Trains systems in several processes at once, so that all cores are used.

A training stops, with everything saved, when it is asked to, or when the process that started its own is killed.
"""

import signal
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from typing import Any

import torch

from elmo.errors import ElmoError
from elmo.process.progress.report import SILENT, Progress
from elmo.process.resources import keep_freed_memory
from elmo.process.stop_flag import StopFlag, stop_flag
from elmo.process.worker_pool import WorkerDied, WorkerPool, ended_by, portable
from elmo.tasks.train.job import AnyJob
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
    running: dict[Future[None], AnyJob] = {}
    threads = str(max(1, torch.get_num_threads() // workers))
    with WorkerPool(max(1, min(workers, len(jobs))), environment={"OMP_NUM_THREADS": threads}, patient=True) as pool:
        while waiting or running:
            while len(running) < workers and (job := _next(waiting, running.values())) is not None:
                waiting.remove(job)
                running[pool.submit(_train, job)] = job
            look()
            for future in [future for future in running if future.done()]:
                _raise_error(future, running.pop(future))
            time.sleep(_SECONDS_BETWEEN_LOOKS)


def _next(waiting: Sequence[AnyJob], running: Iterable[AnyJob]) -> AnyJob | None:
    """The first job in whose folder nobody is working."""
    taken = {job.run for job in running}
    return next((job for job in waiting if job.run not in taken), None)


def _raise_error(future: Future[None], job: AnyJob) -> None:
    try:
        future.result()
    except WorkerDied as error:
        raise TrainerDied(
            f"{job.run}: {error} What it saved is kept: use fewer --workers and continue with --resume."
        ) from None


def _train(job: AnyJob) -> None:
    """In a worker."""
    keep_freed_memory()
    with stop_flag() as flag, ended_by(lambda: _raise_flag(flag)):
        # Ctrl-C reaches all processes of a terminal; the one that started this one decides.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            continued(job)
        except Exception as error:
            raise portable(error, f"{job.run}: {error!r}. See without --workers where it comes from.") from None


def _raise_flag(flag: StopFlag) -> None:
    flag.signal = flag.signal or signal.SIGTERM


def continued(job: AnyJob, on_seed: Callable[[int], None] | None = None, progress: Progress = SILENT) -> dict[str, Any]:
    """What `train` returns; a run that was begun is resumed. Rules are scored once for all runs, by `data_facts`."""
    is_begun = (job.run / "run.json").is_file()
    return train(job.with_options(resume=is_begun, rules=False), progress=progress, on_seed=on_seed)
