"""What a training of a task costs: CPU seconds of a step and memory, without and with ELMo, and so of all its epochs.

    python benchmarks/tasks/task_steps.py configs/tasks/srl.toml --train TRAIN --dev DEV --steps 12
    python benchmarks/tasks/task_steps.py configs/tasks/srl-paper.toml --train TRAIN --model original --static-dim 100

Batches are drawn from a whole epoch's, evenly by their size, and one step before them isn't counted. The biLM's layers
are computed beforehand, as in a training, and are a line of their own: a training computes them once. The task follows
from the name of the configuration. Static vectors are random numbers: they cost what others cost. `--model original` is
a biLM of the published size with random weights.
"""

import math
import statistics
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # what the rooms share

import numpy as np
import torch
from peak_memory import peak_memory
from record import Record, Table, parser
from speed import random_bilm
from torch import nn

from elmo.config import PUBLISHED_SIZES
from elmo.static.vectors import StaticVectors
from elmo.tasks.registry import BUILT_IN, AnyTask, find
from elmo.tasks.settings import with_table
from elmo.tasks.tokens.frozen_layers import FrozenLayers, find_encoder
from elmo.tasks.tokens.representation import TokenSources
from elmo.tasks.train.batches import BatchLimits, limits_of, shuffled_batches, sorted_batches
from elmo.tasks.train.job import Files, Job
from elmo.tasks.train.optimizers import make_optimizer
from elmo.tasks.train.task_data import TaskData, read_data
from elmo.tasks.train.train import new_model


@dataclass(frozen=True)
class Cost:
    """Of one arm; CPU seconds."""

    step: float
    """Mean of a training step over the batches measured."""
    steps: int
    """Steps of an epoch."""
    scoring: float
    """Scoring the dev data once, predictions and loss, extrapolated."""
    layers: float
    """The biLM's layers of all data, once, extrapolated; 0 without one."""
    parameters: int
    """Trained weights."""

    def minutes(self, epochs: int) -> float:
        """A training of so many epochs, without the layers."""
        return epochs * (self.step * self.steps + self.scoring) / 60


def main() -> int:
    """Measures and writes the record."""
    given = _arguments()
    torch.set_num_threads(given.threads)
    task = find(next(name for name in BUILT_IN if given.config.stem.startswith(name)))
    settings = _settings(given, task)
    data = read_data(task, settings, Files(given.train, given.dev))
    rows = []
    for encoder in given.encoders:
        arm = replace(settings, tokens=replace(settings.tokens, encoder=encoder))
        cost = _cost(Job(task, arm, Files(given.train, given.dev), Path("unused")), data, given)
        rows.append(_row("+ ELMo" if encoder == "elmo" else "baseline", cost, arm.fit.epochs))
    Record(
        f"task-steps-{given.config.stem}",
        f"What a training of {given.config.stem} costs",
        [Table(("", "weights", "CPU s a step", "steps an epoch", "CPU s to score dev", "CPU min of layers, once",
                "epochs", "CPU min a training", "memory, MB"), rows)],
        "Means over a few batches spread over all sizes; other programs were running if the load says so.",
        {"training examples": f"{len(data.train):,} (share {settings.fit.train_share:g})", "dev": len(data.dev),
         "model": given.model or "the bundled one", "threads": given.threads},
    ).write(given.results)  # fmt: skip
    return 0


def _arguments() -> Any:
    arguments = parser(__doc__)
    arguments.add_argument("config", type=Path)
    arguments.add_argument("--train", type=Path, required=True)
    arguments.add_argument("--dev", type=Path)
    arguments.add_argument("--model", default="", help=f"name, folder, or random weights: {', '.join(PUBLISHED_SIZES)}")
    arguments.add_argument("--static-dim", type=int, default=100, help="of random static vectors; 0: none")
    arguments.add_argument("--encoders", nargs="+", choices=("none", "elmo"), default=["none", "elmo"])
    arguments.add_argument("--steps", type=int, default=8)
    arguments.add_argument("--scored", type=int, default=32, help="dev examples that are scored")
    arguments.add_argument("--threads", type=int, default=1)
    arguments.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="settings, beside the file's")
    return arguments.parse_args()


def _settings(given: Any, task: AnyTask) -> Any:
    values = tomllib.loads(given.config.read_text(encoding="utf-8"))
    values |= tomllib.loads("\n".join(given.set)) | {"device": "cpu"}
    values |= {"static": ["random"] if given.static_dim else []}
    return with_table(task.settings(), values, str(given.config))


def _cost(job: Any, data: TaskData[Any], given: Any) -> Cost:
    settings, task = job.settings, job.task
    with tempfile.TemporaryDirectory() as name:
        sources = _sources(job, data, given, Path(name))
        limits = limits_of(settings.fit, task).in_training(len(data.train), settings.fit.least_batches)
        batches = shuffled_batches([task.size(one) for one in data.train], limits, 1, 0)
        steps = len(batches)
        drawn = [[task.drawn(data.train[place], np.random.default_rng(number)) for place in batch]
                 for number, batch in enumerate(_spread(batches, given.steps + 1))]  # fmt: skip
        scored = [data.dev[place] for place in np.linspace(0, len(data.dev) - 1, given.scored).astype(int)]
        layers, frozen = 0.0, sources.frozen
        if frozen is not None:
            wanted = list(task.sentences_of(*drawn, scored))
            began = time.process_time()
            frozen.remember(wanted)
            distinct = {tuple(one) for one in wanted}
            all_of_them = {tuple(one) for one in task.sentences_of(data.train, data.dev)}
            layers = (time.process_time() - began) * sum(map(len, all_of_them)) / sum(map(len, distinct))
        torch.manual_seed(1)
        model = new_model(job, data.vocabulary, sources)
        seconds = list(_steps(model, settings, drawn))[1:]
        began = time.process_time()
        _score(model, task, scored, settings)
        scoring = (time.process_time() - began) * len(data.dev) / len(scored)
    trained = sum(one.numel() for one in model.parameters() if one.requires_grad)
    return Cost(statistics.fmean(seconds), steps * settings.fit.epoch_passes, scoring, layers, trained)


def _sources(job: Any, data: TaskData[Any], given: Any, cache: Path) -> TokenSources:
    tokens = job.settings.tokens
    frozen: FrozenLayers | None = None
    if tokens.encoder == "elmo":
        made = given.model in PUBLISHED_SIZES
        encoder = random_bilm(given.model) if made else find_encoder("elmo", given.model, device="cpu")
        frozen = FrozenLayers(encoder, cache=cache)
    if not given.static_dim:
        return TokenSources(frozen)
    words = sorted({word for sentence in job.task.sentences_of(*data.parts()) for word in sentence})
    vectors = np.random.default_rng(0).standard_normal((len(words), given.static_dim), np.float32)
    static = {name: StaticVectors(tuple(words), vectors) for name in tokens.static_files}
    return TokenSources(frozen, static, words)


def _spread(batches: Sequence[np.ndarray], count: int) -> list[np.ndarray]:
    """`count` batches, evenly from the whole epoch, which is in random order."""
    return [batches[place] for place in np.linspace(0, len(batches) - 1, count).astype(int)]


def _steps(model: Any, settings: Any, batches: Sequence[list[Any]]) -> Iterator[float]:
    """CPU seconds of each training step."""
    optimizer = make_optimizer(settings.fit, model)
    parameters = [one for one in model.parameters() if one.requires_grad]
    model.train()
    for batch in batches:
        began = time.process_time()
        optimizer.zero_grad(set_to_none=True)
        (model.loss(batch) + model.tokens.penalty()).backward()
        nn.utils.clip_grad_norm_(parameters, settings.fit.clip_norm or math.inf)
        optimizer.step()
        yield time.process_time() - began


@torch.no_grad()
def _score(model: Any, task: AnyTask, examples: Sequence[Any], settings: Any) -> None:
    model.eval()
    limits = BatchLimits(settings.fit.batch_size, settings.fit.batch_tokens)
    for batch in sorted_batches([task.size(one) for one in examples], limits):
        chosen = [examples[place] for place in batch]
        outputs = model(chosen)
        model.decide([outputs], chosen)
        model.held_out_loss_of(outputs, chosen)


def _row(name: str, cost: Cost, epochs: int) -> list[object]:
    seconds = [f"{cost.step:.2f}", cost.steps, f"{cost.scoring:.0f}", f"{cost.layers / 60:.1f}"]
    memory = f"{peak_memory() / 1e6:,.0f}"
    return [name, f"{cost.parameters:,}", *seconds, epochs, f"{cost.minutes(epochs):.1f}", memory]


if __name__ == "__main__":
    sys.exit(main())
