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
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from elmo.disk.json_file import read_record
from elmo.errors import Interrupted
from elmo.process.progress.report import SILENT, Progress
from elmo.process.progress.shown import duration
from elmo.process.resources import keep_freed_memory
from elmo.process.stop_flag import StopFlag, stop_flag
from elmo.process.worker_pool import WorkerDied, WorkerPool, ended_by, portable
from elmo.tasks.train.job import AnyJob
from elmo.tasks.train.train import outcome_file, remember_layers, train
from elmo_paper.reproduce.outcomes import Trained
from elmo_paper.reproduce.systems import System

# A training on a small share isn't shorter in proportion: it is scored on the same dev data, over more epochs.
_LEAST_WEIGHT = 5.0


@dataclass
class _Cells:
    """Reports which training is next, and estimates how long all will take."""

    cells: list[tuple[System, int]]
    runs: Path
    progress: Progress
    done: float = 0.0
    """Weight of the trainings that were finished here."""
    seconds: float = 0.0
    """What they took."""
    under_way: tuple[float, float] | None = None
    """When the present training began, and its weight."""

    def begin(self, system: System, seed: int) -> None:
        """Reports the next training."""
        self.end()
        place = self.cells.index((system, seed)) + 1
        finished = self._is_finished(system, seed)
        if not finished:
            self.under_way = (time.monotonic(), _weight(system))
        share = "" if system.share == 100 else f", {system.share:g} % of the data"
        rest = "finished before" if finished else self._left(place)
        self.progress.say(f"cell {place} of {len(self.cells)}: {system.label}{share}, seed {seed}: {rest}")

    def end(self) -> None:
        """Records the end of the training under way, if there is one."""
        if self.under_way is not None:
            began, weight = self.under_way
            self.seconds += time.monotonic() - began
            self.done += weight
        self.under_way = None

    def _left(self, place: int) -> str:
        if not self.done:
            return "begins"
        open_ones = [system for system, seed in self.cells[place - 1 :] if not self._is_finished(system, seed)]
        seconds = self.seconds / self.done * sum(map(_weight, open_ones))
        return f"begins, about {duration(seconds)} left for all"

    def _is_finished(self, system: System, seed: int) -> bool:
        return outcome_file(self.runs / system.folder, seed).is_file()


def run_grid(job: AnyJob, systems: Sequence[System], *, workers: int = 1, progress: Progress = SILENT) -> list[Trained]:
    """Trains what isn't trained yet, `workers` systems at a time; the outcome of each. Raises as `train` does.

    `job`: what the systems have in common; its `run` is the folder of the experiment.
    """
    runs, options = job.run / "runs", job.options
    job = job.with_options(cache=options.cache or job.run / "cache")
    jobs = [replace(job, settings=system.settings, run=runs / system.folder) for system in systems]
    if workers == 1:
        cells = [(system, seed) for system in systems for seed in options.seeds]
        summaries = _one_by_one(systems, jobs, _Cells(cells, runs, progress))
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


def _one_by_one(systems: Sequence[System], jobs: Sequence[AnyJob], cells: _Cells) -> list[dict[str, Any]]:
    summaries = []
    for system, job in zip(systems, jobs, strict=True):
        summaries.append(continued(job, partial(cells.begin, system), cells.progress))
        cells.end()
    return summaries


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


def _weight(system: System) -> float:
    return max(system.share, _LEAST_WEIGHT)


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
