"""A tiny training run that harm can be done to: its data, its recipe, a process of its own, and what it must end like.

CPU, one thread a direction, 300 steps of some milliseconds, everything switched on that takes part in a step. Processes
are forked from one that has imported all, so that random moments fall into the run and not into Python's imports.
"""

import json
import os
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import elmo.pretrain.run.loop  # noqa: F401 - once, for all the runs that are forked from here
from elmo.cli.main import main as elmo_command
from elmo.corpus.prepare import prepare
from elmo.corpus.settings import CorpusSettings
from elmo.pretrain.settings.config import PretrainConfig
from elmo.weights.checkpoint import content_hash
from elmo.weights.native.read import read

WORDS = ("the", "cat", "dog", "bank", "river", "money", "sat", "on", "of", "and", "went", "to", "café", "밥", ".")
RECIPE = {
    "cell-size": 16, "projection-size": 8, "character-dim": 4, "num-highway": 1, "batch-size": 4, "unroll-steps": 5,
    "num-negative-samples": 8, "epochs": 100, "max-steps": 300, "dropout": 0.1, "state-reset": 0.5, "log-every": 1,
    "save-every": 7, "evaluate-every": 50, "optimizer": "adamw", "learning-rate": 0.01, "warmup-steps": 10,
    "decay": "linear",
}  # fmt: skip
FILTERS = [[1, 4], [2, 4]]
RESUMABLE = 75

Tell = Callable[[bytes], object]


def settings(**changes: object) -> dict[str, object]:
    """The recipe as `PretrainConfig` names it."""
    return {**{key.replace("-", "_"): value for key, value in RECIPE.items()}, "filters": FILTERS, **changes}


def config(**changes: object) -> PretrainConfig:
    """The recipe, with changes."""
    return PretrainConfig.from_dict(settings(**changes), "the tiny recipe")


def write_data(work: Path, chance: random.Random, *, num_valid: int = 40, **changes: object) -> None:
    """A corpus of 300 sentences, prepared (WORK/data), and the recipe (WORK/tiny.toml)."""
    lines = [" ".join(chance.choices(WORDS, k=chance.randint(1, 12))) for _ in range(300)]
    (work / "train.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (work / "valid.txt").write_text("\n".join((lines * 8)[:num_valid]) + "\n", encoding="utf-8")
    prepare([work / "train.txt"], work / "data", CorpusSettings(tokens_per_shard=500), valid=[work / "valid.txt"])
    text = "\n".join(f"{key} = {json.dumps(value)}" for key, value in settings(**changes).items())
    (work / "tiny.toml").write_text(text + "\n", encoding="utf-8")


@dataclass(frozen=True)
class Child:
    """A forked process, and the pipe through which it tells where it is."""

    process: int
    told: int

    def wait(self, seconds: float) -> int | None:
        """The exit code, negative for a signal; None if the process still runs after so many seconds."""
        deadline = time.monotonic() + seconds
        while True:
            found, status = os.waitpid(self.process, os.WNOHANG)
            if found:
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() >= deadline:
                return None
            time.sleep(0.001)

    def finish(self) -> None:
        """SystemExit unless the run, which nobody stops, ends well."""
        if (code := self.wait(600)) != 0:
            raise SystemExit(f"a run that nobody stopped ended with {code}")

    def heard(self) -> bytes:
        """What the process has told since the last call."""
        try:
            return os.read(self.told, 1 << 16)
        except BlockingIOError:
            return b""


def fork(command: Sequence[str], errors: Path, meddle: Callable[[Tell], None] | None = None) -> Child:
    """Runs `elmo COMMAND` in a process of its own; `meddle` may change the package there first."""
    told, telling = os.pipe()
    os.set_blocking(told, False)
    process = os.fork()
    if process:
        os.close(telling)
        return Child(process, told)
    code = 70
    try:
        with errors.open("a") as opened:
            os.dup2(opened.fileno(), 2)
        if meddle is not None:
            meddle(lambda text: os.write(telling, text))
        code = elmo_command(list(command))
    finally:
        os._exit(code)


def start(work: Path, run: Path, *, resume: bool = False, meddle: Callable[[Tell], None] | None = None) -> Child:
    """A training run of WORK's data, from the beginning or from its last checkpoint."""
    source = ["--resume"] if resume else [str(work / "tiny.toml")]
    command = ["pretrain", *source, "--data", str(work / "data"), "-o", str(run), "--quiet"]
    return fork(command, work / "stderr.txt", meddle)


def num_steps(run: Path) -> int:
    """The last step that metrics.jsonl has, at most one object more than that."""
    try:
        return (run / "metrics.jsonl").read_bytes().count(b'"loss"')
    except OSError:
        return 0


def saved_step(run: Path) -> int | None:
    """The step of the checkpoint that `latest` names."""
    try:
        return int((run / "checkpoints" / "latest").read_text(encoding="utf-8").strip().removeprefix("step-"))
    except OSError:
        return None


def outcome(run: Path) -> tuple[list, str]:
    """What two equal runs share bit for bit: every logged loss and evaluation, and the finished model."""
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    kept = ("step", "loss", "losses", "evaluation", "mean_perplexity", "skipped")
    return [[line.get(name) for name in kept] for line in lines], content_hash(read(run / "model"))
