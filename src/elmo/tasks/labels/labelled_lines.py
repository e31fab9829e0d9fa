"""Labelled files as lines: each one is read or reported, since a label that is skipped silently makes a wrong score."""

from collections.abc import Iterator
from pathlib import Path

from elmo.errors import TextError
from elmo.text.files.text_file import text_name
from elmo.text.sentences import read_sentences


def labelled_lines(path: Path | str, encoding: str = "utf-8") -> Iterator[str]:
    """The lines of a file, plain or packed, without their ends; blank ones are "".

    Raises TextError for a file that is missing or a folder, and with the line for what isn't in `encoding`.
    """
    # A whole line is one token here: columns may have any spaces in them.
    rows = read_sentences(path, encoding=encoding, tokenize=lambda line: [line], format="text", remedy="encode")
    return (line for (line,) in rows)


def nothing_in(path: Path | str, kind: str) -> TextError:
    """What to raise for a file without a single example; `kind`: what an example is ("sentence")."""
    return TextError(f"{text_name(path)}: there is no {kind} in it. Check the file, and that it isn't a list of files.")
