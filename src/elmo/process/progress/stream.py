"""LossyStream: where progress is written, whatever becomes of it."""

from typing import TextIO


class LossyStream:
    """A stream that loses what it can't write: a log on a full disk must not end a training."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._is_broken = False
        self._is_at_line_start = True

    def write(self, text: str) -> None:
        """Writes the text, unless an earlier attempt failed."""
        if self._is_broken or not text:
            return
        self._is_at_line_start = text[-1] in "\r\n"  # before writing, which Ctrl-C may end
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # ValueError: somebody has closed it
            self._is_broken = True

    def end_line(self) -> None:
        """Whatever is written next begins a line."""
        if not self._is_at_line_start:
            self.write("\n")

    def flush(self) -> None:
        """Does nothing: `write` has already flushed."""

    def __getattr__(self, name: str) -> object:
        """What else tqdm asks for: the encoding, and the descriptor that knows how wide the terminal is."""
        return getattr(self._stream, name)
