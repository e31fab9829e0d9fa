"""What a command prints at its end: its report, and the lines that it skipped."""

import json
import sys
from collections.abc import Iterable


def print_report(report: object, text: str, *, as_json: bool, quiet: bool = False) -> None:
    """Prints the report: as JSON, or as `text` unless the command is to be quiet."""
    if as_json:
        text = json.dumps(report, indent=2, ensure_ascii=False)
        # A file name that is not UTF-8 has lone surrogates, which JSON can only escape.
        print(text.encode("utf-8", "backslashreplace").decode("utf-8"))
    elif not quiet:
        print(text)


def list_skipped(messages: Iterable[str]) -> int:
    """Names the lines that were skipped, on standard error; the exit code: 1 if there were any, else 0."""
    code = 0
    for message in messages:
        print(f"skipped: {message}", file=sys.stderr)
        code = 1
    return code
