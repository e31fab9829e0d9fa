"""Reliability R1: a tiny run, stopped at random moments and resumed, ends like one that was never stopped.

    python benchmarks/faults/kill.py --signal KILL --times 50     # R1: kill -9
    python benchmarks/faults/kill.py --signal TERM --times 40     # SIGTERM must save and leave with 75

Each time a 300-step run (CPU, one thread a direction) is started anew, stopped a random moment after a random step, and
resumed until it is finished; a run that ended before its moment came is not counted. It passes if the loss of every
step is bit for bit that of the uninterrupted run, every step is logged once, and the models are equal.
"""

import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

import tiny_run
from record import Record, Table, parser


def main() -> int:
    """Runs the test and writes the record; exit code 1 if a run failed."""
    arguments = parser(__doc__)
    arguments.add_argument("--signal", choices=("KILL", "TERM"), default="KILL")
    arguments.add_argument("--times", type=int, default=50)
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--folder", help="where to work; on /dev/shm the disk's own pace plays no part")
    given = arguments.parse_args()
    number = signal.SIGKILL if given.signal == "KILL" else signal.SIGTERM
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        work = Path(folder)
        tiny_run.write_data(work, random.Random(1))
        begun = time.monotonic()
        tiny_run.start(work, work / "whole").finish()
        whole = time.monotonic() - begun
        found = _many(work, given.times, number, random.Random(given.seed))
    good = sum(one["equal"] for one in found)
    codes = Counter(one["code"] for one in found)
    lost = max(one["logged"] - (one["saved"] or 0) for one in found)
    rows = [
        ["equal to the uninterrupted run", f"{good} of {given.times}"],
        ["exit codes", ", ".join(f"{code}: {count}" for code, count in sorted(codes.items()))],
        ["slowest exit", f"{max(one['seconds'] for one in found):.2f} s"],
        ["most steps lost", f"{lost} (save_every {tiny_run.RECIPE['save-every']})"],
        ["the whole run", f"{whole:.1f} s"],
    ]
    sentence = (
        f"After signal {given.signal} at {given.times} random moments and --resume, the loss of every step and the "
        f"finished model were bit for bit those of a run that nobody stopped in {good} of {given.times} cases."
    )
    title = f"Faults: stopped by {given.signal} at random moments"
    Record(f"fault-{given.signal.lower()}", title, [Table(["", ""], rows)], sentence).write(given.results)
    return 0 if good == given.times else 1


def _many(work: Path, times: int, number: int, chance: random.Random) -> list[dict]:
    found, index = [], 0
    while len(found) < times:
        index += 1
        step, delay = chance.randint(0, tiny_run.RECIPE["max-steps"]), chance.random() * 0.1
        one = _once(work / f"run-{index}", step, delay, number)
        if one is not None:
            found.append(one)
            print(f"{len(found)}/{times}: {one}", flush=True)
    return found


def _once(run: Path, step: int, delay: float, number: int) -> dict | None:
    """None: the run was faster than its moment."""
    work = run.parent
    child = tiny_run.start(work, run)
    while (code := child.wait(0.002)) is None and tiny_run.num_steps(run) < step:
        pass
    if code is not None or child.wait(delay) is not None:
        return None
    os.kill(child.process, number)
    begun = time.monotonic()
    code = child.wait(60)
    if code is None:
        raise SystemExit(f"{run}: still runs a minute after signal {number}")
    seconds = round(time.monotonic() - begun, 2)
    logged, saved = tiny_run.num_steps(run), tiny_run.saved_step(run)
    tiny_run.start(work, run, resume=(run / "config.json").is_file()).finish()
    # SIGTERM before or after the run proper gives -15: there is nothing to save yet, or any more.
    fine = code == -number or (number == signal.SIGTERM and code in (0, tiny_run.RESUMABLE))
    equal = fine and tiny_run.outcome(run) == tiny_run.outcome(work / "whole")
    return {"equal": equal, "code": code, "seconds": seconds, "logged": logged, "saved": saved}


if __name__ == "__main__":
    raise SystemExit(main())
