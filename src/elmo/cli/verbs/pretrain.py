"""`elmo pretrain`: prepared data -> a trained biLM."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from elmo.cli.arguments import (
    DeviceOption,
    NoProgress,
    ReportAsJson,
    Switch,
    given_options,
    overridden,
    parsed,
)
from elmo.cli.output import print_report
from elmo.cli.verbs.perplexity import perplexity_table
from elmo.disk.json_file import read_json, read_toml
from elmo.errors import ElmoError, Interrupted
from elmo.pretrain.settings.config import PretrainConfig
from elmo.process.resources import keep_freed_memory
from elmo.process.stop_flag import stop_flag
from elmo.setting_checks import Must, require_types

if TYPE_CHECKING:
    from elmo.pretrain.ranks.distributed import Ranks
    from elmo.pretrain.run.run_folder import RunFolder

_WEEK = 7 * 86_400


@dataclass(frozen=True)
class Machine:
    """Where a training computes and what it reports."""

    device: DeviceOption = "auto"
    deterministic: Switch = False
    """On a GPU, use only operations whose results are the same bit for bit every time; on a CPU, all are."""
    peer_timeout: Annotated[float, Must("above 0 and at most a week", lambda it: 0 < it <= _WEEK)] = 600.0
    """With several processes (torchrun): seconds after which a process that doesn't answer counts as lost, which ends
    the run."""
    log: Literal["files", "tensorboard"] = "files"
    """tensorboard: also write the curves for TensorBoard, in addition to metrics.jsonl and log.txt."""
    json: ReportAsJson = False
    quiet: NoProgress = False

    def watching(self, ranks: "Ranks") -> dict[str, Any]:
        """The keywords of every training."""
        return {"ranks": ranks, "progress": not self.quiet, "log_to": self.log}


@dataclass(frozen=True)
class Arguments:
    """Train a biLM on data that 'elmo prepare' made. Every setting is a flag; the defaults are the paper's recipe, or
    the values in the TOML file. Ctrl-C and SIGTERM save everything; --resume continues from there. For several
    processes on one machine or many: torchrun --nproc-per-node=2 -m elmo pretrain ..."""

    data: Path
    """Folder that 'elmo prepare' made."""
    output: Annotated[Path, tyro.conf.arg(aliases=["-o"], metavar="RUN")]
    """Folder of the run: metrics, checkpoints and the finished model."""
    config: Annotated[Path | None, tyro.conf.Positional, tyro.conf.arg(metavar="[CONFIG.toml]")] = None
    """TOML file of settings; flags override it."""
    resume: Switch = False
    """Continue the run in the output folder with its own settings, unless others are given; these also apply to later
    resumptions."""
    resume_if_begun: Switch = False
    """Continue the run in the output folder if there is one, and start it otherwise: the same command for every
    start."""
    machine: Annotated[Machine, tyro.conf.arg(name="")] = field(default_factory=Machine)
    recipe: Annotated[PretrainConfig, tyro.conf.arg(name="")] = field(default_factory=PretrainConfig)


def main(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    with stop_flag() as flag:  # from the first line on: a signal while data are opened is one, too
        arguments = parsed(
            Arguments,
            argv,
            "pretrain",
            flag_pairs=True,
            default=Arguments(data=tyro.MISSING, output=tyro.MISSING),
            settings_later=True,
        )
        given, may_resume = given_options(argv), arguments.resume or arguments.resume_if_begun
        recipe = arguments.recipe
        if not may_resume:
            recipe = overridden(_beneath(arguments.config, None), recipe, given)
        keep_freed_memory()
        with joined(arguments.machine) as ranks:
            from elmo.corpus.shards import TrainingData
            from elmo.pretrain.run.loop import beginning
            from elmo.pretrain.run.run_folder import RunFolder
            from elmo.pretrain.run.training import train

            run = RunFolder(arguments.output, ranks)
            # The first rank looks for all: another one could already see what it begins.
            resumes = arguments.resume or (arguments.resume_if_begun and ranks.on_first(lambda: run.is_begun))
            if may_resume:  # nobody reads the settings of a run on disk before the ranks are together
                recipe = overridden(_beneath(arguments.config, run if resumes else None), recipe, given)
            with beginning(ranks, flag):
                data = TrainingData.open(arguments.data)
            watching = arguments.machine.watching(ranks)
            found = train(data, arguments.output, recipe, **watching)
            if ranks.is_first:
                _report(found.model, arguments.machine)
    return 0


def _beneath(config: Path | None, resumed: "RunFolder | None") -> PretrainConfig:
    """The settings that flags override: the paper's, the resumed run's, the TOML file's, in this order."""
    settings: dict[str, Any] = {}
    if resumed is not None:
        resumed.require_begun()
        settings = asdict(resumed.config())
    if config is not None:
        settings |= read_toml(config)
    return PretrainConfig.from_dict(settings, "the recipe" if config is None else str(config))


def _report(model: Path, machine: Machine) -> None:
    # A model's metadata are texts.
    figures = {name: _number(fact) for name, fact in read_json(model / "config.json")["metadata"].items()}
    valid = {name[len("valid_") :]: fact for name, fact in figures.items() if name.startswith("valid_")}
    valid = {name: fact for name, fact in valid.items() if not isinstance(fact, str)}
    lines = [f"{model}: the model is finished", "on the validation text:", perplexity_table(valid)]
    text = "\n".join([*(lines if valid else lines[:1]), f"next: elmo embed TEXT -o vectors.h5 --model {model}"])
    print_report({"model": str(model), **figures}, text, as_json=machine.json, quiet=machine.quiet)


def _number(fact: str) -> float | str:
    try:
        return json.loads(fact)
    except ValueError:  # "inf", which JSON has no number for
        return fact


@contextmanager
def joined(machine: Machine) -> "Iterator[Ranks]":
    """`distributed.joined`; the first rank alone reports an error of all ranks, any other error comes with its rank."""
    from elmo.pretrain.ranks import distributed
    from elmo.pretrain.step.trainer import TrainingDiverged

    require_types(machine)
    with distributed.joined(machine.device, deterministic=machine.deterministic, timeout=machine.peer_timeout) as ranks:
        try:
            yield ranks
        except (Interrupted, TrainingDiverged, distributed.FirstFailed) as error:
            if ranks.is_first:
                raise
            sys.exit(error.exit_code)
        except Exception as error:
            if ranks.size > 1:
                who = f"rank {ranks.rank} of {ranks.size}"
                if isinstance(error, ElmoError):
                    error.args = (f"{who}: {error}",)
                else:
                    print(f"{who}:", file=sys.stderr)
            raise
