"""What every `elmo analyze` verb does with its record: write it, draw it, and print it or its table."""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from elmo.analysis.record import Record


@dataclass(frozen=True)
class RecordFlags:
    """Where results go."""

    output: Annotated[Path | None, tyro.conf.arg(aliases=["-o"], metavar="OUT.json")] = None
    """Also write the record here: all figures, and what they depend on."""
    force: bool = False
    """Replace files that exist."""
    json: bool = False
    """Print the record instead of the table."""
    quiet: bool = False
    """No progress."""


@dataclass(frozen=True)
class OutputFlags(RecordFlags):
    """Where results go."""

    figure: Annotated[Path | None, tyro.conf.arg(metavar="OUT.svg")] = None
    """Also draw the table: .png or .svg."""


def produce(flags: RecordFlags, analyze: Callable[[], Record], table: Callable[[Record], str]) -> int:
    """Runs the analysis and shows its record; the exit code. The record is in its place before anything is drawn."""
    from elmo.analysis.plots import draw, require_figure

    figure = flags.figure if isinstance(flags, OutputFlags) else None
    if figure is not None:
        require_figure(figure)
    # The names of outputs are refused before the work, not after it.
    with _new_file(figure, force=flags.force) as picture:
        with _new_file(flags.output, force=flags.force) as file:
            record = json.loads(json.dumps(analyze()))  # as it is when it is read again
            text = json.dumps(record, indent=1, ensure_ascii=False)
            if file is not None:
                file.write_text(text + "\n", encoding="utf-8")
        print(text if flags.json else table(record))
        if figure is not None and picture is not None:
            draw(record, picture, figure.suffix.lower())
    return 0


def _new_file(path: Path | None, *, force: bool) -> AbstractContextManager[Path | None]:
    from elmo.disk.atomic import new_file

    return nullcontext() if path is None else new_file(path, size=0, force=force)
