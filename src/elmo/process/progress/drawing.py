"""Drawing: bars where a line can be redrawn, lines elsewhere; a stream that breaks ends nothing but the drawing."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from elmo.process.progress.bars import ProgressBars
from elmo.process.progress.lines import ProgressLines
from elmo.process.progress.report import SILENT, Progress


@contextmanager
def drawn_on(stream: TextIO | None) -> Iterator[Progress]:
    """What draws on a stream until the block ends, also by an error; None: nothing, for a process without stderr."""
    if stream is None:
        yield SILENT
        return
    drawing = ProgressBars(_Unbreakable(stream)) if _is_redrawn(stream) else ProgressLines(_Unbreakable(stream))
    try:
        yield drawing
    finally:
        drawing.close()


def _is_redrawn(stream: TextIO) -> bool:
    """Whether a carriage return leads back to the beginning of the line: on a terminal and in a notebook."""
    return type(stream).__module__.startswith("ipykernel.") or stream.isatty()


class _Unbreakable:
    """A stream that loses what it can't write: a log on a full disk must not end a training."""

    def __init__(self, stream: TextIO) -> None:
        self._stream: TextIO | None = stream

    def write(self, text: str) -> None:
        """Writes the text; nothing from the first failure on."""
        self._attempt("write", text)

    def flush(self) -> None:
        """The same."""
        self._attempt("flush")

    def _attempt(self, method: str, *arguments: str) -> None:
        try:
            if self._stream is not None:
                getattr(self._stream, method)(*arguments)
        except (OSError, ValueError):  # ValueError: somebody has closed it
            self._stream = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
