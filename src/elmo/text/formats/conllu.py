"""CoNLL-U: treebank text, ten `columns` for each word, a blank line after each sentence.

What is read is column 2 (FORM) of its words, the units that everything else in the file is about. A multiword token
(ID 3-4, "don't") is given by its words ("do", "n't"), as published English models want it; empty nodes (ID 3.1) stand
for nothing in the text and are left out. In CoNLL-U Plus the first line names the columns, FORM and maybe ID among
them: "# global.columns = ID FORM UPOS". CoNLL-X has the same ten columns.
Source: the CoNLL-U and CoNLL-U Plus formats, universaldependencies.org/format.html and ext-format.html.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from elmo.disk.bounded import shown
from elmo.errors import TextError
from elmo.text.files.decoding import BadLine, report
from elmo.text.formats.columns import ColumnSentence, column_sentences
from elmo.text.word_list import invalid_token_reason

_COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
_NAMES = re.compile(r"#\s*global\.columns\s*=\s*(?P<names>.*)")
# Of a word, a multiword token, an empty node. Python refuses to read integers of thousands of digits.
_ID = re.compile(r"(?P<word>[1-9]\d{0,8})|\d{1,9}[-.]\d{1,9}", re.ASCII)
_NEW_DOCUMENT = re.compile(r"#\s*newdoc\b")
_SKIPPING = ", or use --errors skip to list and skip such sentences"


@dataclass(frozen=True)
class ConlluSentence:
    """A sentence and all that its file says of it; it has no tokens if it is bad."""

    names: Sequence[str]
    """What its columns are called."""
    tokens: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    """All its lines: comments, words, multiword tokens and empty nodes."""
    places: list[int] = field(default_factory=list)
    """The place of each token's line in `text`."""
    numbers: list[int] = field(default_factory=list)
    """The number of each token's line in the file."""


def treebank_sentences(
    lines: Iterable[str],
    name: str,
    on_bad_line: BadLine | None,
    first: int = 1,
    on_new_document: Callable[[], None] | None = None,
    header: str | None = None,
) -> Iterator[ConlluSentence]:
    """The sentences of `lines`; a bad one is a TextError that names its line, or, with `on_bad_line`, empty.

    `first`: the number of the first line. `on_new_document` is called before the first sentence of what a comment
    `# newdoc` begins. `header`: the first line of a file whose `lines` begin later: it may name the columns.
    """
    names = _named([header or ""], name) or _COLUMNS
    for block in column_sentences(lines, name, on_bad_line, first, advice=_SKIPPING, hashes="comments"):
        names = _named(block.comments, name) or names
        if on_new_document is not None and any(map(_NEW_DOCUMENT.match, block.comments)):
            on_new_document()
        if block.rows or block.is_bad:
            yield _sentence(block, names, name, on_bad_line)


def column_of_forms(lines: Iterable[str]) -> int:
    """The column of FORM, from 0, in a file that begins with these lines."""
    return (_named(lines, "line 1") or _COLUMNS).index("FORM")


def _named(lines: Iterable[str], where: str) -> tuple[str, ...] | None:
    """The columns that a line names, if one does. Raises TextError if no column is called FORM."""
    match = next(filter(None, map(_NAMES.match, lines)), None)
    if match is None:
        return None
    names = tuple(match["names"].split())
    if "FORM" not in names:
        raise TextError(
            f"{where}: none of the columns {', '.join(names)} is FORM. Name the words': --format conll --field N."
        )
    return names


def _sentence(block: ColumnSentence, names: Sequence[str], name: str, on_bad_line: BadLine | None) -> ConlluSentence:
    found = ConlluSentence(names, text=[*block.comments, *map("\t".join, block.rows)])
    for place, (row, number) in enumerate(zip(block.rows, block.lines, strict=True), start=len(block.comments)):
        cells = dict(zip(names, row, strict=False))
        if why := _odd(cells, len(row), names, len(found.tokens) + 1):
            report(on_bad_line, number, f"{name}:{number}: {why}{_SKIPPING}.")
            return ConlluSentence(names)
        match = _ID.fullmatch(cells["ID"]) if "ID" in cells else None
        if match is None or match["word"]:
            found.tokens.append(cells["FORM"])
            found.places.append(place)
            found.numbers.append(number)
    return found


def _odd(cells: dict[str, str], num_cells: int, names: Sequence[str], due: int) -> str | None:
    """Why a row can't be read, and the next step. `due`: the number of the next word."""
    if num_cells != len(names):
        format = "CoNLL-U" if names == _COLUMNS else "the first line"
        return f"has {num_cells} columns, but {format} has {len(names)} with a tab between them. Fix the line"
    if "ID" in cells:
        match = _ID.fullmatch(cells["ID"])
        if match is None:
            return f"its ID is {shown(cells['ID'])}, but an ID is like 3, 3-4 or 3.1. Fix the line"
        if match["word"] is None:
            return None
        if int(match["word"]) != due:
            step = "Fix the numbers, or put a blank line between the sentences"
            return f"the ID {cells['ID']} is where word {due} should be. {step}"
    form = cells["FORM"]
    if why := invalid_token_reason(form) or (None if form else "is empty"):
        return f"its FORM is {shown(form)}, which {why}. Fix the line"
    return None
