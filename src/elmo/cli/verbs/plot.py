"""`elmo plot`: a training run's curves, as PNG, SVG or PDF."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from elmo.cli.arguments import Force, OutputFile, parsed
from elmo.cli.early_checks import As


@dataclass(frozen=True)
class Arguments:
    """Draw the curves of training runs: the sampled training loss and the validation perplexity, over the number of
    tokens read."""

    runs: Annotated[tuple[Path, ...], As("input folder"), tyro.conf.Positional, tyro.conf.arg(metavar="RUN [RUN ...]")]
    """Run folders of 'elmo pretrain' or 'elmo finetune', finished or not; each gets a color."""
    output: OutputFile[Path]
    """File to write: .png, .svg or .pdf."""
    force: Force = False
    quiet: bool = False
    """Print nothing."""


def main(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    arguments = parsed(Arguments, argv, "plot")
    from elmo.analysis.curves import draw_curves, read_curves

    draw_curves([read_curves(run) for run in arguments.runs], arguments.output, force=arguments.force)
    if not arguments.quiet:
        print(arguments.output)
    return 0
