"""`elmo-paper pos`: how much of a token's part of speech a linear probe reads off each layer."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from elmo_paper.cli.arguments import parsed
from elmo_paper.cli.produce import Analysis


@dataclass(frozen=True, kw_only=True)
class Arguments(Analysis):
    """Fit a linear classifier of part-of-speech tags on each frozen layer (the paper's table 6). Prints the accuracy on
    all tokens, on words that are not in the training data and on ambiguous words; the selectivity, which is the
    accuracy minus that on a control task with random tags; and the compression: how many times shorter than a uniform
    code the tags' online code is."""

    train: Annotated[Path, tyro.conf.arg(metavar="FILE.conllu")]
    """Treebank to train on."""
    dev: Annotated[Path, tyro.conf.arg(metavar="FILE.conllu")]
    """Treebank for choosing the strength of regularization."""
    test: Annotated[Path, tyro.conf.arg(metavar="FILE.conllu")]
    """Treebank to score."""
    tags: Literal["xpos", "upos"] = "xpos"
    """Column of the tags: the treebank's own, or the universal ones."""
    no_control: bool = False
    """Leave out the control task, which takes a third of the time."""
    no_code: bool = False
    """Leave out the online code length, which takes a third of the time."""


def main(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    arguments = parsed(Arguments, argv, "pos")
    from elmo_paper.analysis.probes.experiment import Measures, Treebanks, probe_table

    files = Treebanks(arguments.train, arguments.dev, arguments.test)
    measures = Measures(control=not arguments.no_control, code=not arguments.no_code)
    return arguments.produce(
        "pos",
        lambda encoders: probe_table(
            files, encoders, column=arguments.tags, measures=measures, progress=not arguments.quiet
        ),
        data=vars(files),
        settings={"tags": arguments.tags},
    )
