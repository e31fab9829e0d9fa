"""Trainings in other processes: what becomes of those that end by themselves."""

from concurrent.futures import Future
from contextlib import nullcontext
from pathlib import Path

import pytest

from elmo.process import worker_pool
from elmo.tasks.ner.task import TASK
from elmo.tasks.train.job import AnyJob, Files, Job
from elmo_paper.reproduce import grid
from elmo_paper.reproduce.grid import train_in_processes


def jobs(tmp_path, count: int = 3) -> list[AnyJob]:
    return [Job(TASK, TASK.settings(), Files(tmp_path / "x"), tmp_path / f"run-{number}") for number in range(count)]


def test_a_process_that_dies_is_told_with_its_training(tmp_path, monkeypatch):
    monkeypatch.setattr(worker_pool, "_START", "import os; os._exit(3)")
    with pytest.raises(worker_pool.WorkerDied, match=r"run-0: a worker ended with code 3.* --workers"):
        train_in_processes(jobs(tmp_path), 1, lambda: None)


def test_the_trainings_that_have_ended_are_counted(tmp_path, monkeypatch, recorded_progress):
    begun = jobs(tmp_path)
    (begun[0].run / "seed-1").mkdir(parents=True)
    (begun[0].run / "seed-1" / "scores.json").write_text("{}", encoding="utf-8")  # by an earlier run

    def train(all_jobs, workers, look):
        look()
        for job in all_jobs:
            (job.run / "seed-1").mkdir(parents=True, exist_ok=True)
            for path in (job.run / "seed-1" / "scores.json", job.run / "scores.json"):
                path.write_text("{}", encoding="utf-8")
            look()

    monkeypatch.setattr(grid, "train_in_processes", train)
    assert grid._in_processes(begun, 2, recorded_progress) == [{}] * 3
    recorded_progress.require_stages(trainings="trainings")
    assert recorded_progress.stages["trainings"][0] == (1, 3)


def test_trainings_begin_seed_by_seed_and_each_system_ends_with_all_of_its_seeds(tmp_path):
    systems = [job.with_options(seeds=[1, 2]) for job in jobs(tmp_path, 2)]
    (systems[1].run / "seed-1").mkdir(parents=True)
    (systems[1].run / "seed-1" / "scores.json").touch()
    order = [(job.run.name, job.options.seeds) for job in grid._seed_by_seed(systems)]
    assert order == [("run-0", [1]), ("run-0", [1, 2]), ("run-1", [1, 2])]


def test_a_training_waits_for_another_in_its_folder(tmp_path, monkeypatch):
    begun: list[tuple[Path, Future[None]]] = []

    class Pool(nullcontext):
        def submit(self, function, job):
            begun.append((job.run, Future()))
            return begun[-1][1]

    def look():
        for _, future in begun[-2:]:
            if not future.done():
                future.set_result(None)

    monkeypatch.setattr(grid, "WorkerPool", lambda *_, **__: Pool(Pool()))
    first, second, third = jobs(tmp_path)
    again = first.with_options(seeds=[2])
    train_in_processes([first, again, second, third], 2, look)
    assert [run for run, _ in begun] == [it.run for it in (first, second, again, third)]


def test_what_looking_raises_ends_all_of_them(tmp_path, monkeypatch):
    start = "import os\nwhile os.read({calls}, 65536): pass\nopen('{path[0]}/ended', 'a').write('.')"
    monkeypatch.setattr(worker_pool, "_START", start)
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    looks = iter(range(2))
    with pytest.raises(StopIteration):
        train_in_processes(jobs(tmp_path), 2, lambda: next(looks))
    assert (tmp_path / "ended").read_text() == ".."
