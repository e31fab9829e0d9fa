"""Processes that test_distributed.py starts once and uses as ranks again and again: jobs come in, answers go out.

    python rank_worker.py JOBS ANSWERS [JOBS ANSWERS ...]      numbers of open pipes, a pair for each process

A line of JOBS is a job: its name, torchrun's variables, its arguments. A line of ANSWERS is what it found.
"""

import contextlib
import hashlib
import io
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
import torch.distributed as dist

from elmo.cli.main import main as elmo_command
from elmo.corpus.shards import TrainingData
from elmo.pretrain.ranks.distributed import joined
from elmo.pretrain.run import held_out
from elmo.pretrain.settings.config import PretrainConfig
from elmo.pretrain.step.trainer import Trainer
from elmo.pretrain.step.trainer_state import tensors_of


def steps(data: str, config: dict[str, Any], steps: int) -> dict[str, Any]:
    """Losses of some steps, the rows each rank had, and what the weights are afterwards."""
    with joined("cpu", timeout=60) as ranks:
        trainer = Trainer(PretrainConfig.from_dict(config, "test"), TrainingData.open(data), ranks=ranks)
        results = [trainer.step() for _ in range(steps)]
        weights = b"".join(value.detach().numpy().tobytes() for value in trainer.named_parameters.values())
        return {
            "losses": [result.loss for result in results],
            "norms": [result.gradient_norm for result in results],
            "rows": [trainer.rows.start, trainer.rows.stop],
            "weights": hashlib.sha256(weights).hexdigest(),
            "state": {name: list(tensor.shape) for name, tensor in tensors_of(trainer).items() if "state." in name},
        }


def command(argv: list[str], fault: dict[str, Any]) -> dict[str, Any]:
    """`elmo ARGV` with a fault on one rank in one step; its exit code and what it said."""
    told = io.StringIO()
    begun = time.monotonic()
    with _fault(**fault), contextlib.redirect_stderr(told), contextlib.redirect_stdout(told):
        try:
            code = elmo_command(argv)
        except SystemExit as end:
            code = end.code
    return {"code": code, "told": told.getvalue(), "seconds": time.monotonic() - begun}


@contextlib.contextmanager
def _fault(kind: str = "", rank: int = 0, step: int = 0) -> Iterator[None]:
    """On `rank`, before step `step`: "signal", "hang" or "nan"; "evaluation": a signal in the first evaluation."""
    plain, plain_learn, plain_scores = Trainer.step, Trainer._learn, held_out.scores
    here = int(os.environ["RANK"]) == rank

    def step_with_fault(trainer: Trainer, *arguments):  # noqa: ANN002, ANN202
        if here and trainer.step_number + 1 == step:
            if kind == "signal":
                os.kill(os.getpid(), signal.SIGTERM)
            if kind == "hang":
                time.sleep(4)
        return plain(trainer, *arguments)

    def learn_nan(trainer: Trainer, vectors, direction, window):  # noqa: ANN001, ANN202
        result = plain_learn(trainer, vectors, direction, window)
        if here and trainer.step_number + 1 == step and direction == "forward":
            return replace(result, vectors_gradient=result.vectors_gradient * float("nan"))
        return result

    def scores_with_signal(*arguments, **settings):  # noqa: ANN002, ANN003, ANN202
        if here:
            os.kill(os.getpid(), signal.SIGTERM)
        return plain_scores(*arguments, **settings)

    Trainer.step = step_with_fault
    if kind == "nan":
        Trainer._learn = learn_nan
    if kind == "evaluation":
        held_out.scores = scores_with_signal
    try:
        yield
    finally:
        Trainer.step, Trainer._learn, held_out.scores = plain, plain_learn, plain_scores


def main() -> None:
    """A process for each pair of pipes, until their jobs end."""
    torch.set_num_threads(1)
    pipes = [int(argument) for argument in sys.argv[1:]]
    pairs = list(zip(pipes[::2], pipes[1::2], strict=True))
    processes = []
    for pair in pairs:
        process = os.fork()
        if not process:
            for other in set(pipes) - set(pair):
                os.close(other)
            _work(*pair)
            os._exit(0)
        processes.append(process)
    for pipe in pipes:
        os.close(pipe)
    for process in processes:
        os.waitpid(process, 0)


def _work(jobs: int, answers: int) -> None:
    with os.fdopen(jobs) as lines, os.fdopen(answers, "w") as told:
        for line in lines:
            job = json.loads(line)
            os.environ.update(job["environment"])
            try:
                found = {"steps": steps, "command": command}[job["name"]](**job["arguments"])
            except Exception as error:
                found = {"error": f"{type(error).__name__}: {error}"}
            if dist.is_initialized():
                dist.destroy_process_group()
            print(json.dumps(found), file=told, flush=True)


if __name__ == "__main__":
    main()
