"""CoNLL-U: treebank text, a word a line in ten columns, a blank line after each sentence.

What is read is column 2 (FORM) of its words, the units that everything else in the file is about. A multiword token
(ID 3-4, "don't") is given by its words ("do", "n't"), as published English models want it; empty nodes (ID 3.1) stand
for nothing in the text and are left out.
Source: the CoNLL-U format, universaldependencies.org/format.html.
"""

import re
from collections.abc import Callable, Iterable, Iterator

from elmo.errors import TextError
from elmo.text.files.decoding import BadLine
from elmo.text.token_form import invalid_token_reason

# Stands for a line that couldn't be decoded and was told of: its sentence can't be used, but doesn't end there.
UNDECODABLE = "\0"

_COLUMNS = 10
_LONGEST_SHOWN = 60
# No sentence has a billion words; Python refuses to read integers of thousands of digits.
_NUMBER = r"[1-9]\d{0,8}"
_ID = re.compile(rf"(?P<first>{_NUMBER})(?:-(?P<last>{_NUMBER}))?|(?P<empty>\d{{1,9}}\.{_NUMBER})", re.ASCII)
_NEW_DOCUMENT = re.compile(r"#\s*newdoc\b")


def conllu_sentences(
    lines: Iterable[str],
    name: str,
    on_bad_line: BadLine | None,
    first: int = 1,
    on_new_document: Callable[[], None] | None = None,
) -> Iterator[list[str]]:
    """The sentences of `lines`; a bad one is a TextError that names its line, or, if there is someone to tell, `[]`.

    `first`: the number of the first line. `on_new_document` is called before the first sentence of what a comment
    `# newdoc` begins.
    """
    sentence = _Sentence()
    number = first - 1

    def bad(why: str) -> None:
        message = f"{name}:{number}: {why}, or use --errors skip to list and skip such sentences."
        if on_bad_line is None:
            raise TextError(message)
        on_bad_line(number, message)
        sentence.spoil()

    for number, line in enumerate(lines, start=first):  # noqa: B007 (the function above uses it)
        if not line.strip():
            if why := sentence.lacks():
                bad(why)
            if sentence.is_begun:
                yield sentence.tokens
            sentence = _Sentence()
        elif line == UNDECODABLE:
            sentence.spoil()
        elif line.startswith("#"):
            if on_new_document is not None and _NEW_DOCUMENT.match(line):
                on_new_document()
        elif not sentence.is_bad and (why := sentence.add(line)):
            bad(why)
    if why := sentence.lacks():
        bad(why)
    if sentence.is_begun:
        yield sentence.tokens


class _Sentence:
    """The lines of one sentence."""

    def __init__(self) -> None:
        self.tokens: list[str] = []
        self.is_begun = False
        self.is_bad = False
        # The words up to this one are part of a multiword token.
        self._covered = 0

    def add(self, line: str) -> str | None:
        """Takes a line; what is wrong with it, and the next step."""
        self.is_begun = True
        columns = line.split("\t")
        if len(columns) != _COLUMNS:
            return (
                f"has {len(columns)} columns, but CoNLL-U has {_COLUMNS} with a tab between them. Fix the line, name "
                "the format that the file has (--format text)"
            )
        match = _ID.fullmatch(columns[0])
        if match is None:
            return f"column 1 is {_shown(columns[0])}, but an ID is like 3, 3-4 or 3.1. Fix the line"
        if match["empty"]:
            return None
        if int(match["first"]) != len(self.tokens) + 1:
            return (
                f"the ID {columns[0]} stands where word {len(self.tokens) + 1} is due. Fix the numbers, or put a "
                "blank line between the sentences"
            )
        if match["last"]:
            return self._cover(match)
        if why := invalid_token_reason(columns[1]) or (None if columns[1] else "is empty"):
            return f"column 2 (FORM) is {_shown(columns[1])}, which {why}. Fix the line"
        self.tokens.append(columns[1])
        return None

    def _cover(self, match: re.Match[str]) -> str | None:
        if int(match["last"]) <= int(match["first"]) or len(self.tokens) < self._covered:
            return f"the multiword token {match[0]} covers no new words. Fix the line"
        self._covered = int(match["last"])
        return None

    def lacks(self) -> str | None:
        """At the end of the sentence: what is missing from it."""
        if self.is_bad or len(self.tokens) >= self._covered:
            return None
        return (
            f"the sentence ends after word {len(self.tokens)}, but a multiword token goes on to word {self._covered}. "
            "Add the words, or fix the token's ID"
        )

    def spoil(self) -> None:
        """Nothing of this sentence can be trusted."""
        self.is_begun = self.is_bad = True
        self.tokens = []


def _shown(value: str) -> str:
    return repr(value if len(value) <= _LONGEST_SHOWN else value[:_LONGEST_SHOWN] + "...")
