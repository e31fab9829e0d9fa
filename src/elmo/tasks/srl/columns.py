"""Files of columns -> sentences of columns: which columns are which; their brackets are not read yet.

    conll2012   12 columns and one per predicate: document, part, token number, word, part of speech, parse, predicate
                lemma, roleset, sense, speaker, named entity, the predicates' columns, coreference
    conll2005   word, predicate or "-", one column per predicate
    props       predicate or "-", one column per predicate: what srl-eval.pl reads; it has no words

Columns are separated by spaces and tabs, as `elmo.text.formats.columns` says; in conll2012 every line that begins with
"#" is a comment. The k-th column of roles belongs to the k-th predicate.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple

from elmo.errors import TextError
from elmo.tasks.lines import labelled_lines, nothing_in, reporting
from elmo.tasks.tags import Span
from elmo.text.files.decoding import BadLine
from elmo.text.files.text_file import text_name
from elmo.text.formats.columns import Hashes, cells_of_row, column_sentences
from elmo.text.reading.as_trained import as_trained

_CELL = re.compile(r"((?:\([^()*\s]+)*)\*(\)*)")


def spans_of_column(cells: Sequence[str], where: Sequence[str]) -> list[Span]:
    """The spans of a column of brackets like "(ARG0*", "*", "*)", "(V*)", ordered by start, the outer one first.

    `where`: file and line of each cell.
    Raises TextError for a cell that isn't such a bracket, and for brackets without a partner.
    """
    spans: list[Span] = []
    open_spans: list[tuple[int, int]] = []
    for place, cell in enumerate(cells):
        found = _CELL.fullmatch(cell)
        if found is None:
            raise _wrong(where[place], f"the cell {cell!r} isn't of the form '(LABEL*)'")
        for label in found[1].split("(")[1:]:
            open_spans.append((place, len(spans)))
            spans.append((place, place + 1, label))
        for _ in found[2]:
            if not open_spans:
                raise _wrong(where[place], f"the cell {cell!r} closes a bracket that was never opened")
            start, number = open_spans.pop()
            spans[number] = (start, place + 1, spans[number][2])
    if open_spans:
        start, number = open_spans[-1]
        raise _wrong(where[start], f"the bracket '({spans[number][2]}' is still open at the end of the sentence")
    return spans


def _wrong(where: str, what: str) -> TextError:
    return TextError(f"{where}: {what}. Fix the column, or choose another --layout.")


def column_of_spans(spans: Sequence[Span], length: int) -> list[str]:
    """The cells of a sentence of `length` tokens; the spans don't overlap."""
    cells = ["*"] * length
    for start, end, label in spans:
        cells[start] = f"({label}{cells[start]}"
        cells[end - 1] += ")"
    return cells


def first_nested(spans: Sequence[Span]) -> Span | None:
    """The first span that begins inside another one, in the order of `spans_of_column`; None if there is none."""
    last_end = 0
    for span in spans:
        if span[0] < last_end:
            return span
        last_end = span[1]
    return None


LayoutName = Literal["conll2012", "conll2005", "props"]

NOTHING = "-"
"""The mark of a token that is not a predicate."""


class Layout(NamedTuple):
    """Positions of the columns, counted from 0."""

    name: LayoutName
    word: int
    predicate: int
    """The predicate, or "-"."""
    roles: int
    """The first predicate's column."""
    after: int
    """Columns after the last predicate's."""


LAYOUTS = {
    "conll2012": Layout("conll2012", 3, 6, 11, 1),
    "conll2005": Layout("conll2005", 0, 1, 2, 0),
    "props": Layout("props", 0, 0, 1, 0),
}

_PART, _TOKEN_NUMBER, _PART_OF_SPEECH = 1, 2, 4
_BEGIN, _END = "#begin document", "#end"
_OFFICIAL = "gold_conll"
_COLUMNS = frozenset({".conll", ".gold_conll", ".v4_gold_conll"})


@dataclass(frozen=True)
class ColumnSentence:
    """The rows of a sentence."""

    layout: Layout
    rows: Sequence[Sequence[str]]
    """The columns of each token."""
    lines: Sequence[int]
    """The line of each token in the file, from 1."""
    source: str
    comments: Sequence[str] = ()
    """Comment lines before it."""
    closing: Sequence[str] = ()
    """Comment lines after it that end its document."""

    @property
    def words(self) -> list[str]:
        """The tokens, letters composed; predicates and "-" in a props file."""
        return as_trained([row[self.layout.word] for row in self.rows])

    def part_of_speech(self, place: int) -> str:
        """Of a token; "" if the layout has none."""
        return self.rows[place][_PART_OF_SPEECH] if self.layout.name == "conll2012" else ""

    @property
    def marked(self) -> list[int]:
        """The tokens with a predicate in the predicate column."""
        return [place for place, row in enumerate(self.rows) if row[self.layout.predicate] != NOTHING]

    @property
    def columns(self) -> list[list[str]]:
        """The cells of each predicate's column."""
        last = len(self.rows[0]) - self.layout.after
        return [[row[place] for row in self.rows] for place in range(self.layout.roles, last)]

    @property
    def places(self) -> list[str]:
        """File and line of each token, for messages."""
        return [f"{self.source}:{line}" for line in self.lines]

    def require_columns(self) -> None:
        """TextError if a predicate has no column."""
        marked, num_columns = self.marked, len(self.columns)
        if len(marked) > num_columns:
            what = f"the sentence has {len(marked)} predicates, but only {num_columns} columns of roles"
            raise _wrong(self.places[marked[num_columns]], what)


def read_sentences_of_columns(
    path: Path | str, layout: LayoutName | Literal["auto"], encoding: str, on_bad: BadLine | None = None
) -> Iterator[ColumnSentence]:
    """The sentences of a file, or of all files in a folder and the folders in it whose names end in "gold_conll".

    "auto": conll2012 by its first lines, props by the file's name ("answers.props", "props.train.gz"). Raises TextError
    with file and line for rows of a sentence with different numbers of columns, or too few of them; with `on_bad`, such
    a sentence is reported and left out.
    """
    files = sorted(Path(path).rglob(f"*{_OFFICIAL}")) if Path(path).is_dir() else [path]
    if not files:
        raise nothing_in(path, f"file *{_OFFICIAL}")
    for file in files:
        yield from _sentences_of_file(file, layout, encoding, on_bad)


def _sentences_of_file(
    path: Path | str, layout: LayoutName | Literal["auto"], encoding: str, on_bad: BadLine | None
) -> Iterator[ColumnSentence]:
    lines = list(labelled_lines(path, encoding, on_bad))
    if layout == "auto":
        is_props = "props" in Path(text_name(path)).name.split(".")
        layout = "conll2012" if is_conll2012(lines) else "props" if is_props else "conll2005"
    hashes: Hashes = "comments" if layout == "conll2012" else "by width"
    blocks = list(column_sentences(lines, text_name(path), on_bad, spaces_in_cells=False, hashes=hashes))
    if not any(block.rows for block in blocks):
        raise nothing_in(path, "sentence")
    for block, after in zip(blocks, [*blocks[1:], None], strict=True):
        if not block.rows:
            continue
        comments = [line for line in block.comments if block is blocks[0] or not line.startswith(_END)]
        closing = [line for line in (after.comments if after else []) if line.startswith(_END)]
        sentence = ColumnSentence(LAYOUTS[layout], block.rows, block.lines, text_name(path), comments, closing)
        with reporting(on_bad, block.lines[0]):
            _require_width(sentence)
            yield sentence


def is_conll2012(lines: Iterable[str]) -> bool:
    """Whether a file begins like one of conll2012 columns: with a document, or with numbers for part and token and with
    roles in brackets.

    A sentence of text may have twelve tokens and a number too ("In the 2012 season ...").
    """
    filled = (line for line in lines if line.strip())
    first = next(filled, "")
    if first.startswith(_BEGIN):
        return True
    row = next((cells_of_row(line, at_tabs=False) for line in chain([first], filled) if not line.startswith("#")), [])
    layout = LAYOUTS["conll2012"]
    has_numbers = len(row) > layout.roles and row[_PART].isdecimal() and row[_TOKEN_NUMBER].isdecimal()
    return has_numbers and _are_cells(row[layout.roles : len(row) - layout.after])


def has_predicates(start: Sequence[str], path: Path | str) -> bool:
    """Whether a file that begins with these lines is one of columns with predicates.

    Columns without roles are known by the ending .conll and a "-" in the second one: others may be tags.
    """
    rows = [cells_of_row(line, at_tabs=False) for line in start if line.strip() and not line.startswith("#")]
    is_named = bool(_COLUMNS & set(Path(path).suffixes))
    has_roles = bool(rows) and len(rows[0]) > LAYOUTS["conll2005"].roles and _are_cells(rows[0][2:])
    return is_conll2012(start) or has_roles or (is_named and any(row[1:2] == [NOTHING] for row in rows))


def _are_cells(columns: Sequence[str]) -> bool:
    """Whether they look like cells of roles, each of which has a star."""
    return all("*" in cell for cell in columns)


def _require_width(sentence: ColumnSentence) -> None:
    least = sentence.layout.roles + sentence.layout.after
    for row, where in zip(sentence.rows, sentence.places, strict=True):
        if len(row) < least:
            raise _wrong(where, f"has {len(row)} columns, but the layout {sentence.layout.name} has {least} or more")
