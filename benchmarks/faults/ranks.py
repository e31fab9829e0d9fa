"""Reliability R4: processes of one run killed at random moments, and a run resized from 2 to 1 to 4 processes.

    python benchmarks/faults/ranks.py --kills 20 --resizes 3

torchrun starts two processes (gloo, CPU) that train the tiny run together. Killed: `kill -9` hits one of them, a random
one a random moment after a random step; torchrun must start both again, and they go on from the last checkpoint by
themselves. Up to four kills hit one run. It passes if torchrun ends with 0, and the loss of every step and the model
are bit for bit those of two processes that nobody killed.

Resized: 2 processes are stopped by SIGTERM to torchrun at a random step, 1 process by SIGTERM at another, 4 finish. It
passes if every step was taken once, every loss is within 1e-4 of that of one process alone, and the streams stand where
that one's stand: the same sentences were read, each once.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

import tiny_run
from record import ROOT, Record, Table, parser

STEPS = tiny_run.RECIPE["max_steps"]
KILLS_A_RUN = 4
RELATIVE = 1e-4
LONGEST = 300.0


def main() -> int:
    """Runs the test and writes the record; exit code 1 if a run failed."""
    arguments = parser(__doc__)
    arguments.add_argument("--kills", type=int, default=20)
    arguments.add_argument("--resizes", type=int, default=3)
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--folder", help="where to work; on /dev/shm the disk's own pace plays no part")
    given = arguments.parse_args()
    chance = random.Random(given.seed)
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        work = Path(folder)
        tiny_run.write_data(work)
        _finish(_start(work, "two", 2))
        _finish(_start(work, "one", 1))
        apart = _farthest(work / "two", work / "one")
        killed = _kills(work, given.kills, chance)
        resized = [_resized(work, f"resized-{index}", chance) for index in range(given.resizes)]
    restarts, kills = sum(one["restarts"] for one in killed), sum(one["kills"] for one in killed)
    good = sum(one["good"] for one in killed)
    fitting = sum(one["good"] for one in resized)
    rows = [
        ["restarts after kill -9 of one of 2 processes", f"{restarts} of {kills}"],
        ["runs that ended bit for bit like the undisturbed one", f"{good} of {len(killed)}"],
        ["seconds from a kill to the next step", _spread([second for one in killed for second in one["seconds"]])],
        ["2 processes against 1, undisturbed: largest relative difference of a loss", f"{apart:.1e}"],
        ["resized 2 -> 1 -> 4: passed", f"{fitting} of {len(resized)}"],
        ["resized: largest relative difference of a loss", f"{max((one['apart'] for one in resized), default=0):.1e}"],
        ["resized: seconds from SIGTERM to the end", _spread([second for one in resized for second in one["seconds"]])],
    ]
    sentence = (
        f"After {restarts} of {kills} kills torchrun's restart went on from the last checkpoint, {good} of "
        f"{len(killed)} such runs ended bit for bit like the undisturbed one, and {fitting} of {len(resized)} resized "
        f"runs had every step once and every loss within {RELATIVE:g}. All processes were on one machine; a machine "
        "that disappears was not tried."
    )
    Record("fault-ranks", "Faults: processes killed and resized (R4)", [Table(["", ""], rows)], sentence).write(
        given.results
    )
    return 0 if restarts == kills == given.kills and good == len(killed) and fitting == len(resized) else 1


def _kills(work: Path, count: int, chance: random.Random) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    while (left := count - sum(one["kills"] for one in found)) > 0:
        found.append(_killed(work, f"killed-{len(found)}", min(left, KILLS_A_RUN), chance))
        print(f"{count - left + found[-1]['kills']}/{count}: {found[-1]}", flush=True)
    return found


def _killed(work: Path, name: str, count: int, chance: random.Random) -> dict[str, Any]:
    """A run in which one of the two processes is killed some times."""
    run, started = work / name, _start(work, name, 2, restarts=count)
    kills, seconds, gone = 0, [], set()
    for step in sorted(chance.randint(0, STEPS - 10) for _ in range(count)):
        while tiny_run.num_steps(run) < step and started.poll() is None:
            time.sleep(0.002)
        time.sleep(chance.random() * 0.3)
        ranks = _ranks(started, gone)
        if not ranks:
            break  # the run was faster than its moment
        gone.update(ranks)
        os.kill(chance.choice(ranks), signal.SIGKILL)
        kills, begun = kills + 1, time.monotonic()
        seconds.append(_seconds_to_next_step(run, started, begun))
    code = started.wait(LONGEST)
    good = code == 0 and tiny_run.outcome(run) == tiny_run.outcome(work / "two")
    # torchrun ends with 0 only if every kill was followed by processes that finished.
    return {"kills": kills, "restarts": kills if code == 0 else 0, "good": good, "seconds": seconds}


def _ranks(started: subprocess.Popen, gone: set[int]) -> list[int]:
    """The process ids of the two ranks, once both are there; none if the run is over."""
    while started.poll() is None:
        children = Path(f"/proc/{started.pid}/task/{started.pid}/children").read_text().split()
        ranks = [int(child) for child in children if int(child) not in gone]
        if len(ranks) == 2:
            return ranks
        time.sleep(0.01)
    return []


def _seconds_to_next_step(run: Path, started: subprocess.Popen, begun: float) -> float:
    """Until the processes have taken a step again, or ended."""
    time.sleep(0.05)  # a step that was under way
    size = _size(run)
    while started.poll() is None and _size(run) <= size:
        if tiny_run.num_steps(run) and _size(run) < size:
            size = _size(run)  # steps after the checkpoint were cut off
        time.sleep(0.01)
    return round(time.monotonic() - begun, 1)


def _size(run: Path) -> int:
    try:
        return (run / "metrics.jsonl").stat().st_size
    except OSError:
        return 0


def _resized(work: Path, name: str, chance: random.Random) -> dict[str, Any]:
    """2 processes, then 1, then 4."""
    run, seconds = work / name, []
    for size, step in ((2, chance.randint(5, STEPS // 3)), (1, chance.randint(STEPS // 2, STEPS - 40))):
        started = _start(work, name, size)
        while tiny_run.num_steps(run) < step and started.poll() is None:
            time.sleep(0.002)
        begun = time.monotonic()
        started.send_signal(signal.SIGTERM)
        started.wait(LONGEST)
        seconds.append(round(time.monotonic() - begun, 2))
        if tiny_run.saved_step(run) != tiny_run.num_steps(run):
            raise SystemExit(f"{run}: {size} processes were stopped, but their last step is not saved")
    _finish(_start(work, name, 4))
    steps = [step for step, *_ in _losses(run)]
    apart = _farthest(run, work / "one")
    good = steps == list(range(1, STEPS + 1)) and apart <= RELATIVE and _streams(run) == _streams(work / "one")
    found = {"good": good, "apart": apart, "seconds": seconds}
    print(f"{name}: {found}", flush=True)
    return found


def _start(work: Path, name: str, size: int, *, restarts: int = 0) -> subprocess.Popen:
    """The same command every time; with one process it is no other than without torchrun."""
    command = ["-m", "elmo", "pretrain", str(work / "tiny.toml"), "--data", str(work / "data"), "--device", "cpu"]
    command += ["-o", str(work / name), "--quiet", "--resume-if-begun"]
    if size > 1:
        launch = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={size}"]
        command = [*launch, f"--max-restarts={restarts}", "--monitor-interval=0.1", *command]
    paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "OMP_NUM_THREADS": "1"}
    with (work / "stderr.txt").open("a") as errors:
        return subprocess.Popen([sys.executable, *command], stdout=errors, stderr=errors, env=environment)


def _finish(started: subprocess.Popen) -> None:
    if (code := started.wait(LONGEST)) != 0:
        raise SystemExit(f"a run that nobody stopped ended with {code}")


def _losses(run: Path) -> list[tuple[int, float]]:
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    return [(line["step"], line["loss"]) for line in lines if "loss" in line]


def _farthest(one: Path, other: Path) -> float:
    pairs = zip(_losses(one), _losses(other), strict=True)
    return max(abs(first - second) / second for (_, first), (_, second) in pairs)


def _streams(run: Path) -> dict[str, Any]:
    latest = (run / "checkpoints" / "latest").read_text(encoding="utf-8").strip()
    return json.loads((run / "checkpoints" / latest / "progress.json").read_text(encoding="utf-8"))


def _spread(seconds: list[float]) -> str:
    ordered = sorted(seconds)
    return f"{ordered[0]} to {ordered[-1]}, median {ordered[len(ordered) // 2]}" if ordered else "-"


if __name__ == "__main__":
    raise SystemExit(main())
