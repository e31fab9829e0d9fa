"""The loop around the steps: logging, evaluating, saving, and stopping when asked."""

import itertools
import math
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from tqdm import tqdm

from elmo.errors import Interrupted
from elmo.pretrain.config import PretrainConfig
from elmo.pretrain.perplexity import Perplexity, evaluate
from elmo.pretrain.run_folder import RunFolder
from elmo.pretrain.shards import TrainingData
from elmo.pretrain.trainer import Trainer


class StopFlag:
    """Raised by SIGTERM and Ctrl-C; the loop looks at it after each step. A second signal ends at once."""

    def __init__(self) -> None:
        self.signal: int | None = None

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """The signal handler."""
        if self.signal is not None:
            raise KeyboardInterrupt
        self.signal = number


@contextmanager
def stop_flag() -> Iterator[StopFlag]:
    """Listens for SIGTERM and Ctrl-C inside the block."""
    flag = StopFlag()
    before = {number: signal.signal(number, flag) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield flag
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def pretrain(config: PretrainConfig, data: TrainingData, path: Path, *, quiet: bool = False) -> Path:
    """Train from the beginning; the finished model's folder. Raises Interrupted when stopped, with all saved."""
    run = RunFolder.create(path, config, {"data": data.report})
    return _train(run, Trainer(config, data), quiet)


def resume(data: TrainingData, path: Path, *, config: PretrainConfig | None = None, quiet: bool = False) -> Path:
    """Go on from the newest checkpoint, bit for bit; `config` replaces the recipe (the architecture must be equal)."""
    run = RunFolder.existing(path)
    trainer = Trainer(config or run.config(), data)
    run.restore(trainer)
    return _train(run, trainer, quiet)


def _train(run: RunFolder, trainer: Trainer, quiet: bool) -> Path:
    config = trainer.config
    bar = tqdm(
        total=trainer.last_step, initial=trainer.step_number, unit="step", disable=quiet, file=sys.stderr, smoothing=0.05
    )
    clock, counted = time.perf_counter(), 0
    with stop_flag() as flag, bar:
        while trainer.step_number < trainer.last_step:
            result = trainer.step()
            counted += 1
            bar.update()
            if trainer.step_number % config.log_every == 0:
                speed = counted * trainer.tokens_per_step / (time.perf_counter() - clock)
                run.record(
                    step=trainer.step_number,
                    epoch=round(trainer.epoch, 5),
                    loss=result.loss,
                    losses=result.losses,
                    gradient_norm=result.gradient_norm,
                    learning_rate=result.learning_rate,
                    tokens_per_second=round(speed, 1),
                )
                bar.set_postfix_str(f"sampled loss {result.loss:.3f}, {speed:,.0f} tokens/s", refresh=False)
                clock, counted = time.perf_counter(), 0
            if config.evaluate_every and trainer.step_number % config.evaluate_every == 0:
                _evaluate(run, trainer, config.evaluation_sentences, bar)
            if trainer.step_number % config.save_every == 0 or flag.signal is not None:
                run.save(trainer, config.keep_checkpoints)
            if flag.signal is not None:
                raise Interrupted(
                    f"stopped at step {trainer.step_number} of {trainer.last_step} by signal {flag.signal}; everything "
                    f"is saved in {run.path}. Go on with --resume."
                )
    run.save(trainer, config.keep_checkpoints)
    perplexity = _evaluate(run, trainer, 0, bar)
    return run.finish(trainer, _metadata(trainer, perplexity))


def _evaluate(run: RunFolder, trainer: Trainer, limit: int, bar: Any) -> Perplexity | None:
    if "valid" not in trainer.data.splits:
        return None
    perplexity = evaluate(trainer.bilm, trainer.head, validation_sentences(trainer.data, limit))
    run.record(step=trainer.step_number, epoch=round(trainer.epoch, 5), evaluation="valid", **perplexity.to_dict())
    bar.write(
        f"step {trainer.step_number}: validation perplexity forward {perplexity.of('forward'):.2f}, "
        f"backward {perplexity.of('backward'):.2f}, mean {perplexity.of('mean'):.2f}",
        file=sys.stderr,
    )
    return perplexity


def validation_sentences(data: TrainingData, limit: int) -> Iterator[list[str]]:
    """The validation text's sentences, evenly picked if there are more than `limit` (0: all)."""
    types = data.types()
    total = data.num_sentences("valid")
    stride = math.ceil(total / limit) if limit else 1
    shards = ((shard, index) for shard in data.shards("valid") for index in range(shard.num_sentences))
    for shard, index in itertools.islice(shards, 0, None, stride):
        yield [types[token] for token in shard.sentence(index)]


def _metadata(trainer: Trainer, perplexity: Perplexity | None) -> dict[str, str]:
    facts = {"training_tokens": str(trainer.data.num_tokens("train")), "epochs": f"{trainer.epoch:.3f}"}
    if perplexity is not None:
        facts |= {f"valid_{key}": f"{value:.4g}" for key, value in perplexity.to_dict().items() if "perplex" in key}
    return facts
