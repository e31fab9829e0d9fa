"""A training that ends by the clock, for a machine with a GPU that is lent for some minutes.

    python runs/gpu/run.py RECIPE.toml TEXT WORK OUT --seconds 540 [--device cuda]

TEXT has the sets that the recipe names, WORK is a folder for everything that is made, and OUT gets what is kept, in
files of at most 16 MiB: the model, the curves and report.json. In turn: the text is mixed and prepared; three learning
rates are tried for --trial seconds each, and the one with the lowest validation perplexity is taken; then the training
runs, with as many steps as the measured speed allows; the mean of old and new weights is taken if that is better on
validation text; and the model is written. If the machine is slower than measured, the training is stopped in time and
its newest checkpoint is the model. Every step that is done is kept: the same command goes on after an interruption.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
import time
import tomllib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

TOOLS = Path(__file__).resolve().parents[1] / "model_tools"
PIECE = 16 << 20
MOST_PIECES = 7  # and report.json
RESERVE = 45  # seconds for the last evaluations and the writing
START = 30  # seconds at most before a trial's first steps


class Clock:
    """Seconds since the start, those that are left, and what each step took."""

    def __init__(self, seconds: float) -> None:
        self.began, self.seconds = time.monotonic(), seconds
        self.steps: dict[str, float] = {}

    @property
    def left(self) -> float:
        return self.seconds - (time.monotonic() - self.began)

    def note(self, step: str, began: float) -> None:
        self.steps[step] = round(time.monotonic() - began, 1)
        print(f"{step}: {self.steps[step]} s, {self.left:.0f} s left", file=sys.stderr, flush=True)


def main(given: Sequence[str] | None = None) -> int:
    """0: a model is in OUT; 2: something is missing."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    for name in ("recipe", "text", "work", "out"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--seconds", type=float, default=540)
    parser.add_argument("--trial", type=float, default=20)
    parser.add_argument("--sentences", type=int, default=800, help="validation sentences of an evaluation")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    options = parser.parse_args(given)
    recipe = tomllib.loads(options.recipe.read_text(encoding="utf-8"))
    if problem := why_not(options, recipe):
        print(f"run.py: {problem}", file=sys.stderr)
        return 2
    if (options.text / "start").is_dir() and "start" in recipe:  # brought along
        recipe["start"] = str(options.text / "start")
    clock = Clock(options.seconds)
    options.work.mkdir(parents=True, exist_ok=True)
    options.out.mkdir(parents=True, exist_ok=True)
    report: dict[str, Any] = {"recipe": recipe, "seconds": options.seconds, "started": time.strftime("%F %T")}
    try:
        data = prepared(options, recipe, clock)
        rate, report["trials"] = best_rate(options, recipe, data, clock)
        model, report["training"] = trained(options, recipe, data, rate, report["trials"][str(rate)], clock)
        chosen, report["averages"] = averaged(options, recipe, model, clock)
        kept(options, chosen, clock)
    finally:
        report["steps"] = clock.steps
        (options.out / "report.json").write_text(json.dumps(report, indent=1), encoding="utf-8")
    return 0


def why_not(options: argparse.Namespace, recipe: dict[str, Any]) -> str | None:
    """What keeps the run from being begun, in a sentence."""
    for name in dict.fromkeys(recipe["sets"]):
        if not any((options.text / name / f"train.txt{ending}").is_file() for ending in ("", ".xz")):
            return f"{options.text / name} has no train.txt or train.txt.xz. Bring the text there first (README.md)."
    if options.device == "cuda":
        import torch

        if not torch.cuda.is_available():
            return "torch finds no GPU here. Use --device cpu for a rehearsal."
    if options.seconds < 3 * options.trial + RESERVE:
        return f"{options.seconds:.0f} seconds are too few for three trials and the writing. Give --seconds more."
    return None


def prepared(options: argparse.Namespace, recipe: dict[str, Any], clock: Clock) -> Path:
    """The folder of training data; WORK/valid.txt is a sample of the validation text."""
    from elmo.text.files.text_file import opened

    data, text = options.work / "data", options.work / "train.txt"
    began, lines = time.monotonic(), []
    for path in recipe["valid"]:
        with opened(options.text / path) as (_, content):
            lines += content.read().decode("utf-8").splitlines()
    sample = lines[:: max(1, len(lines) // options.sentences)]
    (options.work / "valid.txt").write_text("".join(f"{line}\n" for line in sample), encoding="utf-8")
    if not text.exists():
        sets = [str(options.text / name) for name in recipe["sets"]]
        tool("mix_corpora.py", text, *sets, *(f"--share={share}" for share in recipe["shares"]))
    clock.note("unpack and mix", began)
    began = time.monotonic()
    if not data.exists():
        valid = [str(options.text / path) for path in recipe["valid"]]
        words = ["--vocabulary", recipe["start"]] if "start" in recipe else recipe["vocabulary"]
        elmo("prepare", text, "--valid", *valid, *words, "-o", data, "--workers", os.cpu_count(), "--quiet",
             *(["--resume"] if Path(f"{data}.partial").exists() else []))  # fmt: skip
    clock.note("prepare", began)
    return data


def best_rate(
    options: argparse.Namespace, recipe: dict[str, Any], data: Path, clock: Clock
) -> tuple[float, dict[str, dict[str, float]]]:
    """The learning rate with the lowest validation perplexity after a trial, and what each trial found."""
    found: dict[str, dict[str, float]] = {}
    for rate in recipe["rates"]:
        began = time.monotonic()
        run = options.work / f"trial-{rate}"
        shutil.rmtree(run, ignore_errors=True)
        train_until(options, recipe, data, run, options.trial, START, learning_rate=rate, decay="none")
        found[str(rate)] = {**speed(run), "perplexity": perplexity(options, newest(run))}
        clock.note(f"trial of {rate}", began)
    return min(recipe["rates"], key=lambda rate: found[str(rate)]["perplexity"]), found


def trained(
    options: argparse.Namespace,
    recipe: dict[str, Any],
    data: Path,
    rate: float,
    measured: dict[str, float],
    clock: Clock,
) -> tuple[Path, dict[str, Any]]:
    """The model after as many steps as there is time for."""
    began = time.monotonic()
    run = options.work / "run"
    seconds = clock.left - RESERVE
    steps = max(2, int(0.97 * seconds * measured["steps_per_second"]))
    train_until(options, recipe, data, run, seconds, 0, learning_rate=rate, decay="linear", max_steps=steps)
    clock.note("training", began)
    return newest(run), {"rate": rate, "planned_steps": steps, **speed(run)}


def averaged(
    options: argparse.Namespace, recipe: dict[str, Any], model: Path, clock: Clock
) -> tuple[Path, dict[str, float]]:
    """The model or a mean of it with the start, whichever is better on validation text."""
    began = time.monotonic()
    choices = {"1": model}
    for share in recipe.get("averages", []):
        if clock.left < RESERVE / 2:
            break
        choices[str(share)] = options.work / f"mean-{share}"
        shutil.rmtree(choices[str(share)], ignore_errors=True)
        tool("average_models.py", recipe["start"], model, choices[str(share)], "--share", share)
    found = {share: perplexity(options, one) for share, one in choices.items()}
    clock.note("averages", began)
    return choices[min(found, key=lambda share: found[share])], found


def kept(options: argparse.Namespace, model: Path, clock: Clock) -> None:
    """The model and the curves in OUT, in pieces; `cat model.tar.* | tar x` joins them."""
    began = time.monotonic()
    shipped = options.work / "model"
    shutil.rmtree(shipped, ignore_errors=True)
    tool("ship_model.py", model, shipped, options.work / "train.txt")
    archive = options.work / "model.tar"
    with tarfile.open(archive, "w") as tar:
        tar.add(shipped, "model")
        for path in sorted((options.work / "run").glob("*.json*")):
            tar.add(path, f"run/{path.name}")
    content = archive.read_bytes()
    pieces = [content[at : at + PIECE] for at in range(0, len(content), PIECE)]
    if len(pieces) > MOST_PIECES:
        raise SystemExit(f"run.py: the model has {len(content):,} bytes, too many for {MOST_PIECES} files of 16 MiB.")
    for number, piece in enumerate(pieces):
        (options.out / f"model.tar.{number}").write_bytes(piece)
    clock.note("written", began)


def train_until(
    options: argparse.Namespace,
    recipe: dict[str, Any],
    data: Path,
    run: Path,
    seconds: float,
    start: float,
    **settings: Any,
) -> None:
    """Trains for so long, and `start` seconds more before the first steps; what is done by then is a checkpoint."""
    from elmo.corpus.shards import TrainingData
    from elmo.errors import Interrupted
    from elmo.pretrain.ranks.distributed import joined
    from elmo.pretrain.run.training import train
    from elmo.pretrain.settings.config import PretrainConfig
    from elmo.pretrain.settings.finetune_config import FinetuneConfig

    config_of = partial(FinetuneConfig, comparison_sentences=100) if "start" in recipe else PretrainConfig
    config = config_of(
        epochs=1000.0, save_every=500, evaluate_every=0, evaluation_sentences=options.sentences, log_every=5,
        keep_checkpoints=1, **recipe["training"], **settings,
    )  # fmt: skip
    began, is_over = time.monotonic(), threading.Event()

    def stop() -> None:
        """Ends the training `seconds` after its first steps, or `start` seconds later at the latest."""
        latest = began + start + seconds
        while not has_steps(run) and time.monotonic() < latest - seconds and not is_over.wait(0.1):
            pass
        if not is_over.wait(min(seconds, latest - time.monotonic())):
            os.kill(os.getpid(), signal.SIGTERM)

    watch = threading.Thread(target=stop, daemon=True)
    try:
        with joined(options.device) as ranks:
            watch.start()
            train(TrainingData.open(data), run, config, model=recipe.get("start"), ranks=ranks)
    except Interrupted:
        pass  # by the clock
    finally:
        is_over.set()


def has_steps(run: Path) -> bool:
    """Whether the run has told of steps."""
    path = run / "metrics.jsonl"
    return path.is_file() and '"loss"' in path.read_text(encoding="utf-8")


def newest(run: Path) -> Path:
    """The model of a run: the finished one, or that of its newest checkpoint."""
    if (run / "model" / "config.json").is_file():
        return run / "model"
    checkpoints = sorted((run / "checkpoints").glob("step-*"), key=lambda path: path.stat().st_mtime)
    if not checkpoints:
        raise SystemExit(f"run.py: {run} has no checkpoint: its seconds ended before the first step. Give more.")
    return checkpoints[-1] / "model"


def speed(run: Path) -> dict[str, float]:
    """Steps, tokens and their rates, from the run's metrics."""
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    steps = [row for row in rows if "loss" in row or "forward_loss" in row]
    if not steps:
        raise SystemExit(f"run.py: {run} has no step in its metrics: its seconds ended before five steps. Give more.")
    last = steps[-1]
    rates = [row["tokens_per_second"] for row in steps[len(steps) // 2 :]]
    per_second = sorted(rates)[len(rates) // 2]
    return {
        "steps": last["step"],
        "tokens": last["tokens_read"],
        "tokens_per_second": per_second,
        "steps_per_second": per_second * last["step"] / last["tokens_read"],
    }


def perplexity(options: argparse.Namespace, model: Path) -> float:
    """The mean of both directions on a sample of the validation text."""
    command = ["perplexity", model, options.work / "valid.txt", "--json", "--quiet", "--device", options.device]
    return json.loads(elmo(*command))["mean_perplexity"]


def elmo(*command: Any) -> str:
    """Runs a verb; what it prints."""
    given = [sys.executable, "-m", "elmo", *map(str, command)]
    return subprocess.run(given, check=True, stdout=subprocess.PIPE, text=True).stdout


def tool(name: str, *arguments: Any) -> None:
    """Runs one of runs/model_tools."""
    subprocess.run([sys.executable, str(TOOLS / name), *map(str, arguments)], check=True)


if __name__ == "__main__":
    sys.exit(main())
