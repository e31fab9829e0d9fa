"""Labelled files as lines: every one of them is read or told, since a label that goes missing is a wrong score."""

from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from elmo.errors import TextError
from elmo.text.sentences import read_sentences

# What the message about a line that can't be decoded has before its advice, which is for text without labels.
_ADVICE = ". Use "


def labelled_lines(path: Path | str, encoding: str = "utf-8") -> Iterator[str]:
    """The lines of a file, plain or packed, without their ends; blank ones are "".

    Raises TextError for a file that is missing or a folder, and with the line for what isn't in `encoding`.
    """
    # A whole line is one token here: columns may have any spaces in them.
    rows = read_sentences(
        path, encoding=encoding, errors="skip", on_bad_line=_refuse, tokenize=lambda line: [line], format="text"
    )
    return (line for (line,) in rows)


def _refuse(number: int, message: str) -> NoReturn:
    what, has_advice, _ = message.partition(_ADVICE)
    if not has_advice:  # that is no text at all: another advice
        raise TextError(message)
    raise TextError(
        f"{what}. No line of labelled data may be left out, so mend it, or say what the file is written in, for "
        "instance with --encoding latin-1."
    )
