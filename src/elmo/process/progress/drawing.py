"""Drawing: bars where a line can be redrawn, lines elsewhere."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TextIO

from elmo.process.progress.bars import ProgressBars
from elmo.process.progress.lines import ProgressLines
from elmo.process.progress.report import SILENT, Progress


@contextmanager
def drawn_on(stream: TextIO | None) -> Iterator[Progress]:
    """What draws on a stream until the block ends, also by an error; nothing on None or a closed one."""
    if stream is None or stream.closed:
        yield SILENT
        return
    drawing = ProgressBars(stream) if _is_redrawn(stream) else ProgressLines(stream)
    with closing(drawing):
        yield drawing


def _is_redrawn(stream: TextIO) -> bool:
    """Whether a carriage return leads back to the beginning of the line: on a terminal and in a notebook."""
    return type(stream).__module__.startswith("ipykernel.") or stream.isatty()
