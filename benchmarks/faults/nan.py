"""Reliability R6: a loss, a gradient or an input that is not a number stops the run, or is skipped, as it was told.

    python benchmarks/faults/nan.py --times 3

At a random step of a tiny run, in one direction, NaN or infinity is injected into

    loss        the sampled loss of that direction
    gradient    what flows back from that loss; the loss itself is a number
    data        the vector of one word that this window reads: the text's fault, so the rows of the stream are named

With --on-nan stop: exit code 1, the message names the step (for data also the stream and its rows), the state before
the step lies beside the checkpoints and can be loaded, the last checkpoint is what it was, and resumed without the
fault the run ends like one that never had it, bit for bit. With --on-nan skip: the run ends with 0, metrics.jsonl has
the step as skipped and no other, and the model's weights are numbers.
"""

import contextlib
import io
import json
import math
import random
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

import numpy as np
import tiny_run
import torch
from record import Record, Table, parser

import elmo.pretrain.step.direction
from elmo.cli.main import main as elmo_command
from elmo.corpus.shards import TrainingData
from elmo.pretrain.run.saved_training import restore_from
from elmo.pretrain.step.trainer import Trainer
from elmo.weights.native.read import read

KINDS = ("loss", "gradient", "data")
STEPS = 40


def main() -> int:
    """Runs the test and writes the record; exit code 1 if a case failed."""
    arguments = parser(__doc__)
    arguments.add_argument("--times", type=int, default=3, help="of each kind and setting")
    arguments.add_argument("--seed", type=int, default=0)
    given = arguments.parse_args()
    torch.set_num_threads(1)
    chance, found = random.Random(given.seed), []
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        tiny_run.write_data(work, random.Random(1), max_steps=STEPS, evaluate_every=0)
        assert _run(work, work / "whole")[0] == 0
        for index in range(given.times):
            for kind in KINDS:
                for setting in ("stop", "skip"):
                    one = _once(work, work / f"{kind}-{setting}-{index}", kind, setting, chance)
                    found.append({"kind": kind, "setting": setting, **one})
                    print(found[-1], flush=True)
    rows = []
    for kind in KINDS:
        for setting in ("stop", "skip"):
            own = [one["good"] for one in found if (one["kind"], one["setting"]) == (kind, setting)]
            rows.append([kind, setting, f"{sum(own)} of {len(own)}"])
    good = sum(one["good"] for one in found)
    sentence = (
        f"{good} of {len(found)} injected NaN and infinities stopped the run or were skipped, as the run was told."
    )
    tables = [Table(["injected into", "--on-nan", "passed"], rows)]
    Record("fault-nan", "Faults: values that are no numbers (R6)", tables, sentence).write(given.results)
    return 0 if good == len(found) else 1


def _run(work: Path, run: Path, *flags: str) -> tuple[int, str]:
    """`elmo pretrain` in this process: the exit code and what it told."""
    source = [] if "--resume" in flags else [str(work / "tiny.toml")]
    command = ["pretrain", *source, "--data", str(work / "data"), "-o", str(run), "--quiet", *flags]
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors):
        code = elmo_command(command)
    return code, errors.getvalue()


def _once(work: Path, run: Path, kind: str, setting: str, chance: random.Random) -> dict[str, Any]:
    step, bad = chance.randint(8, STEPS - 1), chance.choice((math.nan, math.inf))
    inject = {"loss": _bad_loss, "gradient": _bad_gradient, "data": _bad_data}[kind]
    with inject(step, bad, chance):
        code, message = _run(work, run, "--on-nan", setting)
    check = _stopped if setting == "stop" else _skipped
    return {"step": step, "value": bad, **check(work, run, kind, step, code, message)}


def _stopped(work: Path, run: Path, kind: str, step: int, code: int, message: str) -> dict[str, Any]:
    named = f"step {step}:" in message and (kind != "data" or bool(re.search(r"(forward|backward) \d", message)))
    kept = sorted(run.glob("checkpoints/*-before-nan"))
    trainer = Trainer(tiny_run.config(max_steps=STEPS), TrainingData.open(work / "data"))
    loaded = len(kept) == 1
    if loaded:
        restore_from(kept[0], trainer)
        loaded = trainer.step_number == step - 1
    resumed, _ = _run(work, run, "--resume")
    equal = resumed == 0 and tiny_run.outcome(run) == tiny_run.outcome(work / "whole")
    good = code == 1 and named and loaded and equal
    return {"good": good, "code": code, "named": named, "state_before": loaded, "resumed_equal": equal}


def _skipped(_: Path, run: Path, __: str, step: int, code: int, message: str) -> dict[str, Any]:
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    skipped = [line["step"] for line in lines if "skipped" in line]
    whole = code == 0 and all(np.isfinite(tensor).all() for tensor in read(run / "model").tensors.values())
    good = whole and skipped == [step]
    return {"good": good, "code": code, "skipped": skipped, "weights_are_numbers": whole, "told": message[:80]}


@contextlib.contextmanager
def _counting(step: int, changed: Callable[[Any], contextlib.AbstractContextManager]) -> Iterator[None]:
    """Runs the trainer's step number `step` inside `changed(trainer)`."""
    plain = Trainer.step

    def counted(self: Trainer, *arguments: Any) -> Any:
        with changed(self) if self.step_number == step - 1 else contextlib.nullcontext():
            return plain(self, *arguments)

    Trainer.step = counted
    try:
        yield
    finally:
        Trainer.step = plain


@contextlib.contextmanager
def _loss_is(change: Callable[[Any], Any], direction: str, trainer: Trainer) -> Iterator[None]:
    """One direction's sampled loss is changed; the other's is not."""
    plain, seed = elmo.pretrain.step.direction.learn, elmo.pretrain.step.direction.sampled_loss
    own = getattr(trainer.bilm, f"{direction}_lstm")
    state: dict[int, bool] = {}

    def learning(lstm: Any, *arguments: Any, **settings: Any) -> Any:
        import threading

        state[threading.get_ident()] = lstm is own
        return plain(lstm, *arguments, **settings)

    def losing(*arguments: Any) -> Any:
        import threading

        loss, leaves = seed(*arguments)
        return (change(loss) if state[threading.get_ident()] else loss), leaves

    import elmo.pretrain.step.trainer as place

    elmo.pretrain.step.direction.sampled_loss, place.learn = losing, learning
    try:
        yield
    finally:
        elmo.pretrain.step.direction.sampled_loss, place.learn = seed, plain


class _BadWayBack(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, loss: torch.Tensor, bad: float) -> torch.Tensor:
        ctx.bad = bad
        return loss.clone()

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        return torch.full_like(gradient, ctx.bad), None


def _bad_loss(step: int, bad: float, chance: random.Random) -> contextlib.AbstractContextManager:
    direction = chance.choice(("forward", "backward"))
    return _counting(step, lambda trainer: _loss_is(lambda loss: loss * bad, direction, trainer))


def _bad_gradient(step: int, bad: float, chance: random.Random) -> contextlib.AbstractContextManager:
    direction = chance.choice(("forward", "backward"))
    return _counting(step, lambda trainer: _loss_is(lambda loss: _BadWayBack.apply(loss, bad), direction, trainer))


@contextlib.contextmanager
def _bad_data(step: int, bad: float, chance: random.Random) -> Iterator[None]:
    """The token vector of one word that the step reads is `bad` from then on, until the step is over."""
    from elmo.model.bilm import BiLM

    plain, target = BiLM.token_vectors, []

    def vectors(self: BiLM, characters: Any, *others: Any) -> Any:
        found = plain(self, characters, *others)
        if not target:
            return found
        same = (characters.long() == target[0]).all(dim=-1)
        return torch.where(same[..., None], torch.full_like(found, bad), found)

    plain_step = Trainer.step

    def stepping(self: Trainer, *arguments: Any) -> Any:
        target.clear()
        if self.step_number == step - 1:
            target.append(self.type_ids.of_types(_word_of_next(self, chance))[0][0].long())
        return plain_step(self, *arguments)

    BiLM.token_vectors, Trainer.step = vectors, stepping
    try:
        yield
    finally:
        BiLM.token_vectors, Trainer.step = plain, plain_step


def _word_of_next(trainer: Trainer, chance: random.Random) -> np.ndarray:
    """A word, no boundary, of the window that comes next."""
    stream = trainer.streams[chance.choice(sorted(trainer.streams))]
    now = stream.position
    inputs = stream.next().inputs
    stream.seek(now)
    return np.array([chance.choice(sorted({int(number) for number in inputs.flat if number > 1}))])


if __name__ == "__main__":
    raise SystemExit(main())
