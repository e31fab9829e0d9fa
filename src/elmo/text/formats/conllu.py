"""CoNLL-U: treebank text, a word per line in ten columns, a blank line after each sentence.

What is read is column 2 (FORM) of its words, the units that everything else in the file is about. A multiword token
(ID 3-4, "don't") is given by its words ("do", "n't"), as published English models want it; empty nodes (ID 3.1) stand
for nothing in the text and are left out. In CoNLL-U Plus the first line names the columns, FORM and maybe ID among
them: "# global.columns = ID FORM UPOS". CoNLL-X has the same ten columns.
Source: the CoNLL-U and CoNLL-U Plus formats, universaldependencies.org/format.html and ext-format.html.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from elmo.disk.bounded import shown
from elmo.errors import TextError
from elmo.text.files.decoding import BadLine, report
from elmo.text.formats.columns import UNDECODABLE
from elmo.text.word_list import invalid_token_reason

_COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
_NAMES = re.compile(r"#\s*global\.columns\s*=\s*(?P<names>.*)")
# No sentence has a billion words; Python refuses to read integers of thousands of digits.
_NUMBER = r"[1-9]\d{0,8}"
_ID = re.compile(rf"(?P<first>{_NUMBER})(?:-(?P<last>{_NUMBER}))?|(?P<empty>\d{{1,9}}\.{_NUMBER})", re.ASCII)
_NEW_DOCUMENT = re.compile(r"#\s*newdoc\b")


def treebank_sentences(
    lines: Iterable[str],
    name: str,
    on_bad_line: BadLine | None,
    first: int = 1,
    on_new_document: Callable[[], None] | None = None,
    header: str | None = None,
    *,
    format_flags: bool = True,
) -> Iterator["TreebankSentence"]:
    """The sentences of `lines`; a bad one is a TextError that names its line, or, with `on_bad_line`, empty.

    `first`: the number of the first line. `on_new_document` is called before the first sentence of what a comment
    `# newdoc` begins. `header`: the first line of a file whose `lines` begin later: it may name the columns.
    `format_flags`: whether messages may name the flags that set how a text is read.
    """
    names = _named(header or "", name) or _COLUMNS
    sentence = TreebankSentence(names, format_flags=format_flags)
    number = first - 1

    def bad(why: str) -> None:
        message = f"{name}:{number}: {why}, or use --errors skip to list and skip such sentences."
        report(on_bad_line, number, message)
        sentence.spoil()

    for number, line in enumerate(lines, start=first):  # noqa: B007 (the function above uses it)
        found = _named(line, f"{name}:{number}") if line.startswith("#") else None
        is_blank = not line.strip(" \t")
        # The first line of a file that was joined to another one ends a sentence, too.
        if found or is_blank:
            if why := sentence.lacks():
                bad(why)
            if sentence.is_begun:
                yield sentence
            names = found or names
            sentence = TreebankSentence(names, format_flags=format_flags)
        if line == UNDECODABLE:
            sentence.spoil()
        elif line.startswith("#"):
            sentence.text.append(line)
            if on_new_document is not None and _NEW_DOCUMENT.match(line):
                on_new_document()
        elif not is_blank and not sentence.is_bad and (why := sentence.add(line, number)):
            bad(why)
    if why := sentence.lacks():
        bad(why)
    if sentence.is_begun:
        yield sentence


def column_of_forms(lines: Iterable[str]) -> int:
    """The column of FORM, from 0, in a file that begins with these lines."""
    names = next((found for line in lines if (found := _named(line, "line 1"))), _COLUMNS)
    return names.index("FORM")


def _named(line: str, where: str) -> tuple[str, ...] | None:
    """The columns that a line names, if it does. Raises TextError if no column is called FORM."""
    match = _NAMES.match(line)
    if match is None:
        return None
    names = tuple(match["names"].split())
    if "FORM" not in names:
        raise TextError(
            f"{where}: the columns are {', '.join(names)}, but CoNLL-U Plus has the words in a column called FORM. "
            "Fix the line, or name the column: --format conll --field N."
        )
    return names


class TreebankSentence:
    """The lines of one sentence."""

    def __init__(self, names: Sequence[str], *, format_flags: bool = True) -> None:
        self.names = names
        """What its columns are called."""
        self._form = names.index("FORM")
        self._format_flags = format_flags
        self.tokens: list[str] = []
        self.text: list[str] = []
        """All its lines, comments and multiword tokens among them; only as far as it isn't bad."""
        self.places: list[int] = []
        """The place of each token's line in `text`."""
        self.numbers: list[int] = []
        """The number of each token's line in the file."""
        self.is_begun = False
        self.is_bad = False
        # The words up to this one are part of a multiword token.
        self._covered = 0

    def add(self, line: str, number: int) -> str | None:
        """Takes a line; what is wrong with it, and the next step."""
        self.is_begun = True
        self.text.append(line)
        columns = line.split("\t")
        if len(columns) != len(self.names):
            flags = f", name the column that has the words (--format conll --field {self._form + 1})"
            return (
                f"has {len(columns)} columns, but {'CoNLL-U' if self.names == _COLUMNS else 'the first line'} has "
                f"{len(self.names)} with a tab between them. Fix the line{flags if self._format_flags else ''}"
            )
        if "ID" in self.names:
            place = self.names.index("ID")
            match = _ID.fullmatch(columns[place])
            if match is None:
                return f"column {place + 1} is {shown(columns[place])}, but an ID is like 3, 3-4 or 3.1. Fix the line"
            if match["empty"]:
                return None
            if int(match["first"]) != len(self.tokens) + 1:
                return (
                    f"the ID {columns[place]} is where word {len(self.tokens) + 1} should be. Fix the numbers, or "
                    "put a blank line between the sentences"
                )
            if match["last"]:
                # Stanza writes 3-3 of a token that is one word.
                if int(match["last"]) < int(match["first"]) or len(self.tokens) < self._covered:
                    return f"the multiword token {match[0]} covers no new words. Fix the line"
                self._covered = int(match["last"])
                return None
        form = columns[self._form]
        if why := invalid_token_reason(form) or (None if form else "is empty"):
            return f"column {self._form + 1} (FORM) is {shown(form)}, which {why}. Fix the line"
        self.tokens.append(form)
        self.places.append(len(self.text) - 1)
        self.numbers.append(number)
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
