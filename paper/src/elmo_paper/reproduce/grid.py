"""The trainings of an experiment: systems times seeds, each an `elmo task train` in a folder of its own.

    FOLDER/runs/<what it is>-<hash of its settings>/   one run, with seed-1/, seed-2/ and so on
    FOLDER/cache/                                  the biLM's layers, computed once for all of them

Finished trainings are not repeated, and interrupted ones continue bit for bit. Experiments in one folder share runs.
Several may run at once, each in a process of its own, which stops with everything saved when it is asked to, or when
the process that started it is killed.
"""

import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any

import torch

from elmo.disk.json_file import read_record
from elmo.errors import Interrupted
from elmo.process.progress.report import SILENT, Progress
from elmo.process.resources import keep_freed_memory
from elmo.process.stop_flag import StopFlag, stop_flag
from elmo.process.worker_pool import WorkerDied, WorkerPool, ended_by, portable
from elmo.tasks.train.job import AnyJob, outcome_file
from elmo.tasks.train.train import remember_layers, train
from elmo_paper.reproduce.outcomes import Trained
from elmo_paper.reproduce.systems import System


def run_grid(job: AnyJob, systems: Sequence[System], *, workers: int = 1, progress: Progress = SILENT) -> list[Trained]:
    """Trains what isn't trained yet, `workers` systems at a time; the outcome of each. Raises as `train` does.

    `job`: what the systems have in common; its `run` is the folder of the experiment.
    """
    runs, options = job.run / "runs", job.options
    job = job.with_options(cache=options.cache or job.run / "cache")
    jobs = [replace(job, settings=system.settings, run=runs / system.folder) for system in systems]
    if workers == 1:
        summaries = _one_by_one(systems, jobs, progress)
    else:
        for system in _largest(systems):
            remember_layers(replace(job, settings=system.settings), progress)
        summaries = _in_processes(jobs, workers, progress)
    return [Trained(system, one.run, summary) for system, one, summary in zip(systems, jobs, summaries, strict=True)]


def _largest(systems: Sequence[System]) -> list[System]:
    """For each biLM, the system that reads the most with it."""
    found: dict[str, System] = {}
    for system in sorted(systems, key=lambda system: -system.share):
        if system.settings.tokens.encoder != "none":
            found.setdefault(system.settings.tokens.model, system)
    return list(found.values())


def _one_by_one(systems: Sequence[System], jobs: Sequence[AnyJob], progress: Progress) -> list[dict[str, Any]]:
    places = count(1)

    def say(system: System, job: AnyJob, seed: int) -> None:
        share = "" if system.share == 100 else f", {system.share:g} % of the data"
        state = "finished before" if outcome_file(job.run, seed).is_file() else "begins"
        of = len(jobs) * len(job.options.seeds)
        progress.say(f"cell {next(places)} of {of}: {system.label}{share}, seed {seed}: {state}")

    return [continued(job, partial(say, system, job), progress) for system, job in zip(systems, jobs, strict=True)]


def _in_processes(jobs: Sequence[AnyJob], workers: int, progress: Progress) -> list[dict[str, Any]]:
    """The same; all trainings are one stage."""
    files = [outcome_file(job.run, seed) for job in jobs for seed in job.options.seeds]
    with stop_flag() as flag:

        def look() -> None:
            done = sum(file.is_file() for file in files)
            progress.show("trainings", done, len(files), "trainings")
            if flag.signal is not None:
                raise Interrupted(
                    f"stopped by signal {flag.signal} with {done} of {len(files)} trainings done; what was under way "
                    "is saved too. Continue with the same command and --resume."
                )

        train_in_processes(list(_seed_by_seed(jobs)), workers, look)
        look()
    return [read_record(job.run / "scores.json") for job in jobs]


def _seed_by_seed(jobs: Sequence[AnyJob]) -> Iterator[AnyJob]:
    """Each training that isn't finished, so that no core waits while another trains one system with all seeds.

    All jobs have the same seeds. The last job of a system has all of them, and so writes the summary.
    """
    for seed in jobs[0].options.seeds[:-1]:
        for job in jobs:
            if not outcome_file(job.run, seed).is_file():
                yield job.with_options(seeds=[seed])
    yield from jobs


_SECONDS_BETWEEN_LOOKS = 0.2


def train_in_processes(jobs: Sequence[AnyJob], workers: int, look: Callable[[], None]) -> None:
    """Does all jobs, `workers` at a time, each with its part of the threads; the results are in their folders.

    Jobs begin in their order, but one whose folder another is working in waits for it. `look` is called five times a
    second; what it raises ends all of them, with everything saved, as does what one of them raises. Raises WorkerDied
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
                job = running.pop(future)
                try:
                    future.result()
                except WorkerDied as error:
                    raise WorkerDied(f"{job.run}: {error}") from None
            time.sleep(_SECONDS_BETWEEN_LOOKS)


def _next(waiting: Sequence[AnyJob], running: Iterable[AnyJob]) -> AnyJob | None:
    """The first job whose folder is free."""
    taken = {job.run for job in running}
    return next((job for job in waiting if job.run not in taken), None)


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
