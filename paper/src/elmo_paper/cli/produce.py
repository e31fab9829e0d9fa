"""What the analyses share: where their records go, and `produce`, which writes, draws and prints one.

Each analysis is a verb with its arguments, `record_of` and `table`.
"""

import json
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from elmo.cli.arguments import Force, NoProgress, OutputFile
from elmo.cli.output import result_file
from elmo.errors import ConfigError
from elmo_paper.analysis.record import Record


@dataclass(frozen=True)
class OutputFlags:
    """Where results go."""

    output: Annotated[OutputFile[Path | None], tyro.conf.arg(metavar="OUT.json")] = None
    """Also write the record here: all figures, and what they depend on."""
    figure: Annotated[Path | None, tyro.conf.arg(metavar="OUT.svg")] = None
    """Also draw the table: .png or .svg."""
    force: Force = False
    json: bool = False
    """Print the record instead of the table."""
    quiet: NoProgress = False


def produce(flags: OutputFlags, analyze: Callable[[], Record], table: Callable[[Record], str]) -> int:
    """Runs the analysis and shows its record; the exit code. The record is in its place before anything is drawn."""
    from elmo.disk.atomic import new_file
    from elmo_paper.analysis.plots import draw, require_figure

    figure = flags.figure
    if figure is not None:
        require_figure(figure)
        if flags.output is not None and figure.resolve() == flags.output.resolve():
            raise ConfigError(
                f"--output and --figure both name {figure}, where one result would replace the other. Name two files."
            )
    # The names of outputs are refused before the work, not after it.
    with nullcontext() if figure is None else new_file(figure, size=0, force=flags.force) as picture:
        with result_file(flags.output, force=flags.force) as file:
            record = json.loads(json.dumps(analyze()))  # as it is when it is read again
            text = json.dumps(record, indent=1, ensure_ascii=False)
            if file is not None:
                file.write(text + "\n")
        print(text if flags.json else table(record))
        if figure is not None and picture is not None:
            draw(record, picture, figure.suffix.lower())
    return 0
