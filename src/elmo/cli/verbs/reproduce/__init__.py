"""`elmo reproduce`: the paper's tables and figures, on your own files."""

import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Generic, Literal

import tyro

from elmo.cli.arguments import parsed
from elmo.cli.early_checks import As
from elmo.cli.examples import examples_of
from elmo.cli.report import print_report
from elmo.cli.task_settings import settings_beneath
from elmo.errors import ConfigError
from elmo.process.resources import keep_freed_memory
from elmo.reproduce.layer_tables import LAYER_TABLES
from elmo.reproduce.systems import EXPERIMENTS
from elmo.tasks.registry import BUILT_IN, AnyTask, find
from elmo.tasks.settings import S


@dataclass(frozen=True)
class Arguments(Generic[S]):
    """Train every system of the table or figure with every seed, and compare them as the paper does. The folder gets a
    page with means, standard deviations, intervals and the paper's figures, a JSON record, and a picture. The
    experiment sets the settings that it compares; all others are those of the task. Ctrl-C and SIGTERM save everything;
    --resume continues."""

    train: Path
    """Labelled training data; .gz, .xz and .bz2 are unpacked."""
    output: Annotated[Path, As("kept folder"), tyro.conf.arg(aliases=["-o"], metavar="FOLDER")]
    """Folder for the results and trainings. Several experiments can use the same folder, one after the other; they then
    share the biLM's layers and all identical trainings."""
    settings: Annotated[S, tyro.conf.arg(name="")]
    config: Annotated[Path | None, tyro.conf.Positional, tyro.conf.arg(metavar="[CONFIG.toml]")] = None
    """TOML file of the task's settings; flags override it."""
    dev: Path | None = None
    """Labelled data for choosing the best epoch (default: a tenth of the training data, held out)."""
    test: Path | None = None
    """Labelled data to score once, at the end of each training."""
    seeds: tuple[int, ...] | None = None
    """Random seeds: each system is trained once with each. With a single seed, no claim is decided (default: 1 2 3, or
    the resumed ones)."""
    shares: tuple[float, ...] | None = None
    """figure1: percentages of the training data (default: those of 0.1 1 5 10 20 50 100 that are at least one example,
    or one group of examples, such as the questions about one article; or the resumed ones)."""
    bilms: Annotated[tuple[str, ...] | None, As("named model")] = None
    """bilms: names, folders or hub ids of two or more models, the first of which the others are compared with (default:
    the resumed ones)."""
    cache: Path | None = None
    """Folder for the biLM's layers, computed once for all trainings (default: in the output folder)."""
    cache_dtype: Literal["float32", "float16"] = "float32"
    """How the layers are stored."""
    keep_models: tyro.conf.FlagCreatePairsOff[bool] = False
    """Save every trained model too."""
    name: str | None = None
    """Name of the data set, for the page and the picture (default: the name of the training file's folder, or the
    resumed one)."""
    workers: int = 1
    """Number of systems to train at the same time, each in its own process with its share of the threads."""
    resume: tyro.conf.FlagCreatePairsOff[bool] = False
    """Continue in the output folder with its own settings, unless a settings file is given; nothing is trained
    twice."""
    json: tyro.conf.FlagCreatePairsOff[bool] = False
    """Print the results as JSON."""
    quiet: tyro.conf.FlagCreatePairsOff[bool] = False
    """No progress and no page."""


def main(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    asks_for_help = argv[:1] in ([], ["-h"], ["--help"]) or (
        argv[0] in EXPERIMENTS and argv[1:2] in ([], ["-h"], ["--help"])
    )
    if asks_for_help:
        is_asked = bool({"-h", "--help"} & set(argv))
        print(_help(), file=sys.stdout if is_asked else sys.stderr)
        return 0 if is_asked else 2
    if argv[0] in LAYER_TABLES:
        return import_module("elmo.cli.verbs.reproduce.layers").run(argv[0], argv[1:])
    if argv[0] not in EXPERIMENTS:
        raise ConfigError(
            f"there is no table or figure {argv[0]!r} to reproduce. Of ELMo in a task's model there are: "
            f"{', '.join(EXPERIMENTS)}; of what the layers know: {', '.join(LAYER_TABLES)}."
        )
    return _reproduce(argv[0], argv[1:])


def _help() -> str:
    width = max(map(len, [*EXPERIMENTS, *LAYER_TABLES]))
    return "\n".join(
        [
            f"usage: elmo reproduce {{{','.join(EXPERIMENTS)}}} TASK [CONFIG.toml] --train FILE [--dev FILE]",
            "                      [--test FILE] [--seeds 1 2 3] -o FOLDER ...",
            f"       elmo reproduce {{{','.join(LAYER_TABLES)}}} RECORD.json",
            "",
            "The paper's comparisons on your own files, one command each: every system is trained with several seeds;",
            "differences have intervals, and each claim of the paper agrees, does not agree, or is not decided.",
            "",
            *(f"  {name:{width}}  {line}" for name, line in EXPERIMENTS.items()),
            "",
            "What the layers know, the paper's rows beside yours: from a record of 'elmo analyze', or computed here",
            "with the arguments of 'elmo analyze neighbors', 'wsd' or 'pos':",
            "",
            *(f"  {name:{width}}  {line}" for name, line in LAYER_TABLES.items()),
            "",
            f"The tasks are: {', '.join(BUILT_IN)}.",
            "",
            "  elmo reproduce table2 TASK --help  every setting of a task",
            "",
            examples_of("reproduce"),
        ]
    )


def _reproduce(experiment: str, argv: list[str]) -> int:
    task = find(argv[0])
    arguments = _parsed(experiment, argv, task, task.settings(), is_final=False)
    begun = arguments.output / f"{experiment}.run.json" if arguments.resume else None
    # The files whose settings are the defaults of the flags are themselves named by flags: so twice.
    arguments = _parsed(experiment, argv, task, settings_beneath(task, arguments.config, begun))
    # Here, so that --help does not wait for torch.
    from elmo.reproduce.experiment import reproduce
    from elmo.tasks.train.job import Files, Job, RunOptions

    options = RunOptions(
        cache=arguments.cache,
        cache_dtype=arguments.cache_dtype,
        keep_models=arguments.keep_models,
        resume=arguments.resume,
    )
    files = Files(arguments.train, arguments.dev, arguments.test)
    job = Job(task, arguments.settings, files, arguments.output, options)
    keep_freed_memory()
    found = reproduce(
        experiment,
        job,
        seeds=arguments.seeds,
        shares=arguments.shares,
        bilms=arguments.bilms,
        name=arguments.name,
        workers=arguments.workers,
        progress=not arguments.quiet,
    )
    text = f"{found.page}\nWritten: {' '.join(map(str, found.files))}"
    print_report(found.results, text, as_json=arguments.json, quiet=arguments.quiet)
    return 0


def _parsed(experiment: str, argv: list[str], task: AnyTask, settings: Any, *, is_final: bool = True) -> Arguments[Any]:
    """The arguments, with `settings` where no flag says otherwise."""
    return parsed(
        Arguments[task.settings],
        argv[1:],
        f"reproduce {experiment} {argv[0]}",
        flag_pairs=True,
        default=Arguments(train=tyro.MISSING, output=tyro.MISSING, settings=settings),
        is_final=is_final,
        checks_values=is_final,
    )
