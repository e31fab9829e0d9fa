"""Trainings side by side: other processes that train a system each, so that all cores are used.

A process is told its training through its standard input, and stops, with all saved, when that ends: asked to, or by
kill -9 of the process that started it. What it raises comes back on its standard output.
"""

import contextlib
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from elmo.errors import ElmoError
from elmo.process.answering_process import answers, portable, started
from elmo.process.stop_flag import StopFlag, stop_flag
from elmo.tasks.train.train import Files, train

_SECONDS_BETWEEN_LOOKS = 0.2


class TrainerDied(ElmoError):
    """A process ended without an answer, most often for lack of memory."""


@dataclass(frozen=True)
class Training:
    """A call of `train`."""

    task: str
    settings: Any
    files: Files
    run: Path
    options: dict[str, Any]
    """Its other arguments, by name."""

    def with_options(self, **options: Any) -> "Training":
        """The same with more arguments."""
        return replace(self, options=self.options | options)

    def do(self) -> dict[str, Any]:
        """What `train` gives; a run that was begun goes on."""
        resume = (self.run / "run.json").is_file()
        return train(self.task, self.settings, self.files, self.run, resume=resume, **self.options)


def train_side_by_side(trainings: Sequence[Training], workers: int, look: Callable[[], None]) -> None:
    """Does all trainings, `workers` at a time, each with its part of the threads; the results are in their folders.

    `look` is called five times a second; what it raises ends all of them, with everything saved, as does what one of
    them raises. Raises TrainerDied if a process ends by itself.
    """
    waiting = list(reversed(trainings))
    with _ended(threads=max(1, torch.get_num_threads() // workers)) as (running, start):
        while waiting or running:
            while waiting and len(running) < workers:
                start(waiting.pop())
            look()
            for process in [process for process in running if process.is_over]:
                running.remove(process)
                process.raise_error()
            time.sleep(_SECONDS_BETWEEN_LOOKS)


class _Process:
    """A training in a process of its own, as the one sees it that waits for it."""

    def __init__(self, training: Training, threads: int) -> None:
        self._training = training
        self._process = started(__name__, environment={"OMP_NUM_THREADS": str(threads)})
        with contextlib.suppress(BrokenPipeError):  # it has died already, which is told below
            pickle.dump(training, self._stdin)
            self._stdin.flush()

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
                f"{self._training.run}: the process of this training ended with code {self._process.returncode} "
                "without an answer; most often memory was short. What it saved is kept: use fewer --workers and go on "
                "with --resume."
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
def _ended(threads: int) -> Iterator[tuple[list[_Process], Callable[[Training], None]]]:
    """The processes under way, none at first, and what starts one. None outlives the block."""
    running: list[_Process] = []
    try:
        yield running, lambda training: running.append(_Process(training, threads))
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
    stream = answers()
    try:
        training = pickle.load(sys.stdin.buffer)
    except (EOFError, pickle.UnpicklingError):  # whoever started this process was killed
        return
    with stop_flag() as flag:
        # Ctrl-C reaches all processes of a terminal; the one that started this one decides.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        threading.Thread(target=_listen, args=(flag,), daemon=True).start()
        error = _error_of(training)
    with contextlib.suppress(BrokenPipeError):  # here too
        stream.write(pickle.dumps(error))


def _listen(flag: StopFlag) -> None:
    """Raises the flag when the input ends, if no signal has done so."""
    while os.read(sys.stdin.fileno(), 1):  # not the buffer, whose lock Python wants when it ends
        pass
    flag.signal = flag.signal or signal.SIGTERM


def _error_of(training: Training) -> Exception | None:
    try:
        training.do()
    except Exception as error:
        return portable(error, f"{training.run}: {error!r}. See without --workers where it comes from.")
    return None
