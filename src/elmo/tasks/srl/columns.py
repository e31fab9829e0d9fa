"""Files of columns -> sentences of columns: which columns are what, but not yet what their brackets mean.

    conll2012   12 columns and one per predicate: document, part, token number, word, part of speech, parse, predicate
                lemma, roleset, sense, speaker, named entity, the predicates' columns, coreference
    conll2005   word, predicate or "-", one column per predicate
    props       predicate or "-", one column per predicate: what srl-eval.pl reads; it has no words

Columns are separated by any white space. A blank line ends a sentence, lines that begin with "#" are comments (only in
conll2012, whose first column never does). The k-th predicate's column is the k-th one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from elmo.errors import TextError
from elmo.tasks.labelled_lines import labelled_lines

LayoutName = Literal["conll2012", "conll2005", "props"]

NOTHING = "-"
"""The mark of a token that is no predicate."""


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

_TOKEN_NUMBER, _PART_OF_SPEECH = 2, 4


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

    @property
    def words(self) -> list[str]:
        """The tokens; predicates and "-" in a props file."""
        return [row[self.layout.word] for row in self.rows]

    @property
    def parts_of_speech(self) -> list[str]:
        """Of each token; () if the layout has none."""
        return [row[_PART_OF_SPEECH] for row in self.rows] if self.layout.name == "conll2012" else []

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


def read_sentences_of_columns(
    path: Path | str, layout: LayoutName | Literal["auto"], encoding: str
) -> Iterator[ColumnSentence]:
    """The sentences of a file. "auto": the layout follows from the first sentence that has a predicate.

    Raises TextError with file and line for rows of a sentence with different numbers of columns, or too few of them.
    """
    blocks = list(_blocks(path, encoding, may_comment=layout in ("auto", "conll2012")))
    if not blocks:
        raise TextError(f"{path}: there is no sentence in it. Check the file, and that it isn't a list of files.")
    chosen = LAYOUTS[_detected([block.rows for block in blocks]) if layout == "auto" else layout]
    for block in blocks:
        sentence = ColumnSentence(chosen, block.rows, block.lines, str(path), block.comments)
        _check(sentence)
        yield sentence


def is_conll2012(line: str) -> bool:
    """Whether a line begins like a file of conll2012 columns."""
    row = line.split()
    return line.startswith("#begin document") or _is_conll2012(row)


class _Block(NamedTuple):
    rows: list[list[str]]
    lines: list[int]
    comments: list[str]


def _blocks(path: Path | str, encoding: str, *, may_comment: bool) -> Iterator[_Block]:
    block = _Block([], [], [])
    for number, line in enumerate(labelled_lines(path, encoding), start=1):
        if may_comment and line.startswith("#") and not block.rows:
            block.comments.append(line)
        elif line.strip():
            block.rows.append(line.split())
            block.lines.append(number)
        elif block.rows:
            yield block
            block = _Block([], [], [])
    if block.rows:
        yield block


def _detected(sentences: Sequence[Sequence[Sequence[str]]]) -> LayoutName:
    if _is_conll2012(sentences[0][0]):
        return "conll2012"
    for rows in sentences:
        fitting = [name for name in ("props", "conll2005") if _fits(rows, LAYOUTS[name])]
        if len(fitting) == 1:
            return fitting[0]
    return "props" if len(sentences[0][0]) == 1 else "conll2005"


def _fits(rows: Sequence[Sequence[str]], layout: Layout) -> bool:
    """Whether the sentence has predicates, and a column for each."""
    if min(map(len, rows)) <= layout.roles:
        return False
    return len(rows[0]) - layout.roles == sum(row[layout.predicate] != NOTHING for row in rows)


def _is_conll2012(row: Sequence[str]) -> bool:
    return len(row) >= LAYOUTS["conll2012"].roles + 1 and row[_TOKEN_NUMBER].isdecimal()


def _check(sentence: ColumnSentence) -> None:
    layout, count = sentence.layout, len(sentence.rows[0])
    for row, where in zip(sentence.rows, sentence.places, strict=True):
        if len(row) != count:
            raise TextError(
                f"{where}: has {len(row)} columns, but the first line of the sentence has {count}. Every line of a "
                "sentence needs one column for each of its predicates; a blank line ends the sentence. Fix the line."
            )
        if len(row) < layout.roles + layout.after:
            raise TextError(
                f"{where}: has {len(row)} columns, but the layout {layout.name} has {layout.roles + layout.after} and one "
                "more for each predicate. Fix the line, or choose another --layout."
            )
