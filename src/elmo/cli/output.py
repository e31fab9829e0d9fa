"""What a command leaves behind: its report, the lines that it skipped, and files of text that are written whole."""

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from elmo.disk.output import escaped


def print_report(report: object, text: str, *, as_json: bool, quiet: bool = False) -> None:
    """Prints the report: as JSON, or as `text` unless the command is to be quiet."""
    if as_json:
        text = json.dumps(report, indent=2, ensure_ascii=False)
        print(escaped(text))
    elif not quiet:
        print(text)


def list_skipped(messages: Iterable[str]) -> int:
    """Names the lines that were skipped, on standard error; the exit code: 1 if there were any, else 0."""
    code = 0
    for message in messages:
        print(f"skipped: {message}", file=sys.stderr)
        code = 1
    return code


@contextmanager
def result_file(path: Path | None, *, force: bool) -> Iterator[TextIO | None]:
    """A text file that appears when it is complete; None without a path. Lone surrogates, as in a file name that is not
    UTF-8, are escaped as in JSON."""
    if path is None:
        yield None
        return
    from elmo.disk.atomic import new_file  # here, so that --help stays fast

    with (
        new_file(path, size=0, force=force) as unfinished,
        unfinished.open("w", encoding="utf-8", errors="backslashreplace") as file,
    ):
        yield file
