"""`elmo-paper reproduce`: the paper's tables and figures, on your own files."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Generic

import tyro

from elmo.cli.arguments import Switch
from elmo.cli.examples import examples_of
from elmo.cli.output import print_report
from elmo.cli.verbs.task.train import Training, chosen_settings
from elmo.process.resources import keep_freed_memory
from elmo.tasks.registry import BUILT_IN, find
from elmo.tasks.settings import S
from elmo_paper.cli.arguments import parsed
from elmo_paper.cli.examples import EXAMPLES
from elmo_paper.reproduce.systems import EXPERIMENTS, require_experiment


@dataclass(frozen=True, kw_only=True)
class Arguments(Training[S], Generic[S]):
    """Train every system of the table or figure with every seed, and compare them as the paper does. The folder gets a
    page with means, standard deviations, intervals and the paper's figures, a JSON record, and a picture. The
    experiment sets the settings that it compares; all others are the task's. Ctrl-C and SIGTERM save everything;
    --resume continues."""

    output: Annotated[Path, tyro.conf.arg(aliases=["-o"], metavar="FOLDER")]
    """Folder for the results and trainings. Several experiments can use the same folder, one after the other; they then
    share the biLM's layers and all identical trainings."""
    seeds: tuple[int, ...] | None = None
    """Random seeds: each system is trained once with each. With a single seed, no claim is decided (default: 1 2 3, or
    the resumed ones)."""
    shares: tuple[float, ...] | None = None
    """figure1: percentages of the training data (default: 0.1 1 5 10 20 50 100, if at least one example, or one
    group of examples, such as the questions about one article; or the resumed ones)."""
    bilms: tuple[str, ...] | None = None
    """bilms: two or more models, the first of which the others are compared with. A biLM is a name, a folder or a hub
    id; other systems to compare are cove=FOLDER, context2vec=FOLDER, minilm=FOLDER and mssg=FILE (default: the
    resumed ones)."""
    keep_models: Switch = False
    """Save every trained model too."""
    name: str | None = None
    """Name of the data set, for the page and the picture (default: the name of the training file's folder, or the
    resumed one)."""
    workers: int = 1
    """Number of systems to train at the same time, each in its own process with its share of the threads."""


def main(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    words = argv[1:2] if argv[:1] and argv[0] in EXPERIMENTS and len(argv) < 3 else argv
    if words in ([], ["-h"], ["--help"]):
        print(_help(), file=sys.stdout if words else sys.stderr)
        return 0 if words else 2
    require_experiment(argv[0])
    return _reproduce(argv[0], argv[1:])


def _help() -> str:
    width = max(map(len, EXPERIMENTS))
    return "\n".join(
        [
            f"usage: elmo-paper reproduce {{{','.join(EXPERIMENTS)}}} TASK [CONFIG.toml] --train FILE [--dev FILE]",
            "                      [--test FILE] [--seeds 1 2 3] -o FOLDER ...",
            "",
            "The paper's comparisons on your own files, one command each: every system is trained with several seeds;",
            "differences have intervals, and each claim of the paper agrees, does not agree, or is not decided.",
            "",
            *(f"  {name:{width}}  {line}" for name, line in EXPERIMENTS.items()),
            "",
            "Tables 4 to 6, what the layers know: elmo-paper precision, wsd and pos.",
            "",
            f"The tasks are: {', '.join(BUILT_IN)}.",
            "",
            "  elmo-paper reproduce table2 TASK --help  every setting of a task",
            "",
            examples_of("reproduce", EXAMPLES),
        ]
    )


def _reproduce(experiment: str, argv: list[str]) -> int:
    task = find(argv[0])
    arguments = parsed(
        Arguments[task.settings],
        argv[1:],
        f"reproduce {experiment} {argv[0]}",
        flag_pairs=True,
        default=Arguments(train=tyro.MISSING, output=tyro.MISSING, settings=task.settings()),
        settings_later=True,
    )
    settings = chosen_settings(task, arguments, argv[1:], arguments.output / f"{experiment}.run.json")
    from elmo_paper.reproduce.experiment import reproduce

    keep_freed_memory()
    found = reproduce(
        experiment,
        arguments.job(task, settings, arguments.output, keep_models=arguments.keep_models),
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
