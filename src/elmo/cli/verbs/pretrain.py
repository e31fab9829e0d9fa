"""`elmo pretrain`: prepared data -> a trained biLM."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from elmo.cli.arguments import parsed
from elmo.cli.arguments.given_options import refuse_ignored
from elmo.cli.early_checks import As
from elmo.cli.ranks import joined
from elmo.cli.report import print_report
from elmo.disk.json_file import read_json, read_toml
from elmo.errors import ConfigError
from elmo.pretrain.settings.config import PretrainConfig
from elmo.process.device import Device
from elmo.process.resources import keep_freed_memory
from elmo.process.stop_flag import StopFlag, stop_flag

if TYPE_CHECKING:
    from elmo.pretrain.ranks.distributed import Ranks
    from elmo.pretrain.run.run_folder import RunFolder


@dataclass(frozen=True)
class Arguments:
    """Train a biLM on data that 'elmo prepare' made. Every setting is a flag; the defaults are the paper's recipe, or
    the values in the TOML file. Ctrl-C and SIGTERM save everything; --resume continues from there. For several
    processes on one machine or many: torchrun --nproc-per-node=2 -m elmo pretrain ..."""

    data: Annotated[Path, As("prepared data")]
    """Folder that 'elmo prepare' made."""
    output: Annotated[Path, As("run folder"), tyro.conf.arg(aliases=["-o"], metavar="RUN")]
    """Folder of the run: metrics, checkpoints and the finished model."""
    config: Annotated[Path | None, tyro.conf.Positional, tyro.conf.arg(metavar="[CONFIG.toml]")] = None
    """TOML file of settings; flags override it."""
    resume: tyro.conf.FlagCreatePairsOff[bool] = False
    """Continue the run in the output folder with its own settings, unless others are given; these also apply to later
    resumptions."""
    resume_if_begun: tyro.conf.FlagCreatePairsOff[bool] = False
    """Continue the run in the output folder if there is one, and start it otherwise: the same command for every
    start."""
    device: Device = "auto"
    """Where to compute. auto: on a GPU if there is one."""
    deterministic: tyro.conf.FlagCreatePairsOff[bool] = False
    """On a GPU, use only operations whose results are the same bit for bit every time; on a CPU, all are."""
    peer_timeout: float = 600.0
    """With several processes: seconds after which a process that doesn't answer counts as lost, which ends the run."""
    log: Literal["files", "tensorboard"] = "files"
    """tensorboard: also write the curves for TensorBoard, in addition to metrics.jsonl and log.txt."""
    json: tyro.conf.FlagCreatePairsOff[bool] = False
    """Print the result as JSON."""
    quiet: tyro.conf.FlagCreatePairsOff[bool] = False
    """No progress."""
    recipe: Annotated[PretrainConfig, tyro.conf.arg(name="")] = field(default_factory=PretrainConfig)


def main(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    with stop_flag() as flag:  # from the first line on: a signal while data are opened is one, too
        # The files whose settings are the defaults of the flags are themselves named by flags: so twice.
        arguments = _parsed(argv, PretrainConfig(), is_complete=False)
        _require_one_start(arguments)
        if not _may_resume(arguments):
            arguments = _parsed(argv, _defaults(arguments, None))
        keep_freed_memory()
        with joined(arguments.device, arguments.deterministic, arguments.peer_timeout) as ranks:
            return _run(argv, arguments, ranks, flag)


def _run(argv: list[str], arguments: Arguments, ranks: "Ranks", flag: StopFlag) -> int:
    # Here, so that --help does not wait for torch.
    from elmo.corpus.shards import TrainingData
    from elmo.pretrain.run import loop
    from elmo.pretrain.run.loop import beginning
    from elmo.pretrain.run.run_folder import RunFolder

    run = RunFolder(arguments.output)
    # The first rank looks for all: another one could already see what it begins.
    resumes = arguments.resume or (arguments.resume_if_begun and ranks.on_first(lambda: run.is_begun))
    if _may_resume(arguments):
        arguments = _parsed(argv, _defaults(arguments, run if resumes else None))
    with beginning(ranks, flag):
        data = TrainingData.open(arguments.data)
    watching: dict[str, Any] = {"ranks": ranks, "progress": not arguments.quiet, "log_to": arguments.log}
    if resumes:
        model = loop.resume(data, arguments.output, config=arguments.recipe, **watching)
    else:
        model = loop.pretrain(arguments.recipe, data, arguments.output, **watching)
    if ranks.is_first:
        _report(model, arguments)
    return 0


def _report(model: Path, arguments: Arguments) -> None:
    metadata = read_json(model / "config.json")["metadata"]
    text = "\n".join([f"{model}: the model is finished", *(f"{name:26} {fact}" for name, fact in metadata.items())])
    print_report({"model": str(model), **metadata}, text, as_json=arguments.json, quiet=arguments.quiet)


def _may_resume(arguments: Arguments) -> bool:
    """Whether the settings may be those of a run on disk, which nobody reads before the ranks are together."""
    return arguments.resume or arguments.resume_if_begun


def _require_one_start(arguments: Arguments) -> None:
    if arguments.resume and arguments.resume_if_begun:
        raise ConfigError(
            "--resume was given together with --resume-if-begun, which starts a run where there is none. Give one of "
            "them."
        )


def _parsed(argv: list[str], recipe: PretrainConfig, *, is_complete: bool = True) -> Arguments:
    """The arguments, with `recipe` where no flag says otherwise; `is_complete`: whether it has all that files say."""
    return parsed(
        Arguments,
        argv,
        "pretrain",
        flag_pairs=True,
        default=Arguments(data=tyro.MISSING, output=tyro.MISSING, recipe=recipe),
        checks_values=is_complete,
        require_sense=_require_heeded if is_complete else None,
    )


def _require_heeded(arguments: Arguments, given: list[str]) -> None:
    """ConfigError for settings that others switch off."""
    recipe = arguments.recipe
    of_characters = "--filters", "--character-dim", "--num-highway", "--activation"
    for is_heeded, options, switch in (
        (recipe.softmax == "sampled", ["--num-negative-samples"], "--softmax sampled"),
        (recipe.softmax == "adaptive", ["--softmax-divisor"], "--softmax adaptive"),
        (recipe.on_nan == "skip", ["--max-skipped-steps"], "--on-nan skip"),
        (recipe.characters == "dictionary", ["--max-character-dictionary"], "--characters dictionary"),
        (recipe.characters != "none", of_characters, "--characters bytes"),
    ):
        if not is_heeded:
            refuse_ignored(given, options, f"without {switch}", "add it")


def _defaults(arguments: Arguments, resumed: "RunFolder | None") -> PretrainConfig:
    """The settings where no flag says otherwise: the paper's, the resumed run's, the TOML file's, in this order."""
    settings: dict[str, Any] = {}
    source = "the recipe"
    if resumed is not None:
        resumed.require_begun()
        settings = asdict(resumed.config())
    if arguments.config is not None:
        source = str(arguments.config)
        settings |= read_toml(arguments.config)
    return PretrainConfig.from_dict(settings, source)
