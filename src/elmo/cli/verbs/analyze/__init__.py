"""`elmo analyze`: what the layers of an encoder know; the paper's tables 4 to 6 and the geometry of its vectors.

Each analysis is a file with its arguments, `record_of` and `table`. `produce` writes, draws and prints its record.
"""

import json
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated

import tyro

from elmo.analysis.record import Record
from elmo.cli.arguments import Force, NoProgress, OutputFile, parsed
from elmo.cli.examples import examples_of
from elmo.cli.output import result_file
from elmo.errors import ConfigError

ANALYSES = {
    "neighbors": "the nearest tokens to a word in its sentence, by layer (table 4)",
    "precision": "how many of a word's nearest occurrences have its sense, over many queries (table 4, counted)",
    "wsd": "word senses by the nearest sense vector (table 5), and by the first and most frequent one",
    "pos": "parts of speech by a linear probe of each layer (table 6), with a control task",
    "geometry": "cosines of tokens, of one word's occurrences, of a sentence's words; likeness of layers",
}


def main(argv: list[str]) -> int:
    """Runs the command; the exit code."""
    if argv[:1] in ([], ["-h"], ["--help"]):
        print(_help(), file=sys.stdout if argv else sys.stderr)
        return 0 if argv else 2
    analysis, *rest = argv
    if analysis not in ANALYSES:
        raise ConfigError(
            f"there is no analysis {analysis!r}. It must be one of {', '.join(ANALYSES)}. See 'elmo analyze --help'."
        )
    module = import_module(f"elmo.cli.verbs.analyze.{analysis}")
    arguments = parsed(module.Arguments, rest, f"analyze {analysis}")
    return produce(arguments.results, lambda: module.record_of(arguments), module.table)


def _help() -> str:
    width = max(map(len, ANALYSES))
    return "\n".join(
        [
            f"usage: elmo analyze {{{','.join(ANALYSES)}}} ...",
            "",
            "What the layers of an encoder know, compared with what untrained and static vectors know.",
            "",
            *(f"  {name:{width}}  {line}" for name, line in ANALYSES.items()),
            "",
            "  elmo analyze wsd --help  what an analysis takes",
            "",
            examples_of("analyze"),
        ]
    )


@dataclass(frozen=True)
class RecordFlags:
    """Where results go."""

    output: Annotated[OutputFile[Path | None], tyro.conf.arg(metavar="OUT.json")] = None
    """Also write the record here: all figures, and what they depend on."""
    force: Force = False
    json: bool = False
    """Print the record instead of the table."""
    quiet: NoProgress = False


@dataclass(frozen=True)
class OutputFlags(RecordFlags):
    """Where results go."""

    figure: Annotated[Path | None, tyro.conf.arg(metavar="OUT.svg")] = None
    """Also draw the table: .png or .svg."""


def produce(flags: RecordFlags, analyze: Callable[[], Record], table: Callable[[Record], str]) -> int:
    """Runs the analysis and shows its record; the exit code. The record is in its place before anything is drawn."""
    from elmo.analysis.plots import draw, require_figure
    from elmo.disk.atomic import new_file

    figure = flags.figure if isinstance(flags, OutputFlags) else None
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
