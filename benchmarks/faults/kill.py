"""Reliability R1 and R3: a tiny run, stopped at random moments and resumed, ends like one that was never stopped.

    python benchmarks/faults/kill.py --signal KILL --times 50     # R1: kill -9
    python benchmarks/faults/kill.py --signal TERM --times 40     # R3: SIGTERM must save and leave with 75 within 30 s

Each time a 300-step run (CPU, one thread a direction) is started anew, stopped a random moment after a random step, and
resumed until it is finished; a run that ended before its moment came is not counted. It passes if the loss of every
step is bit for bit that of the uninterrupted run, every step is logged once, and the models are equal.
Prints a line for each time, and a JSON object at the end; exit code 1 if any failed.
"""

import argparse
import json
import os
import platform
import random
import signal
import tempfile
import time
from collections import Counter
from pathlib import Path

import torch

import elmo.pretrain.loop  # noqa: F401 - once, for all the runs that are forked from here
from elmo.cli.main import main as elmo_command
from elmo.pretrain.prepare import prepare
from elmo.weights.checkpoint import content_hash, read

WORDS = ("the", "cat", "dog", "bank", "river", "money", "sat", "on", "of", "and", "went", "to", "café", "밥", ".")
RECIPE = {
    "cell-size": 16, "projection-size": 8, "character-dim": 4, "num-highway": 1, "batch-size": 4, "unroll-steps": 5,
    "num-negative-samples": 8, "epochs": 100, "max-steps": 300, "dropout": 0.1, "state-reset": 0.5, "log-every": 1,
    "save-every": 7, "evaluate-every": 50, "optimizer": "adamw", "learning-rate": 0.01, "warmup-steps": 10,
    "decay": "linear",
}  # fmt: skip
RESUMABLE = 75


def main() -> int:
    """Runs the test; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--signal", choices=("KILL", "TERM"), default="KILL")
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", help="where to work; on /dev/shm the disk's own pace plays no part")
    arguments = parser.parse_args()
    number = signal.SIGKILL if arguments.signal == "KILL" else signal.SIGTERM
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        work = Path(folder)
        _write_data(work, random.Random(1))
        begun = time.monotonic()
        _finish(_start(work, work / "whole"))
        whole = time.monotonic() - begun
        chance = random.Random(arguments.seed)
        found, index = [], 0
        while len(found) < arguments.times:
            index += 1
            one = _once(work / f"run-{index}", chance.randint(0, RECIPE["max-steps"]), chance.random() * 0.1, number)
            if one["code"] is not None:
                found.append(one)
                print(f"{len(found)}/{arguments.times}: {one}", flush=True)
    good = sum(one["equal"] for one in found)
    report = {
        "signal": arguments.signal, "times": arguments.times, "equal": good,
        "exit_codes": dict(Counter(str(one["code"]) for one in found)),
        "slowest_exit_seconds": max(one["seconds"] for one in found),
        "whole_run_seconds": round(whole, 1), "torch": torch.__version__, "machine": platform.machine(),
    }  # fmt: skip
    print(json.dumps(report, indent=2))
    return 0 if good == arguments.times else 1


def _write_data(work: Path, chance: random.Random) -> None:
    lines = [" ".join(chance.choices(WORDS, k=chance.randint(1, 12))) for _ in range(300)]
    (work / "train.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (work / "valid.txt").write_text("\n".join(lines[:40]) + "\n", encoding="utf-8")
    prepare([work / "train.txt"], work / "data", valid=[work / "valid.txt"], tokens_per_shard=500)
    filters = "[[1, 4], [2, 4]]"
    settings = "\n".join(f"{key.replace('-', '_')} = {json.dumps(value)}" for key, value in RECIPE.items())
    (work / "tiny.toml").write_text(f"{settings}\nfilters = {filters}\n", encoding="utf-8")


def _start(work: Path, run: Path, *, resume: bool = False) -> int:
    """The process id of a run. Forked, so that the moments fall into the run and not into Python's imports."""
    source = [] if resume else [str(work / "tiny.toml")]
    arguments = ["pretrain", *source, "--data", str(work / "data"), "-o", str(run), "--quiet"]
    process = os.fork()
    if process:
        return process
    with (work / "stderr.txt").open("a") as errors:
        os.dup2(errors.fileno(), 2)
        code = elmo_command([*arguments, *(["--resume"] if resume else [])])
    os._exit(code)


def _wait(process: int, seconds: float) -> int | None:
    """The exit code, negative for a signal; None if the process still runs after so many seconds."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    return None


def _finish(process: int) -> None:
    if (code := _wait(process, 600)) != 0:
        raise SystemExit(f"a run that nobody stopped ended with {code}")


def _once(run: Path, step: int, delay: float, number: int) -> dict:
    work, whole = run.parent, run.parent / "whole"
    process = _start(work, run)
    while (code := _wait(process, 0.002)) is None and _steps(run) < step:
        pass
    if code is None and (code := _wait(process, delay)) is None:
        os.kill(process, number)
    else:
        return {"code": None}  # it was faster than its moment
    begun = time.monotonic()
    code = _wait(process, 60)
    if code is None:
        raise SystemExit(f"{run}: still runs a minute after signal {number}")
    seconds = round(time.monotonic() - begun, 2)
    stopped_at, saved = _steps(run), _saved(run)
    _finish(_start(work, run, resume=(run / "config.json").is_file()))
    # SIGTERM before or after the run proper gives -15: there is nothing to save yet, or any more.
    fine = code == -number or (number == signal.SIGTERM and code in (0, RESUMABLE))
    equal = fine and _losses(run) == _losses(whole) and _hash(run) == _hash(whole)
    return {"equal": equal, "code": code, "seconds": seconds, "logged": stopped_at, "saved": saved}


def _steps(run: Path) -> int:
    """The last step that metrics.jsonl has, at most one object more than that."""
    try:
        return (run / "metrics.jsonl").read_bytes().count(b'"loss"')
    except OSError:
        return 0


def _saved(run: Path) -> str | None:
    try:
        return (run / "checkpoints" / "latest").read_text(encoding="utf-8")
    except OSError:
        return None


def _losses(run: Path) -> list:
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    kept = ("step", "loss", "losses", "evaluation", "mean_perplexity")
    return [[line.get(name) for name in kept] for line in lines]


def _hash(run: Path) -> str:
    return content_hash(read(run / "model"))


if __name__ == "__main__":
    raise SystemExit(main())
