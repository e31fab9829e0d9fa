"""Reliability R3: SIGTERM in every stage saves, leaves with 75 (or 0, when it was done) within 30 s, and is resumed.

    python benchmarks/faults/stop_signals.py --times 40

The stages take turns; each time a random moment of the stage is chosen, as long as the stage lasted undisturbed:

    data build    `elmo prepare` with 1 and with 2 processes, from its first look at the text to the report
    warm-up       the first steps, in which the learning rate rises; the run's first checkpoint is not there yet
    training      any step after those
    evaluation    a perplexity on the validation text, in between or at the end
    final save    from the last step's checkpoint to the finished model

A signal before the stage's listener is there, or after the stage ended, tests nothing and is not counted. It passes if
nothing that was computed is lost (a stopped run's checkpoint is at its last logged step) and what `--resume` ends with
equals what an undisturbed run ends with, bit for bit.
"""

import hashlib
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

import tiny_run
from record import Record, Table, parser

import elmo.cli.verbs.prepare
from elmo.pretrain.run.loop import Loop
from elmo.pretrain.run.run_folder import RunFolder
from elmo.pretrain.step.trainer import Trainer

STAGES = ("data build", "warm-up", "training", "evaluation", "final save")
BEGIN, END = b"b", b"e"
LONGEST = 30.0
WARM_UP, STEPS = 60, 150  # the warm-up is long enough that a random moment falls into it
EVALUATIONS = 3
NUM_VALID = 2000  # an evaluation then lasts long enough to be hit on a busy machine, too


def main() -> int:
    """Runs the test and writes the record; exit code 1 if a run failed."""
    arguments = parser(__doc__)
    arguments.add_argument("--times", type=int, default=40)
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--megabytes", type=float, default=12, help="text of the data build")
    arguments.add_argument("--folder", help="where to work")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        work = Path(folder)
        tiny_run.write_data(work, random.Random(1), num_valid=NUM_VALID, warmup_steps=WARM_UP, max_steps=STEPS)
        _write_large(work / "large.txt", given.megabytes)
        lasts = _undisturbed(work, work / "whole")
        trainings = {stage: _Training(work, stage, work / "whole", lasts[stage]) for stage in STAGES[1:]}
        harm = {"data build": _DataBuild(work), **trainings}
        found = _take_turns(harm, given.times, random.Random(given.seed))
    rows = [_row(stage, [one for one in found if one["stage"] == stage]) for stage in STAGES]
    good = sum(one["good"] for one in found)
    columns = ["stage", "passed", "left with 75", "with 0", "otherwise", "slowest exit"]
    sentence = (
        f"{good} of {len(found)} runs saved and left within {LONGEST:.0f} s, with 75 or, when they were done, 0, and "
        "ended after --resume as if nothing had happened."
    )
    Record("fault-stop", "Faults: SIGTERM in every stage (R3)", [Table(columns, rows)], sentence).write(given.results)
    return 0 if good == len(found) else 1


def _take_turns(harm: "dict[str, _DataBuild | _Training]", times: int, chance: random.Random) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    index = 0
    while len(found) < times:
        stage = STAGES[len(found) % len(STAGES)]
        index += 1
        one = harm[stage].once(index, chance)
        if one is not None:
            found.append({"stage": stage, **one})
            print(f"{len(found)}/{times}: {found[-1]}", flush=True)
        elif index > 20 * times + 20:
            raise SystemExit(f"{stage}: its moment is missed again and again")
    return found


def _row(stage: str, found: list[dict[str, Any]]) -> list[object]:
    codes = [one["code"] for one in found]
    others = sorted({code for code in codes if code not in (0, tiny_run.RESUMABLE)})
    slowest = max((one["seconds"] for one in found), default=0.0)
    passed = f"{sum(one['good'] for one in found)} of {len(found)}"
    return [stage, passed, codes.count(tiny_run.RESUMABLE), codes.count(0), others or "-", f"{slowest:.2f} s"]


def _stopped(child: tiny_run.Child, lasts: float, chance: random.Random) -> tuple[int, float] | None:
    """The exit code and the seconds it took; None if the stage was over before its moment came."""
    heard = b""
    while BEGIN not in heard:
        if child.wait(0) is not None:
            return None
        heard += child.heard()
        time.sleep(0.0005)
    time.sleep(chance.random() * lasts)
    if END in heard[heard.index(BEGIN) :] + child.heard():
        os.kill(child.process, signal.SIGKILL)
        child.wait(60)
        return None
    os.kill(child.process, signal.SIGTERM)
    begun = time.monotonic()
    code = child.wait(2 * LONGEST)
    if code is None:
        raise SystemExit(f"still runs {2 * LONGEST:.0f} s after SIGTERM")
    if code == -signal.SIGTERM and END in child.heard():
        return None  # all was done, only the process had not ended yet
    return code, round(time.monotonic() - begun, 2)


def _durations(child: tiny_run.Child, marks: Sequence[bytes]) -> list[float]:
    """For each pair of marks, of begin and end: seconds from the first begin to the end after it, undisturbed."""
    begun: dict[int, float] = {}
    lasts: dict[int, float] = {}
    code, heard = None, b""
    while code is None or heard:
        code = child.wait(0.0005) if code is None else code
        heard = child.heard()
        for number, (begin, end) in enumerate(marks):
            if begin in heard:
                begun.setdefault(number, time.monotonic())
            if number in begun and end in heard:
                lasts.setdefault(number, time.monotonic() - begun[number])
    if code or len(lasts) < len(marks):
        raise SystemExit(f"an undisturbed run ended with {code}; {len(lasts)} of {len(marks)} stages were seen")
    return [lasts[number] for number in range(len(marks))]


def _undisturbed(work: Path, run: Path) -> dict[str, float]:
    """A training run that nobody stops: how long each of its stages lasts."""
    stages = list(_MEDDLE)
    marks = [bytes((2 * number, 2 * number + 1)) for number in range(len(stages))]

    def meddle(tell: tiny_run.Tell) -> None:
        for stage, (begin, end) in zip(stages, marks, strict=True):
            _MEDDLE[stage](1, lambda mark, own={BEGIN: begin, END: end}: tell(bytes([own[mark]])))

    lasts = _durations(tiny_run.start(work, run, meddle=meddle), marks)
    return dict(zip(stages, lasts, strict=True))


class _Training:
    """A run stopped in one of its stages."""

    def __init__(self, work: Path, stage: str, whole: Path, lasts: float) -> None:
        self.work, self.stage, self.whole, self.lasts = work, stage, whole, lasts

    def once(self, index: int, chance: random.Random) -> dict[str, Any] | None:
        """One run, stopped and resumed."""
        run = self.work / f"run-{index}"
        meddle = partial(_MEDDLE[self.stage], chance.randint(1, EVALUATIONS))
        stopped = _stopped(tiny_run.start(self.work, run, meddle=meddle), self.lasts, chance)
        if stopped is None:
            return None
        code, seconds = stopped
        kept = code == 0 or tiny_run.saved_step(run) == tiny_run.num_steps(run)
        fine = code in (0, tiny_run.RESUMABLE) and seconds <= LONGEST and kept
        if code:
            tiny_run.start(self.work, run, resume=(run / "config.json").is_file()).finish()
        good = fine and tiny_run.outcome(run) == tiny_run.outcome(self.whole)
        return {"good": good, "code": code, "seconds": seconds}


class _DataBuild:
    """`elmo prepare`, stopped."""

    def __init__(self, work: Path) -> None:
        self.work = work
        self.lasts = {
            workers: _durations(self._start(f"prepared-{workers}", workers), [BEGIN + END])[0] for workers in (1, 2)
        }

    def once(self, index: int, chance: random.Random) -> dict[str, Any] | None:
        """One build, stopped and resumed."""
        name, workers = f"data-{index}", chance.choice((1, 2))
        stopped = _stopped(self._start(name, workers), self.lasts[workers], chance)
        if stopped is None:
            return None
        code, seconds = stopped
        # Stopped, there is no data yet, only what --resume goes on with.
        fine = code == 0 or (code == tiny_run.RESUMABLE and not (self.work / name).exists())
        if code:
            self._start(name, workers, "--resume").finish()
        good = fine and seconds <= LONGEST and _content(self.work / name) == _content(self.work / "prepared-1")
        return {"good": good, "code": code, "seconds": seconds, "workers": workers}

    def _start(self, name: str, workers: int, *flags: str) -> tiny_run.Child:
        command = ["prepare", str(self.work / "large.txt"), "-o", str(self.work / name), "--workers", str(workers)]
        return tiny_run.fork([*command, "--quiet", *flags], self.work / "stderr.txt", _tell_prepare)


def _tell_prepare(tell: tiny_run.Tell) -> None:
    plain = elmo.cli.verbs.prepare.prepare

    def telling(*arguments: Any, **settings: Any) -> Any:
        tell(BEGIN)
        report = plain(*arguments, **settings)
        tell(END)
        return report

    elmo.cli.verbs.prepare.prepare = telling


def _around(owner: type, name: str, tell: tiny_run.Tell, begins: Callable, ends: Callable) -> None:
    """Has a method tell when it begins and ends, if `begins` and `ends` of its object and arguments say so."""
    plain = getattr(owner, name)

    def telling(self: Any, *arguments: Any, **settings: Any) -> Any:
        if begins(self, *arguments):
            tell(BEGIN)
        result = plain(self, *arguments, **settings)
        if ends(self, *arguments):
            tell(END)
        return result

    setattr(owner, name, telling)


def _never(*_: Any) -> bool:
    return False


def _in_warm_up(_: int, tell: tiny_run.Tell) -> None:
    begins, ends = (lambda t, *_: t.step_number == 0), (lambda t, *_: t.step_number == WARM_UP)
    _around(Trainer, "step", tell, begins, ends)


def _in_training(_: int, tell: tiny_run.Tell) -> None:
    begins, ends = (lambda t, *_: t.step_number == WARM_UP), (lambda t, *_: t.step_number == t.last_step)
    _around(Trainer, "step", tell, begins, ends)


def _in_evaluation(which: int, tell: tiny_run.Tell) -> None:
    count = iter(range(1, 1000))
    _around(Loop, "evaluate", tell, lambda *_: next(count) == which, lambda *_: True)


def _in_final_save(_: int, tell: tiny_run.Tell) -> None:
    _around(RunFolder, "save", tell, lambda _, trainer, *__: trainer.step_number == trainer.last_step, _never)
    _around(RunFolder, "finish", tell, _never, lambda *_: True)


_MEDDLE = {
    "warm-up": _in_warm_up,
    "training": _in_training,
    "evaluation": _in_evaluation,
    "final save": _in_final_save,
}


def _write_large(path: Path, megabytes: float) -> None:
    chance, words = random.Random(2), [f"{word}{number}" for word in tiny_run.WORDS for number in range(500)]
    with path.open("w", encoding="utf-8") as file:
        while file.tell() < megabytes * 1e6:
            file.write("".join(" ".join(chance.choices(words, k=20)) + "\n" for _ in range(1000)))


def _content(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


if __name__ == "__main__":
    raise SystemExit(main())
