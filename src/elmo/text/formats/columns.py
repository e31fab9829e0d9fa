"""Columns: a token per line, in cells, and a blank line after each sentence -> sentences of rows.

Every reader of such files, of texts and of tasks, gets its rows here.

    cells      are separated by tabs if the file's first row has one (they may then hold spaces), else by spaces and
               tabs. Only these two separate: a no-break space, U+3000, U+2028 or a form feed is part of its cell
    rows       of a sentence have equally many cells
    comments   "# name = value"; a line that begins with "#" and has another number of cells than the sentence's other
               rows (GermEval's "# <tab> url"); and, before a sentence between tabs, KLUE's "## id <tab> sentence",
               and "#" with cells of which the last is empty
    documents  "-DOCSTART-", "#begin document" and "#end document" also end a sentence

Sources: the shared tasks' descriptions, www.conll.org/previous-tasks; the files of KLUE and GermEval 2014.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from elmo.errors import TextError
from elmo.text.files.decoding import BadLine, report

Hashes = Literal["by width", "comments"]

# Replaces a line that couldn't be decoded and was reported: its sentence can't be used, but doesn't end there.
# No line has a line feed in it.
UNDECODABLE = "\0\n"

_BLANKS = " \t"
_DOCUMENT = re.compile(r"-DOCSTART-|#\s*(?:begin|end)\s+document\b")
_ENDS_DOCUMENT = re.compile(r"#\s*end\s+document\b")
_NAMED = re.compile(r"#\s*[\w.:-]+\s*=(?:\s|$)")
SPAN_TAG = re.compile(r"O|[BIELUSM][-_]\S+")
# Of the words of a treebank without its text, so many at least are "_".
_WITHHELD = 0.9
_FEWEST_ALIKE = 4
_NUMBER = re.compile(r"[0-9]{1,9}")
# CoNLL-U's IDs of multiword tokens and empty nodes.
_PART_OF_COUNT = re.compile(r"[0-9]{1,9}[-.][0-9]{1,9}")
_HEADER = re.compile(r"##[^\t ]* [^\t]*\t|#\t.*\t$")


@dataclass(frozen=True)
class ColumnSentence:
    """The rows of a sentence, all with equally many cells."""

    rows: list[list[str]]
    """The cells of each token; none: there are only comments, before the end of the file, or the sentence is bad."""
    lines: list[int]
    """The line of each row, from 1."""
    comments: list[str] = field(default_factory=list)
    """The lines before and between the rows that are none, document lines among them."""
    begins_document: bool = False
    is_bad: bool = False
    """Whether it was reported and must be left out."""


def column_sentences(
    lines: Iterable[str],
    name: str,
    on_bad_line: BadLine | None = None,
    first: int = 1,
    *,
    advice: str = "",
    spaces_in_cells: bool = True,
    hashes: Hashes = "by width",
) -> Iterator[ColumnSentence]:
    """The sentences of `lines`, in constant memory.

    `name`: of the file, for messages; `first`: the number of the first line; `advice`: what messages name besides
    fixing the line (", or use --errors skip ..."). `spaces_in_cells`: whether tabs alone may separate. `hashes`: which
    lines that begin with "#" are comments: all, or those of the kinds above.
    A sentence whose rows have different numbers of cells is a TextError with file and line, or, if there is
    `on_bad_line`, reported to it once and bad.
    """
    reader = _Reader(name, on_bad_line, advice, hashes, spaces_in_cells=spaces_in_cells)
    for number, line in enumerate(lines, start=first):
        if _DOCUMENT.match(line):
            yield from reader.ended()
            reader.document(line)
        elif line.strip(_BLANKS):
            reader.held.append((number, line))
        else:
            yield from reader.ended()
    yield from reader.ended()
    yield from reader.rest(is_whole=first == 1)


class _Reader:
    """What is known of a file while it is read."""

    def __init__(
        self, name: str, on_bad_line: BadLine | None, advice: str, hashes: Hashes, *, spaces_in_cells: bool
    ) -> None:
        self.name = name
        self.on_bad_line = on_bad_line
        self.advice = advice
        self.hashes: Hashes = hashes
        self.spaces_in_cells = spaces_in_cells
        self.at_tabs = None if spaces_in_cells else False
        self.held: list[tuple[int, str]] = []
        """The lines since the last blank one."""
        self._comments: list[str] = []
        self._begins_document = False
        # Lines with "#" alone in their block: comments or tokens, as the next block will show.
        self._undecided: list[list[tuple[int, str]]] = []
        self._num_cells = 0

    def document(self, line: str) -> None:
        self._comments += [line for block in self._undecided for _, line in block] + [line]
        self._undecided = []
        self._begins_document |= _ENDS_DOCUMENT.match(line) is None

    def ended(self) -> Iterator[ColumnSentence]:
        """The sentence that ends here, and those that were waiting for it to be understood."""
        block, self.held = self.held, []
        row = next((line for _, line in block if line[0] != "#" and line != UNDECODABLE), None)
        if row is None and any(line != UNDECODABLE for _, line in block) and not self._num_cells:
            self._undecided.append(block)
            return
        if row is not None:
            if self.at_tabs is None:
                self.at_tabs = "\t" in row
            self._num_cells = len(self._cells(row))
            waiting, self._undecided = self._undecided, []
            for earlier in waiting:
                yield from self._sentence(earlier, self._num_cells)
        if block:
            yield from self._sentence(block, self._num_cells)

    def rest(self, *, is_whole: bool) -> Iterator[ColumnSentence]:
        if self._undecided and is_whole:  # a file of lines with "#" alone; the end of one has comments
            self.at_tabs = self.at_tabs is None and "\t" in self._undecided[0][0][1]
            waiting, self._undecided = self._undecided, []
            for block in waiting:
                yield from self._sentence(block, len(self._cells(block[0][1])))
        if self._comments or self._begins_document:
            yield self._made([], [])

    def _sentence(self, block: list[tuple[int, str]], num_cells: int) -> Iterator[ColumnSentence]:
        rows: list[list[str]] = []
        lines: list[int] = []
        is_bad = False
        for number, line in block:
            if line == UNDECODABLE:
                is_bad = True
                continue
            cells = self._cells(line)
            if line[0] == "#" and self._is_comment(line, len(cells) != num_cells, is_before=not rows):
                self._comments.append(line)
                continue
            if not is_bad and (why := self._odd(line, cells, num_cells)):
                is_bad = True
                self._tell(number, why)
            rows.append(cells)
            lines.append(number)
        if is_bad:
            yield self._made([], [], is_bad=True)
        elif rows:
            yield self._made(rows, lines)

    def _made(self, rows: list[list[str]], lines: list[int], *, is_bad: bool = False) -> ColumnSentence:
        made = ColumnSentence(rows, lines, self._comments, self._begins_document, is_bad)
        self._comments, self._begins_document = [], False
        return made

    def _cells(self, line: str) -> list[str]:
        return cells_of_row(line, at_tabs=bool(self.at_tabs))

    def _is_comment(self, line: str, has_other_width: bool, *, is_before: bool) -> bool:
        """Whether a line that begins with "#" is none of the rows."""
        is_header = self.at_tabs and is_before and _HEADER.match(line)
        return bool(self.hashes == "comments" or has_other_width or _NAMED.match(line) or is_header)

    def _odd(self, line: str, cells: list[str], num_cells: int) -> str | None:
        """Why the line is no row of its sentence."""
        if len(cells) != num_cells:
            found = "one column" if len(cells) == 1 else f"{len(cells)} columns"
            between = " between tabs" if self.at_tabs else ""
            return f"has {found}{between}, but the first row of its sentence has {num_cells}{between}"
        if self.spaces_in_cells and not self.at_tabs and "\t" in line:
            spaced = [cell for cell in line.split("\t") if " " in cell.strip(" ")]
            if spaced:
                return f"has tabs and a space in {spaced[0]!r}, but the file's first row has no tab between its columns"
        return None

    def _tell(self, number: int, why: str) -> None:
        step = "Fix the line: a token per line, its columns between spaces or tabs, not commas"
        message = f"{self.name}:{number}: {why}. {step}; a blank line between the sentences{self.advice}."
        report(self.on_bad_line, number, message)


def cells_of_row(line: str, *, at_tabs: bool) -> list[str]:
    """The cells of a line that isn't blank. Spaces around a tab align columns; a cell of spaces alone stays so."""
    if not at_tabs:
        return [cell for cell in line.replace("\t", " ").split(" ") if cell]
    return [cell.strip(" ") or cell for cell in line.split("\t")]


def words_alone(sentence: ColumnSentence) -> ColumnSentence:
    """Without the rows of multiword tokens and empty nodes (3-4, 3.1), if the first column has CoNLL-U's IDs."""
    ids = [row[0] for row in sentence.rows]
    kept = [place for place, id_ in enumerate(ids) if not _PART_OF_COUNT.fullmatch(id_)]
    if len(kept) == len(ids) or not _count_on([ids]):
        return sentence
    rows, lines = ([part[place] for place in kept] for part in (sentence.rows, sentence.lines))
    return replace(sentence, rows=rows, lines=lines)


def require_words(sentences: Sequence[Sequence[Sequence[str]]], column: int, name: str, flag: str) -> None:
    """TextError if `column`, from 0, of a file's first sentences can't hold its words. `flag`: names another column."""
    values = [[row[column] for row in rows] for rows in sentences if rows and column < len(rows[0])]
    words = [value for sentence in values for value in sentence]
    distinct = sorted({*words})
    if (
        (len(words) > 1 and sum(set(word) == {"_"} for word in words) >= _WITHHELD * len(words))
        or (any(len(sentence) > 1 for sentence in values) and _count_on(values))
        or (len(distinct) == 1 and any(len(cells) >= _FEWEST_ALIKE for cells in _cells_of_columns(sentences)))
        or (len(distinct) > 1 and all(map(SPAN_TAG.fullmatch, distinct)))
    ):
        raise TextError(
            f"{name}: column {column + 1} has {', '.join(words[:3])}, ...: numbers, tags or one value in every row. "
            f"Name the column that has the words: {flag} N. (Of a treebank with '_' for them, its README tells more.)"
        )


def _cells_of_columns(sentences: Sequence[Sequence[Sequence[str]]]) -> Iterator[set[str]]:
    """The different cells of each column that all sentences have."""
    for column in range(min((len(rows[0]) for rows in sentences if rows), default=0)):
        yield {row[column] for rows in sentences for row in rows}


def _count_on(sentences: Iterable[Sequence[str]]) -> bool:
    """Whether each value is the number after the one before, or begins to count at 0 or 1 with its sentence."""
    before = -1
    for sentence in sentences:
        numbers = [value for value in sentence if not _PART_OF_COUNT.fullmatch(value)]
        for place, value in enumerate(numbers):
            if not _NUMBER.fullmatch(value) or (int(value) != before + 1 and (place > 0 or int(value) > 1)):
                return False
            before = int(value)
    return True
